/// A queue that tells all that other managers' clients ask for.
package protocol RPCQueue: QueueFeed {
    /// Tasks with their secrets, as far as there are any; those that there are.
    func whole(_ ids: [QueueTask.ID]) async throws(QueueError) -> [QueueTask]
    /// What of the file of a task, with its secrets, is on the disk, in ascending order.
    func segments(of task: QueueTask) async throws(QueueError) -> [TaskDetail.Segment]
    /// Returns how far the queue is; its running tasks are without their places in the order.
    func view() async throws(QueueError) -> QueueView
    /// What happens from now on.
    func events() async -> AsyncStream<QueueEvent>
}

extension RPCQueue {
    /// A task with its secrets, as far as there are any; `nil` where there is none.
    package func whole(_ id: QueueTask.ID) async throws(QueueError) -> QueueTask? {
        try await whole([id]).first
    }
}
