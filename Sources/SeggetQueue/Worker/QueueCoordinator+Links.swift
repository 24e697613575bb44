import Segmenter

extension QueueCoordinator {
    /// The whole links of the tasks that a filter lets pass, those in the order first.
    ///
    /// - Throws: `QueueError`.
    func links(_ filter: TaskFilter) throws(QueueError) -> [TaskLinks] {
        var ids: [QueueTask.ID] = []
        try store.look(at: filter) { ids.append($0.id) }
        let clients = try store.tasksOfClients()
        let tasks = Dictionary(try whole(ids).map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        return ids.compactMap { id in
            tasks[id].map { TaskLinks($0, isOfClient: clients.contains(id)) }
        }
    }
}
