import Segmenter

/// A queue that says which of its tasks are to be looked at again.
package protocol QueueFeed: QueueDoor {
    /// Begins to note which tasks change.
    ///
    /// - Parameter bell: Called when there is something to be told, and not again before that was
    ///   asked for with ``changes(_:)``; on any thread.
    /// - Returns: The number by which the observer is known.
    func observe(_ bell: @escaping @Sendable () -> Void) async -> UInt64
    /// Notes nothing any more.
    func stopObserving(_ number: UInt64) async
    /// Returns what has changed since an observer last asked, or began.
    ///
    /// - Parameter number: The number of the observer.
    /// - Returns: The tasks whose records may have been added, changed or removed, `nil` when they
    ///   are too many to be named; and how far the queue is, whose running tasks are without their
    ///   places in the order.
    /// - Throws: `QueueError`.
    func changes(
        _ number: UInt64
    ) async throws(QueueError) -> (touched: Set<QueueTask.ID>?, view: QueueView)
    /// Tells of some tasks, as far as there are any and a filter lets them pass; without their
    /// places in the order.
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
