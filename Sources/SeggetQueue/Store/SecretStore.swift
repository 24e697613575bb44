import Foundation
internal import GRDB
import Segmenter

/// The database of secrets, by task and version.
///
/// Each record names its version. A change is first written here as a new version, and becomes
/// valid when the record names it; versions that no record names are removed.
final class SecretStore {
    /// The key of secrets.
    struct Key: Hashable {
        var task: String
        var version: Int64
    }

    private let file: StoreFile

    /// Opens the database, or creates it.
    ///
    /// - Throws: `QueueError`.
    init(_ files: QueueFiles, mode: StoreMode) throws(QueueError) {
        file = try StoreFile(files.secrets, mode: mode, schema: .secrets)
    }

    /// Stores secrets.
    func write(_ secrets: [(key: Key, secrets: TaskSecrets)]) throws(QueueError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try attempt { db in
            try db.inTransaction(.immediate) {
                let statement = try db.cachedStatement(
                    sql: "INSERT OR REPLACE INTO secrets (task, version, json) VALUES (?, ?, ?)")
                for (key, secrets) in secrets {
                    let json = String(decoding: try encoder.encode(secrets), as: UTF8.self)
                    try statement.execute(arguments: [key.task, key.version, json])
                }
                return .commit
            }
        }
    }

    /// Returns secrets; `nil` if there are none.
    func read(_ key: Key) throws(QueueError) -> TaskSecrets? {
        try attempt { db in
            let statement = try db.cachedStatement(
                sql: "SELECT json FROM secrets WHERE task = ? AND version = ?")
            let json = try String.fetchOne(statement, arguments: [key.task, key.version])
            return try json.map { try JSONDecoder().decode(TaskSecrets.self, from: Data($0.utf8)) }
        }
    }

    /// Returns the keys of all secrets.
    func keys() throws(QueueError) -> [Key] {
        try attempt { db in
            try Row.fetchAll(db, sql: "SELECT task, version FROM secrets").map { row in
                var reader = ColumnReader(row)
                return Key(task: try reader.text(), version: try reader.integer())
            }
        }
    }

    /// Removes secrets, also from the log.
    func remove(_ keys: some Collection<Key>) throws(QueueError) {
        guard !keys.isEmpty else { return }
        try attempt { db in
            try db.inTransaction(.immediate) {
                let statement = try db.cachedStatement(
                    sql: "DELETE FROM secrets WHERE task = ? AND version = ?")
                for key in keys { try statement.execute(arguments: [key.task, key.version]) }
                return .commit
            }
            // SQLite overwrites their bytes in the database (`PRAGMA secure_delete`), but not in
            // the log.
            try db.checkpoint(.truncate)
        }
    }

    /// Returns the damage that SQLite finds.
    func check() throws(QueueError) -> [String] { try attempt { db in try db.damage() } }

    private func attempt<Value>(_ body: (Database) throws -> Value) throws(QueueError) -> Value {
        do {
            return try file.queue.writeWithoutTransaction(body)
        } catch {
            throw QueueError(error, file.path)
        }
    }
}

extension Database {
    /// Returns the findings of `PRAGMA quick_check`; empty if there are none.
    func damage() throws -> [String] {
        let findings = try String.fetchAll(self, sql: "PRAGMA quick_check")
        return findings == ["ok"] ? [] : findings
    }
}
