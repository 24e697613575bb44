internal import GRDB
import Segmenter

extension QueueStore {
    /// Finds the tasks of a URL.
    ///
    /// Users, passwords and queries that are not in the records are not compared.
    ///
    /// - Parameters:
    ///   - url: The URL as it was added.
    ///   - folder: The path of the folder of their files; `nil` for any.
    /// - Returns: Their records, as ``find(_:)`` orders them.
    /// - Throws: `QueueError`.
    package func known(
        url: String, folder: String? = nil
    ) throws(QueueError) -> [QueueTask] {
        try findFew(
            TaskCondition(
                sql: """
                    (tasks.url = ? OR tasks.url = ? AND secret_parts & ?) AND file_set IS NULL
                        AND (? IS NULL OR \(Self.folderPath) = ?)
                    """,
                arguments: [
                    WebAddress.withoutSecrets(url),
                    WebAddress.withoutSecrets(url, keepsQuery: false),
                    QueueTask.SecretParts.query.rawValue, folder, folder,
                ]))
    }

    /// Finds the tasks that download a data set into a folder.
    ///
    /// - Parameters:
    ///   - set: The name of the set.
    ///   - url: The URL of such a task.
    ///   - folder: The path of the folder.
    /// - Returns: Their records, as ``find(_:)`` orders them.
    /// - Throws: `QueueError`.
    func known(set: String, url: String, folder: String) throws(QueueError) -> [QueueTask] {
        try findFew(
            TaskCondition(
                sql: """
                    tasks.url = ? AND file_set IS NOT NULL AND \(Self.folderPath) = ?
                        AND json_extract(file_set, '$.name') = ?
                    """, arguments: [url, folder, set]))
    }

    /// Returns the tasks that download data sets.
    ///
    /// - Throws: `QueueError`.
    func sets() throws(QueueError) -> Set<QueueTask.ID> {
        try read { db in
            let found = try Row.fetchAll(db, sql: "SELECT id FROM tasks WHERE file_set IS NOT NULL")
            return try Set(
                found.map { row in
                    var reader = ColumnReader(row)
                    return try reader.id()
                })
        }
    }
}
