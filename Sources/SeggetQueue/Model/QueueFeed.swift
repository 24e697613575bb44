import Segmenter

/// A queue that reports which of its tasks have changed.
package protocol QueueFeed: QueueDoor {
    /// Starts to note which tasks change.
    ///
    /// - Parameter bell: Called when there is something to be told, and not again before that was
    ///   asked for with ``changes(_:)``; on any thread.
    /// - Returns: The number by which the observer is known.
    func observe(_ bell: @escaping @Sendable () -> Void) async -> UInt64
    /// Ends the notes for an observer.
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
    /// Returns the reports of those of the tasks that exist and match a filter, without their
    /// places in the order.
    func reports(
        of ids: Set<QueueTask.ID>, _ filter: TaskFilter
    ) async throws(QueueError) -> [TaskReport]
    /// Returns the ids of the tasks that match a filter.
    func ids(_ filter: TaskFilter) async throws(QueueError) -> Set<QueueTask.ID>
    /// Returns a part of the tasks that match a filter.
    func page(
        _ filter: TaskFilter, _ window: TaskWindow
    ) async throws(QueueError) -> TaskPage
    /// Returns the speed of all tasks in the last minutes.
    func speedHistory() async -> SpeedReport
    /// Returns the number of tasks with each tag.
    func tags() async throws(QueueError) -> [String: Int]
}
