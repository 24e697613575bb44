import SeggetReports
import Assembler
import Foundation
internal import GRDB
import Glibc

/// How a database is opened.
package enum StoreMode: Sendable, Hashable {
    /// To read and write: it is created if it does not exist, and migrated to the newest format.
    case readWrite
    /// To read only, also on a read-only disk: nothing is created or changed, except that a
    /// database of an earlier version is migrated if it is writable.
    case readOnly
}

/// An open SQLite database in the format of this version.
struct StoreFile {
    let path: String
    let queue: DatabaseQueue

    /// Opens a database.
    ///
    /// - Parameters:
    ///   - path: Its absolute path.
    ///   - mode: How to open it.
    ///   - schema: The format.
    ///   - patience: Seconds to wait for other processes.
    /// - Throws: `QueueError`; then nothing has changed.
    init(
        _ path: String, mode: StoreMode, schema: StoreSchema, patience: Double = 5
    ) throws(QueueError) {
        self.path = path
        do {
            switch mode {
            case .readWrite:
                queue = try Self.patiently(patience) {
                    try Self.openWritable(path, schema, patience)
                }
            case .readOnly: queue = try Self.openReadable(path, schema, patience)
            }
        } catch {
            throw QueueError(error, path)
        }
    }

    /// Retries while another process has locked the database: SQLite does not wait if that could be
    /// a deadlock, as when two processes switch it to a write-ahead log
    /// (https://sqlite.org/c3ref/busy_handler.html).
    private static func patiently<Result>(
        _ patience: Double, _ body: () throws -> Result
    ) throws -> Result {
        let deadline = monotonicSeconds() + patience
        while true {
            do {
                return try body()
            } catch let error as DatabaseError
                where error.resultCode == .SQLITE_BUSY && monotonicSeconds() < deadline
            {
                usleep(5_000)
            }
        }
    }

    private static func openWritable(_ path: String, _ schema: StoreSchema, _ patience: Double)
        throws -> DatabaseQueue
    {
        if try QueueFiles.makePrivate(path) {
            try QueueFiles.synchronize(NSString(string: path).deletingLastPathComponent)
        }
        // SQLite would open it for reading only.
        guard access(path, W_OK) == 0 else { throw QueueError.system(.writeTo, path, errno) }
        let queue = try DatabaseQueue(path: path, configuration: configuration(patience))
        let found = try queue.read { db in try version(of: db, path, schema) }
        // The database nearly always has a write-ahead log already.
        let journal = try queue.writeWithoutTransaction { db in
            try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
        }
        guard journal == "wal" else {
            throw QueueError(.noWriteAheadLog(path))
        }
        guard found < schema.version else { return queue }
        // A worker of an earlier version continues with the format that it knows.
        if let worker = try QueueLock.holder(QueueFiles(path)), worker.pid != getpid() {
            throw QueueError(
                .hasOldWorker(path, pid: worker.pid, version: worker.version))
        }
        if found > 0 { try backUp(queue, path, version: found, schema) }
        // Another process may be migrating it as well; then the next attempt continues after its
        // steps.
        for attempt in 1... {
            do {
                try schema.migrator.migrate(queue)
                break
            } catch  where attempt <= schema.version {
                if try queue.read(schema.migrator.hasCompletedMigrations) { break }
            }
        }
        if found > 0, !schema.keepsBackup {
            unlink(QueueFiles(path).backup(ofVersion: found))
        }
        // If the path is a dangling link, SQLite has created the file.
        QueueFiles.protect(path)
        return queue
    }

    private static func openReadable(_ path: String, _ schema: StoreSchema, _ patience: Double)
        throws -> DatabaseQueue
    {
        guard access(path, F_OK) == 0 else {
            throw QueueError(.noQueue(path))
        }
        let files = QueueFiles(path)
        let queue: DatabaseQueue
        let mayWrite = access(files.folder, W_OK) == 0 && access(path, W_OK) == 0
        if mayWrite {
            // Only a connection that may write removes the log and its index.
            queue = try DatabaseQueue(path: path, configuration: configuration(patience))
        } else {
            var configuration = configuration(patience)
            configuration.readonly = true
            let log = try? FileManager.default.attributesOfItem(atPath: files.writeAheadLog)
            if let size = log?[.size] as? Int, size > 0 {
                queue = try DatabaseQueue(path: path, configuration: configuration)
            } else {
                // There is no log, and none can be created
                // (https://sqlite.org/wal.html#read_only_databases).
                let safe = CharacterSet.urlPathAllowed.subtracting(
                    CharacterSet(charactersIn: "?#%"))
                let escaped = path.addingPercentEncoding(withAllowedCharacters: safe) ?? path
                queue = try DatabaseQueue(
                    path: "file://\(escaped)?immutable=1", configuration: configuration)
            }
        }
        let found = try queue.read { db in try version(of: db, path, schema) }
        // The database is just being created, or its creator was killed.
        guard found > 0 else { throw QueueError(.noQueue(path)) }
        guard found == schema.version else {
            if mayWrite { return try openWritable(path, schema, patience) }
            throw QueueError(.earlierFormat(path))
        }
        return queue
    }

    private static func configuration(_ patience: Double) -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(patience)
        configuration.label = "segget.queue"
        configuration.prepareDatabase { db in
            try db.execute(
                sql: """
                    PRAGMA synchronous = FULL;
                    PRAGMA temp_store = MEMORY;
                    PRAGMA secure_delete = ON;
                    PRAGMA trusted_schema = OFF;
                    PRAGMA cell_size_check = ON;
                    PRAGMA journal_size_limit = 4194304;
                    """)
        }
        return configuration
    }

    /// Returns the version of a database; 0 if it is empty, or just being created.
    private static func version(of db: Database, _ path: String, _ schema: StoreSchema) throws
        -> Int
    {
        // The migrator creates its own table first.
        let count = try Int.fetchOne(
            db, sql: "SELECT count(*) FROM sqlite_master WHERE tbl_name <> 'grdb_migrations'")
        if count == 0, try schema.migrator.appliedIdentifiers(db).isEmpty { return 0 }
        guard try Int32.fetchOne(db, sql: "PRAGMA application_id") == schema.applicationID else {
            throw QueueError(.foreign(path))
        }
        guard try !schema.migrator.hasBeenSuperseded(db) else {
            throw QueueError(.laterFormat(path, known: schema.version))
        }
        return try schema.migrator.completedMigrations(db).count
    }

    /// Copies the database before it is migrated, unless another process has migrated it meanwhile.
    private static func backUp(
        _ queue: DatabaseQueue, _ path: String, version: Int, _ schema: StoreSchema
    ) throws {
        let copy = QueueFiles(path).backup(ofVersion: version)
        let draft = "\(copy)~"
        defer { unlink(draft) }
        try write(queue, to: draft)
        let copied = try DatabaseQueue(path: draft).read(schema.migrator.completedMigrations)
        guard copied.count == version else { return }
        guard rename(draft, copy) == 0 else { throw QueueError.system(.create, copy, errno) }
        try QueueFiles.synchronize(QueueFiles(path).folder)
    }

    /// Copies a database to a file of mode 0600, and waits until it is on the disk.
    ///
    /// - Throws: `QueueError`, or GRDB's error.
    static func write(_ queue: DatabaseQueue, to path: String) throws {
        unlink(path)
        try QueueFiles.makePrivate(path)
        do {
            try queue.writeWithoutTransaction { db in
                try db.execute(sql: "VACUUM INTO ?", arguments: [path])
            }
            try QueueFiles.synchronize(path)
        } catch {
            unlink(path)
            throw error
        }
    }
}
