import SeggetQueue
import SeggetReports
import Segmenter

/// What is said of a task that somebody follows, as it changes.
///
/// Pure.
struct FollowedTask {
    /// What segget ends with for it; `nil` as long as it has not ended.
    private(set) var end: ExitStatus?
    /// Its name, for people.
    private(set) var name: String
    private let id: QueueTask.ID
    private let isVerbose: Bool
    private let isAlone: Bool
    /// Whether it was fetched since it is followed.
    private var hasRun = false
    private var last: TaskDetail?
    private var lastEvent: TaskEvent?
    /// Bytes that were there when it was first seen.
    private var earlierBytes: Int64?
    private var standing = Standing()

    /// How it stands, as far as that is said.
    private struct Standing: Equatable {
        var text: String?
        /// When it began, in seconds on any clock.
        var since = 0.0
        var isSaid = false
        /// Whether it is said at once, or only when it lasts.
        var isUrgent = false
    }

    /// Time that a task waits for a slot before that is said, in seconds.
    static let patience = 1.0

    /// Begins to follow a task.
    ///
    /// - Parameters:
    ///   - id: Which one.
    ///   - isVerbose: Whether retries, refused replies and the like are said, too.
    ///   - isNew: Whether what has happened to it up to now is said.
    ///   - isAlone: Whether it is the only one that is followed: then it is said that it waits for a slot, too.
    init(_ id: QueueTask.ID, isVerbose: Bool, isNew: Bool, isAlone: Bool) {
        (self.id, self.isVerbose, self.isAlone) = (id, isVerbose, isAlone)
        name = id.description
        if isNew { lastEvent = .earliest }
    }

    /// Takes how the task is.
    ///
    /// - Parameters:
    ///   - detail: All that is known of it; `nil` when it is gone.
    ///   - now: The time, in seconds since 1970.
    ///   - isWorked: Whether somebody works the queue.
    /// - Returns: What is to be said, in order.
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

    /// How far it is, once it was fetched.
    ///
    /// - Parameter elapsed: Time since it is followed.
    /// - Returns: A moment as `segget get` shows it.
    func progress(elapsed: Duration) -> DownloadProgress? {
        guard end == nil, hasRun, let last else { return nil }
        let task = last.task
        let phase: DownloadProgress.Phase =
            switch task.state {
            case "running": .downloading
            case "verifying": .verifying
            default: .waitingForNetwork
            }
        return DownloadProgress(
            phase: phase, bytesDone: task.bytesDone, size: task.size,
            bytesReceived: max(0, task.bytesDone - (earlierBytes ?? 0)),
            bytesPerSecond: task.bytesPerSecond ?? 0, connections: task.connections ?? 0,
            map: last.map, elapsed: elapsed)
    }

    /// The events that are to be said.
    private mutating func news(_ detail: TaskDetail) -> [TaskEvent] {
        defer { lastEvent = detail.events.last ?? lastEvent ?? .earliest }
        guard let lastEvent else { return [] }
        let next = detail.events.lastIndex(of: lastEvent).map { $0 + 1 }
        return detail.events[(next ?? 0)...].filter { event in
            let isNew = next != nil || event.time > lastEvent.time
            // Ends are said otherwise.
            let isEnd =
                ["completed", "skipped", "stopped"].contains(event.event)
                || event.message == detail.task.error?.message
            return isNew && !isEnd && (isVerbose || !DownloadNotice.details.contains(event.event))
        }
    }

    /// Says how a task stands that has not ended, where that is more than what the progress shows.
    private mutating func stand(
        _ task: TaskReport, _ now: Double, _ isWorked: Bool
    ) -> [Message] {
        var next = Standing(since: now)
        if task.state == "paused" {
            (next.text, next.isUrgent) = (TaskText.sentence(task, now: now), true)
        } else {
            switch task.state {
            case "retrying":
                // The time that is left is none of it.
                next.text = task.error?.message
                next.isUrgent = true
            case "waiting" where isWorked && (isAlone || task.pauseReason != nil):
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
        let isRetry = task.state == "retrying"
        return [Message(.note, isRetry ? TaskNews(task, now: now).text ?? text : stating(text))]
    }

    /// A state in words; where others are followed, too, the file is named in front of it.
    private func stating(_ text: String) -> String { isAlone ? "task \(id) is \(text)" : text }

    /// Says how a task has ended.
    private mutating func finish(_ task: TaskReport) -> [Message] {
        switch task.state {
        case "completed":
            end = .done
            return [Message(.none, summary(task))]
        case "failed":
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

    /// What came, how fast, and what is proven.
    private func summary(_ task: TaskReport) -> String {
        let size = task.size ?? task.bytesDone
        var text = "\(Diagnostic.quote(task.path ?? name)): \(Units.size(size))"
        guard task.skipped != true else {
            return text + ", skipped: the file exists, and was not checked"
        }
        if let started = task.started, let finished = task.finished, finished > started {
            let speed = Double(size) / (finished - started)
            text += " in \(Units.elapsed(finished - started)), \(Units.speed(speed))"
        }
        return text
            + (task.digests.isEmpty
                ? "; only the size is verified: no digest was available"
                : "; verified \(task.digests.joined(separator: ", "))")
            + (task.html == true ? "; \(Summary.pageWarning)" : "")
    }
}

extension TaskEvent {
    /// What comes before all others.
    fileprivate static let earliest = TaskEvent(time: -.infinity, event: "", message: "")
}
