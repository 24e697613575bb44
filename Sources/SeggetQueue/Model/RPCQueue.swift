/// A queue that reports all that clients of aria2 request.
package protocol RPCQueue: QueueFeed {
    /// Returns the existing ones of some tasks, with their secrets that are known.
    func whole(_ ids: [QueueTask.ID]) async throws(QueueError) -> [QueueTask]
    /// Returns the ranges of a task's file that are on the disk, in ascending order; the task has
    /// its secrets.
    func segments(of task: QueueTask) async throws(QueueError) -> [TaskDetail.Segment]
    /// Returns how far the queue is; its running tasks are without their places in the order.
    func view() async throws(QueueError) -> QueueView
    /// Returns a stream of all later events.
    func events() async -> AsyncStream<QueueEvent>
}

extension RPCQueue {
    /// Returns a task with its secrets that are known; `nil` if it does not exist.
    package func whole(_ id: QueueTask.ID) async throws(QueueError) -> QueueTask? {
        try await whole([id]).first
    }
}
