import Segmenter

/// A queue that says which of its tasks are to be looked at again.
package protocol QueueFeed: QueueDoor {
    /// Begins to note which tasks change.
    ///
    /// - Parameter bell: Called when there is something to be told, and not again before that was asked for with
    ///   ``pulse(_:)``; on any thread.
    /// - Returns: The number by which the observer is known.
    func observe(_ bell: @escaping @Sendable () -> Void) async -> UInt64
    /// Notes nothing any more.
    func stopObserving(_ number: UInt64) async
    /// What has changed since an observer last asked, or began.
    func pulse(_ number: UInt64) async throws(QueueError) -> QueuePulse
    /// Tells of some tasks, as far as there are any and a filter lets them pass; without their places in the order.
    func reports(
        of ids: Set<QueueTask.ID>, _ filter: TaskFilter
    ) async throws(QueueError) -> [TaskReport]
    /// The tasks that a filter lets pass.
    func ids(_ filter: TaskFilter) async throws(QueueError) -> Set<QueueTask.ID>
    /// Tells of the part of the tasks that a window shows.
    func page(
        _ filter: TaskFilter, _ window: TaskWindow
    ) async throws(QueueError) -> TaskPage
    /// How fast all tasks were in the last minutes.
    func speedHistory() async -> SpeedReport
    /// How many tasks have each tag.
    func tags() async throws(QueueError) -> [String: Int]
}

/// What has changed in a queue, and what is changing.
package struct QueuePulse: Sendable, Hashable {
    /// The tasks whose records may have been added, changed or removed; `nil` when they are too many to be named.
    package var touched: Set<QueueTask.ID>?
    /// The tasks that are being fetched.
    package var running: [TaskReport]
    /// How many tasks there are in each state, as in a report.
    package var counts: [String: Int]
    /// How many have ended that nobody was told of, as in a report.
    package var unseen: [String: Int]

    /// Makes a pulse.
    package init(
        touched: Set<QueueTask.ID>?, running: [TaskReport], counts: [String: Int],
        unseen: [String: Int]
    ) {
        (self.touched, self.running, self.counts, self.unseen) = (touched, running, counts, unseen)
    }
}
