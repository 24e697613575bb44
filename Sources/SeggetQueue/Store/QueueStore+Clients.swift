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
