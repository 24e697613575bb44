/// How far a queue is at a moment: the totals of all its tasks, and the tasks that are being
/// downloaded.
///
/// All that a queue reports as a whole is made from it: lists, the API, events, metrics, aria2's
/// statistics and the page.
public struct QueueView: Sendable, Hashable {
    /// The tasks that are being downloaded, in queue order.
    public var running: [TaskReport]
    /// The number of tasks in each state; states without tasks are left out.
    public var counts: [TaskStatus.Word: Int]
    /// The numbers of unseen results: completed, failed.
    public var unseen: [TaskStatus.Word: Int]
    /// Speed of all tasks together over the last five seconds, in bytes per second.
    public var bytesPerSecond: Double
    /// Bytes on the disk, of the tasks that are neither cancelled nor failed.
    public var bytesDone: Int64
    /// The known sizes of these tasks together, in bytes.
    public var size: Int64
    /// Bytes received from servers since the queue was opened.
    public var bytesReceived: Int64
    /// The reason why no task runs, as text, while a rule of the settings pauses the queue.
    public var pauseReason: String?

    /// Creates a view, by default the one of an empty queue.
    public init(
        running: [TaskReport] = [], counts: [TaskStatus.Word: Int] = [:],
        unseen: [TaskStatus.Word: Int] = [:],
        bytesPerSecond: Double = 0, bytesDone: Int64 = 0, size: Int64 = 0,
        bytesReceived: Int64 = 0, pauseReason: String? = nil
    ) {
        (self.running, self.counts, self.unseen) = (running, counts, unseen)
        (self.bytesPerSecond, self.bytesDone, self.size) = (bytesPerSecond, bytesDone, size)
        (self.bytesReceived, self.pauseReason) = (bytesReceived, pauseReason)
    }

    /// Seconds to go at the present speed, for the tasks of known size; `nil` if the speed is 0.
    public var secondsLeft: Double? {
        guard bytesPerSecond > 0 else { return nil }
        return Double(max(0, size - bytesDone)) / bytesPerSecond
    }

    /// Adds a task that is being downloaded, whose record the totals contain already.
    ///
    /// - Parameters:
    ///   - report: The report of the task, with its progress.
    ///   - task: The record.
    mutating func add(_ report: TaskReport, recorded task: QueueTask) {
        running.append(report)
        bytesPerSecond += report.bytesPerSecond ?? 0
        bytesDone += report.bytesDone - task.bytesDone
        // Servers may state any size.
        let sum = size.addingReportingOverflow((report.size ?? 0) - (task.size ?? 0))
        size = sum.overflow ? .max : sum.partialValue
    }

    /// Returns the totals that a list of some of the tasks shows: its speed is that of these tasks.
    package func totals(of tasks: [TaskReport]) -> QueueView {
        QueueView(
            counts: counts, unseen: unseen,
            bytesPerSecond: tasks.reduce(0) { $0 + ($1.bytesPerSecond ?? 0) },
            pauseReason: pauseReason)
    }
}

/// Something that has happened in a queue.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum QueueEvent: Sendable, Hashable {
    /// A task has a new state, or was added.
    case changed(TaskReport)
    /// Something happened to a task that is being downloaded.
    case notice(QueueTask.ID, TaskEvent)
    /// A task was removed.
    case removed(QueueTask.ID)
}
