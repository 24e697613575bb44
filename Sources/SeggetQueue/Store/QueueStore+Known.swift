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
