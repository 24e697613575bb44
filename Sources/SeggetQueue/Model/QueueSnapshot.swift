/// How far a queue is at a moment.
public struct QueueSnapshot: Sendable, Hashable {
    /// The tasks that are being fetched, in their order.
    public var running: [TaskReport]
    /// How many tasks there are in each state, by ``TaskStatus/word``.
    public var counts: [String: Int]
    /// Speed of all tasks together over the last five seconds, in bytes per second.
    public var bytesPerSecond: Double
    /// Bytes that are on the disk, of the tasks that are neither cancelled nor failed.
    public var bytesDone: Int64
    /// Their sizes together, in bytes, as far as these are known.
    public var size: Int64
    /// Bytes that have come from servers since the queue was opened.
    public var bytesReceived: Int64
    /// Why no task runs, as text, while a rule of the settings pauses the queue.
    public var pauseReason: String?

    /// Seconds to go at the present speed, for the tasks whose size is known; `nil` when that cannot be said.
    public var secondsLeft: Double? {
        guard bytesPerSecond > 0 else { return nil }
        return Double(max(0, size - bytesDone)) / bytesPerSecond
    }
}

/// Something that has happened in a queue.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum QueueEvent: Sendable, Hashable {
    /// A task has another state now, or was added.
    case changed(TaskReport)
    /// Something happened to a task that is being fetched.
    case notice(QueueTask.ID, TaskEvent)
    /// A task was removed.
    case removed(QueueTask.ID)
}
