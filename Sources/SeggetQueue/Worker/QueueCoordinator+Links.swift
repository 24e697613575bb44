import Segmenter

extension QueueCoordinator {
    /// Returns the whole links of the tasks that match a filter, in queue order.
    ///
    /// - Throws: `QueueError`.
    func links(_ filter: TaskFilter) throws(QueueError) -> [TaskLinks] {
        let ids = try store.orderedIDs(filter)
        let clients = try store.tasksOfClients()
        let tasks = Dictionary(try whole(ids).map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        return ids.compactMap { id in
            tasks[id].map { TaskLinks($0, isOfClient: clients.contains(id)) }
        }
    }
}
