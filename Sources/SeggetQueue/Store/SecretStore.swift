import Foundation
internal import GRDB
import Segmenter

/// The database of what is secret, by task and version.
///
/// A record says which version is its own. So a change is written here first, as another version, and holds from the
/// moment at which the record says so; what no record names is left over, and goes.
final class SecretStore {
    /// Which secrets.
    struct Key: Hashable {
        var task: String
        var version: Int64
    }

    private let file: StoreFile

    /// Opens the database, or makes it.
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

    /// Reads secrets; `nil` where there are none.
    func read(_ key: Key) throws(QueueError) -> TaskSecrets? {
        try attempt { db in
            let statement = try db.cachedStatement(
                sql: "SELECT json FROM secrets WHERE task = ? AND version = ?")
            let json = try String.fetchOne(statement, arguments: [key.task, key.version])
            return try json.map { try JSONDecoder().decode(TaskSecrets.self, from: Data($0.utf8)) }
        }
    }

    /// What there are secrets of.
    func keys() throws(QueueError) -> [Key] {
        try attempt { db in
            try Row.fetchAll(db, sql: "SELECT task, version FROM secrets").map { row in
                var reader = ColumnReader(row)
                return Key(task: try reader.text(), version: try reader.integer())
            }
        }
    }

    /// Removes secrets, from the log too.
    func remove(_ keys: some Collection<Key>) throws(QueueError) {
        guard !keys.isEmpty else { return }
        try attempt { db in
            try db.inTransaction(.immediate) {
                let statement = try db.cachedStatement(
                    sql: "DELETE FROM secrets WHERE task = ? AND version = ?")
                for key in keys { try statement.execute(arguments: [key.task, key.version]) }
                return .commit
            }
            // Their bytes are overwritten in the database (`PRAGMA secure_delete`); the log has earlier ones.
            try db.checkpoint(.truncate)
        }
    }

    /// Looks for damage.
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
    /// What `PRAGMA quick_check` finds; empty when all is well.
    func damage() throws -> [String] {
        let findings = try String.fetchAll(self, sql: "PRAGMA quick_check")
        return findings == ["ok"] ? [] : findings
    }
}
