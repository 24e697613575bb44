import SeggetQueue
import SeggetReports
import Segmenter

/// Describes tasks in words.
enum TaskText {
    /// Returns the word for a task's state; for a completed task without its file, the file's
    /// state.
    static func word(_ task: TaskReport, now: Double) -> String {
        switch task.state {
        case .retrying:
            let seconds = max(0, (task.retryAt ?? now) - now)
            return short(seconds).map { "retrying \($0)" } ?? "retrying"
        case .completed where task.file != "there": return task.file ?? task.state.text
        default: return task.state.text
        }
    }

    /// Returns a time of at most three characters: `57s`, `12m`, `3h`, `2d`; `nil` from 100 days
    /// on.
    private static func short(_ seconds: Double) -> String? {
        switch Int64(min(seconds.rounded(), 1e9)) {
        case let total where total < 60: "\(total)s"
        case let total where total < 3600: "\(total / 60)m"
        case let total where total < 86_400: "\(total / 3600)h"
        case let total where total < 8_640_000: "\(total / 86_400)d"
        default: nil
        }
    }

    /// Returns the reason why a task failed or is retried; `nil` in other states.
    ///
    /// It is the text of the error after the URL, because the row already has the file's name.
    static func reason(_ task: TaskReport) -> String? {
        guard [.failed, .retrying].contains(task.state), let message = task.error?.message
        else { return nil }
        guard let start = message.firstRange(of: "`http"),
            let end = message[start.upperBound...].firstIndex(of: "`"),
            let colon = message[end...].firstRange(of: ": ")
        else { return message }
        let reason = message[colon.upperBound...]
        return reason.isEmpty ? message : String(reason)
    }

    /// Returns a description of the state, with its reason.
    static func sentence(_ task: TaskReport, now: Double) -> String {
        switch task.state {
        case .paused: return "paused: `segget resume` starts it"
        case .waiting:
            return task.pauseReason.map { "waiting: the queue is paused: \($0)" }
                ?? "waiting for a slot"
        case .retrying:
            let seconds = max(0, (task.retryAt ?? now) - now)
            return "retrying in \(Units.duration(.seconds(seconds)) ?? "some days")"
        case .waitingForNetwork:
            let since = task.waitingSince.map { " since \(Units.clock(Int64($0)))" } ?? ""
            return "waiting for network\(since)"
        case .completed:
            switch task.file {
            case "missing": return "completed; its file is missing"
            case "changed": return "completed; its file was changed or replaced since"
            case _ where task.html == true: return "completed; \(Summary.pageWarning)"
            default:
                return task.skipped == true ? Summary.skipped : "completed and verified"
            }
        default: return task.state.text
        }
    }

    /// Returns the colour of a state (SGR); `nil` for none.
    static func colour(_ task: TaskReport) -> String? {
        switch task.state {
        case .running, .verifying: return "36"
        case .completed: return task.file == "there" ? "32" : "33"
        case .failed: return "31"
        case .retrying, .waitingForNetwork, .paused: return "33"
        case .cancelled: return "2"
        default: return nil
        }
    }

    /// Returns the name of the file; before it is known, the last component of the URL.
    ///
    /// A data set has the name of its folder.
    static func name(_ task: TaskReport) -> String {
        func parts(_ text: String) -> [Substring.UTF8View] {
            text.utf8.split(separator: UInt8(ascii: "/"))
        }
        if task.files != nil {
            return (parts(task.folder).last.map { String(Substring($0)) } ?? "") + "/"
        }
        let name = task.path.flatMap { parts($0).last } ?? parts(task.url).dropFirst(2).last
        return name.map { String(Substring($0)) } ?? task.url
    }
}

extension TaskText {
    /// Returns how many files of a data set are complete, and how many failed; `nil` for one file.
    static func files(_ task: TaskReport) -> String? {
        guard let files = task.files else { return nil }
        let failed = task.filesFailed.flatMap { $0 > 0 ? ", \($0) failed" : nil } ?? ""
        return "\(task.filesDone ?? 0)/\(Units.count(Int64(files), "file"))\(failed)"
    }
}

extension TaskReport {
    /// Whether the task is completed, failed or cancelled.
    var isEnded: Bool { state.isEnded }
    /// Whether the task downloads, verifies, or waits for the network.
    var isFetched: Bool { TaskStatus.Word.downloading.contains(state) }
    /// Whether the task continues as soon as a worker starts.
    var waitsForWorker: Bool { !isEnded && wanted == .run }
}
