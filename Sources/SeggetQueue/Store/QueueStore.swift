import SeggetReports
internal import GRDB
import Glibc

/// The records of a queue on the disk.
///
/// All calls wait for the disk, so they belong on a separate thread or executor; only one may use a
/// store at a time. Each call is a separate transaction, except within ``transaction(_:)``. Once a
/// call has returned, its changes survive a power failure.
package final class QueueStore {
    /// The files.
    package let files: QueueFiles
    /// The mode in which they were opened.
    package let mode: StoreMode

    let file: StoreFile
    var rows = TaskRow()
    private var openedSecrets: SecretStore?
    /// The present transaction.
    private var current: Database?
    /// The last result of ``view(isWorked:)``, and how much had been changed by then.
    var counted: (changes: Int, view: QueueView)?
    /// The tasks that were added, changed or removed since this was last taken; some of them by
    /// failed transactions.
    private var touched: Set<QueueTask.ID> = []
    /// Secrets that no record names once the transaction has succeeded.
    var outdatedSecrets: [SecretStore.Key] = []
    /// Secrets that no record names if the transaction fails.
    var draftedSecrets: [SecretStore.Key] = []

    /// Removed tasks, whose plans are removed once the transaction has succeeded.
    var outdatedPlans: [QueueTask.ID] = []
    /// The plans of tasks.
    var plans: PlanFolder { PlanFolder(files) }

    /// Opens a queue.
    ///
    /// - Parameters:
    ///   - files: Its files; with ``StoreMode/readWrite``, missing files and their folder are
    ///     created.
    ///   - mode: How to open it.
    /// - Throws: `QueueError`; then nothing has changed.
    package convenience init(_ files: QueueFiles, mode: StoreMode) throws(QueueError) {
        try self.init(files, mode: mode, schema: .queue)
    }

    init(
        _ files: QueueFiles, mode: StoreMode, schema: StoreSchema, patience: Double = 5
    ) throws(QueueError) {
        (self.files, self.mode) = (files, mode)
        if mode == .readWrite { try files.makeFolder() }
        file = try StoreFile(files.database, mode: mode, schema: schema, patience: patience)
    }

    /// Makes several calls one transaction: all their changes are made, or none if one fails.
    ///
    /// - Parameter body: The calls; within another transaction they belong to that one.
    /// - Returns: The result of `body`.
    /// - Throws: `QueueError`, including one that `body` throws.
    @discardableResult
    package func transaction<Value>(
        _ body: () throws(QueueError) -> Value
    ) throws(QueueError) -> Value {
        try write { _ throws(QueueError) in try body() }
    }

    /// Returns the tasks that may have been added, changed or removed since the last call.
    package func takeTouched() -> Set<QueueTask.ID> {
        defer { touched = [] }
        return touched
    }

    // MARK: - Transactions

    /// Notes that tasks were added, changed or removed.
    func touch(_ ids: some Sequence<QueueTask.ID>) { touched.formUnion(ids) }

    /// Reads in one transaction.
    func read<Value>(_ body: (Database) throws -> Value) throws(QueueError) -> Value {
        do {
            if let current { return try body(current) }
            // GRDB's `read` sets and resets a pragma about writing, for which SQLite prepares every
            // cached statement anew (https://sqlite.org/pragma.html#pragma_query_only).
            return try file.queue.unsafeRead { db in try Self.inTransaction(db, .deferred, body) }
        } catch {
            throw QueueError(error, files.database)
        }
    }

    /// Reads and writes in one transaction, or in the surrounding one, whose secrets remain if this
    /// fails.
    func write<Value>(_ body: (Database) throws -> Value) throws(QueueError) -> Value {
        guard current == nil else { return try read(body) }
        do {
            guard mode == .readWrite else {
                throw QueueError(.readOnly(files.database))
            }
            (outdatedSecrets, draftedSecrets, outdatedPlans) = ([], [], [])
            let value = try file.queue.writeWithoutTransaction { db in
                try Self.inTransaction(db, .immediate) { db in
                    current = db
                    defer { current = nil }
                    return try body(db)
                }
            }
            removeSecrets(outdatedSecrets)
            plans.remove(outdatedPlans)
            return value
        } catch {
            removeSecrets(draftedSecrets)
            throw QueueError(error, files.database)
        }
    }

    private static func inTransaction<Value>(
        _ db: Database, _ kind: Database.TransactionKind, _ body: (Database) throws -> Value
    ) throws -> Value {
        var value: Value?
        try db.inTransaction(kind) {
            value = try body(db)
            return .commit
        }
        guard let value else { preconditionFailure("a transaction went well without a value") }
        return value
    }

    /// Returns the database of secrets; `nil` if it does not exist and is not to be created.
    func secretStore(make: Bool = false) throws(QueueError) -> SecretStore? {
        if let openedSecrets { return openedSecrets }
        guard make || access(files.secrets, F_OK) == 0 else { return nil }
        let secrets = try SecretStore(files, mode: mode)
        openedSecrets = secrets
        return secrets
    }

    private func removeSecrets(_ keys: [SecretStore.Key]) {
        guard !keys.isEmpty else { return }
        // The transaction has ended even if this fails; `removeOrphanedSecrets` then removes the
        // rest.
        try? secretStore()?.remove(keys)
    }
}
