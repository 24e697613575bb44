internal import GRDB
import Segmenter

// The tasks that clients over TCP have added: clients with only the secret see no other links.
extension QueueStore {
    /// Records whether a client has given the URLs of a task.
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

    /// Returns the tasks that clients have added.
    ///
    /// - Throws: `QueueError`.
    func tasksOfClients() throws(QueueError) -> Set<QueueTask.ID> {
        try read { db in
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
