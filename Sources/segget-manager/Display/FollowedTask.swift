import SeggetQueue
import SeggetReports
import Segmenter

/// Derives the messages about a followed task from its changes.
///
/// Pure.
struct FollowedTask {
    /// The exit code for the task; `nil` until it has ended.
    private(set) var end: ExitStatus?
    /// The task's name, for people.
    private(set) var name: String
    private let id: QueueTask.ID
    private let isVerbose: Bool
    private let isAlone: Bool
    /// Whether the task was active since it is followed.
    private var hasRun = false
    private var last: TaskDetail?
    private var lastEvent: TaskEvent?
    /// The bytes that were already received when the task was first seen.
    private var earlierBytes: Int64?
    private var standing = Standing()

    /// A reportable state of the task, such as paused.
    private struct Standing: Equatable {
        var text: String?
        /// The start of the state, in seconds since 1970.
        var since = 0.0
        var isSaid = false
        /// Whether to report the state immediately instead of after ``patience``.
        var isUrgent = false
    }

    /// The time that a task waits for a slot before that is reported, in seconds.
    static let patience = 1.0

    /// Starts to follow a task.
    ///
    /// - Parameters:
    ///   - id: The task.
    ///   - isVerbose: Whether to report details such as retries and refused responses.
    ///   - isNew: Whether to report the events before the first call of ``take(_:now:isWorked:)``.
    ///   - isAlone: Whether it is the only followed task; only then is waiting for a slot reported.
    init(_ id: QueueTask.ID, isVerbose: Bool, isNew: Bool, isAlone: Bool) {
        (self.id, self.isVerbose, self.isAlone) = (id, isVerbose, isAlone)
        name = id.description
        if isNew { lastEvent = .earliest }
    }

    /// Records the state of the task.
    ///
    /// - Parameters:
    ///   - detail: The details of the task; `nil` if it was removed.
    ///   - now: The time, in seconds since 1970.
    ///   - isWorked: Whether the queue has a worker.
    /// - Returns: The messages to print, in order.
    mutating func take(_ detail: TaskDetail?, now: Double, isWorked: Bool) -> [Message] {
        guard end == nil else { return [] }
        guard let detail else {
            end = .stopped
            return [
                Message(.error, "task \(id) was removed from the queue"),
                Message(.hint, "`segget add` adds its URL again"),
            ]
        }
        let task = detail.task
        name = TaskText.name(task)
        last = detail
        earlierBytes = earlierBytes ?? task.bytesDone
        hasRun = hasRun || task.isFetched
        let events = news(detail).map { Message(.note, $0.message) }
        guard task.isEnded else { return events + stand(task, now, isWorked) }
        return events + finish(task)
    }

    /// Returns the progress in the form of `segget get`; `nil` before the task is active or after
    /// its end.
    ///
    /// - Parameter elapsed: The time since the task is followed.
    /// - Returns: The progress.
    func progress(elapsed: Duration) -> DownloadProgress? {
        guard end == nil, hasRun, let last else { return nil }
        let task = last.task
        let phase: DownloadProgress.Phase =
            switch task.state {
            case .running: .downloading
            case .verifying: .verifying
            default: .waitingForNetwork
            }
        return DownloadProgress(
            phase: phase, bytesDone: task.bytesDone, size: task.size,
            bytesReceived: max(0, task.bytesDone - (earlierBytes ?? 0)),
            bytesPerSecond: task.bytesPerSecond ?? 0, connections: task.connections ?? 0,
            map: last.map, elapsed: elapsed)
    }

    /// Returns the new events that are reported.
    private mutating func news(_ detail: TaskDetail) -> [TaskEvent] {
        defer { lastEvent = detail.events.last ?? lastEvent ?? .earliest }
        guard let lastEvent else { return [] }
        let next = detail.events.lastIndex(of: lastEvent).map { $0 + 1 }
        return detail.events[(next ?? 0)...].filter { event in
            let isNew = next != nil || event.time > lastEvent.time
            // Other messages report the result.
            let isEnd =
                [TaskStatus.Word.completed.rawValue, "skipped", "stopped"].contains(event.event)
                || event.message == detail.task.error?.message
            return isNew && !isEnd && (isVerbose || !DownloadNotice.details.contains(event.event))
        }
    }

    /// Returns a message about the state of an unfinished task, if the progress does not show it.
    private mutating func stand(
        _ task: TaskReport, _ now: Double, _ isWorked: Bool
    ) -> [Message] {
        var next = Standing(since: now)
        if task.state == .paused {
            (next.text, next.isUrgent) = (TaskText.sentence(task, now: now), true)
        } else {
            switch task.state {
            case .retrying:
                // Without the remaining seconds, which change constantly.
                next.text = task.error?.message
                next.isUrgent = true
            case .waiting where isWorked && (isAlone || task.pauseReason != nil):
                next.text = TaskText.sentence(task, now: now)
            default: next.text = nil
            }
        }
        if next.text == standing.text, next.isUrgent == standing.isUrgent {
            next = standing
        } else if next.text == nil, standing.isSaid {
            standing = next
            return [Message(.note, stating(TaskText.sentence(task, now: now)))]
        }
        defer { standing = next }
        guard let text = next.text, !next.isSaid,
            next.isUrgent || now - next.since >= Self.patience
        else { return [] }
        next.isSaid = true
        let isRetry = task.state == .retrying
        return [Message(.note, isRetry ? TaskNews(task, now: now).text ?? text : stating(text))]
    }

    /// Returns the text of a state, with the task's id if no other task is followed.
    private func stating(_ text: String) -> String { isAlone ? "task \(id) is \(text)" : text }

    /// Returns the messages about the result of a task.
    private mutating func finish(_ task: TaskReport) -> [Message] {
        switch task.state {
        case .completed:
            end = .done
            return [Message(.none, summary(task))]
        case .failed:
            end = task.error.flatMap { ExitStatus(rawValue: $0.code) } ?? .unavailable
            let error = Message(.error, task.error?.message ?? "task \(id) has failed")
            return [error] + (task.error.map { [Message(.hint, $0.queueHint(task.id))] } ?? [])
        default:
            end = .stopped
            return [
                Message(.error, "task \(id) was cancelled"),
                Message(.hint, "`segget resume \(id)` starts it over"),
            ]
        }
    }

    /// Returns the size, the speed, and the verified digests.
    private func summary(_ task: TaskReport) -> String {
        let size = task.size ?? task.bytesDone
        let path = task.files == nil ? task.path ?? name : task.folder
        var text = "\(Diagnostic.quote(path)): \(Units.size(size))"
        guard task.skipped != true else { return text + ", \(Summary.skipped)" }
        if let started = task.started, let finished = task.finished, finished > started {
            let speed = Double(size) / (finished - started)
            text += " in \(Units.elapsed(finished - started)), \(Units.speed(speed))"
        }
        if let files = TaskText.files(task) { return "\(text); \(files) complete and verified" }
        return text
            + (task.digests.isEmpty
                ? "; only the size is verified: no digest was available"
                : "; verified \(task.digests.joined(separator: ", "))")
            + (task.html == true ? "; \(Summary.pageWarning)" : "")
    }
}

extension TaskEvent {
    /// An event that is before all others.
    fileprivate static let earliest = TaskEvent(time: -.infinity, event: "", message: "")
}
