internal import GRDB
import Segmenter

extension QueueStore {
    /// Finds the tasks of a URL.
    ///
    /// What is kept elsewhere is not compared: users and passwords, and queries that are not in the records.
    ///
    /// - Parameters:
    ///   - url: The URL as it was added.
    ///   - folder: Path of the folder that their files go to; `nil` for any.
    /// - Returns: Their records, as ``find(_:)`` orders them.
    /// - Throws: `QueueError`.
    package func known(
        url: String, folder: String? = nil
    ) throws(QueueError) -> [QueueTask] {
        try findFew(
            TaskCondition(
                sql: """
                    (tasks.url = ? OR tasks.url = ? AND secret_parts & ?)
                        AND (? IS NULL OR \(Self.folderPath) = ?)
                    """,
                arguments: [
                    WebAddress.withoutSecrets(url),
                    WebAddress.withoutSecrets(url, keepsQuery: false),
                    QueueTask.SecretParts.query.rawValue, folder, folder,
                ]))
    }
}
