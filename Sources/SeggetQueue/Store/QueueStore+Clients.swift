internal import GRDB
import Segmenter

// Which tasks clients over TCP have added: with the secret alone, they see the links of no others.
extension QueueStore {
    /// Notes whether the URLs of a task are those that a client gave.
    ///
    /// - Throws: `QueueError`.
    func note(_ id: QueueTask.ID, isOfClient: Bool) throws(QueueError) {
        try write { db in
            try db.cachedStatement(
                sql: isOfClient
                    ? "INSERT OR IGNORE INTO client_tasks VALUES (?)"
                    : "DELETE FROM client_tasks WHERE task = ?"
            ).execute(arguments: [id.description])
        }
    }

    /// The tasks that clients have added.
    ///
    /// - Throws: `QueueError`.
    func tasksOfClients() throws(QueueError) -> Set<QueueTask.ID> {
        try read { db in
            // What is only read is not brought to a newer form.
            guard try db.tableExists("client_tasks") else { return [] }
            let found = try Row.fetchCursor(
                db.cachedStatement(sql: "SELECT task FROM client_tasks"))
            var ids: Set<QueueTask.ID> = []
            while let row = try found.next() {
                var reader = ColumnReader(row)
                ids.insert(try reader.id())
            }
            return ids
        }
    }
}

extension QueueDesk {
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
