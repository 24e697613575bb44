import SeggetReports
import Foundation
internal import GRDB
import Glibc
import Segmenter

/// The result of `--recover`.
package struct Recovery: Sendable, Hashable {
    /// The number of recovered tasks; `nil` if the records were not damaged.
    package var tasks: Int?
    /// The number of lost tasks; `nil` if unknown.
    package var lost: Int?
    /// The paths at which the damaged files are kept.
    package var kept: [String] = []
}

extension QueueStore {
    /// Creates a new queue from the readable records of a damaged one, which is kept beside it.
    ///
    /// The caller holds the queue's lock, and no store of it is open. An undamaged database remains
    /// unchanged.
    ///
    /// - Parameters:
    ///   - files: The queue.
    ///   - now: In seconds since 1970.
    /// - Returns: The result.
    /// - Throws: `QueueError`; then nothing has changed, unless both files are damaged and only the
    ///   second one cannot be replaced.
    package static func recover(
        _ files: QueueFiles, now: Double
    ) throws(QueueError) -> Recovery {
        var recovery = Recovery()
        var salvages: [Salvage] = []
        defer { for salvage in salvages { salvage.close() } }
        do {
            if try isDamaged({ () throws(QueueError) in
                let store = try QueueStore(files, mode: .readWrite)
                if try !store.read({ db in try db.damage() }).isEmpty { return true }
                // Valid rows for SQLite may still have invalid values.
                _ = (try store.find(), try store.settings())
                return false
            }) {
                let salvage = try Salvage(files.database)
                salvages.append(salvage)
                (recovery.tasks, recovery.lost) = try salvage.tasks(now)
            }
            if access(files.secrets, F_OK) == 0,
                try isDamaged({ () throws(QueueError) in
                    let store = try SecretStore(files, mode: .readWrite)
                    if try !store.check().isEmpty { return true }
                    for key in try store.keys() { _ = try store.read(key) }
                    return false
                })
            {
                let salvage = try Salvage(files.secrets)
                salvages.append(salvage)
                try salvage.secrets()
            }
            // Both are read before one is replaced.
            for salvage in salvages { recovery.kept.append(try salvage.replace(now)) }
        } catch {
            throw QueueError(error, files.database)
        }
        return recovery
    }

    private static func isDamaged(_ look: () throws(QueueError) -> Bool) throws(QueueError) -> Bool
    {
        do throws(QueueError) {
            return try look()
        } catch  where error.code == .damaged {
            return true
        }
    }
}

extension QueueStore {
    /// Adds the valid ones of the rows of another database.
    ///
    /// - Parameters:
    ///   - found: Rows of tasks: number, version of the secrets, the columns, the number of the
    ///     root.
    ///   - roots: The paths of the roots, by number.
    ///   - tags: The tags with their places, by task.
    /// - Returns: The number of added tasks.
    /// - Throws: `QueueError`.
    fileprivate func adopt(
        _ found: [Row], roots: [String: String], tags: [String: [(place: Int64, tag: String)]]
    ) throws(QueueError) -> Int {
        try write { db in
            var count = 0
            for row in found {
                do {
                    var task = try rows.task(row, from: 2)
                    guard let root = roots[task.place.root] else { continue }
                    task.place.root = root
                    for (_, tag) in (tags[task.id.description] ?? []).sorted(by: {
                        $0.place < $1.place
                    })
                    where !task.tags.contains(tag) { task.tags.append(tag) }
                    try insert(task)
                    var reader = ColumnReader(row, from: 1)
                    try db.execute(
                        sql: "UPDATE tasks SET secrets_version = ? WHERE id = ?",
                        arguments: [try reader.integer(), task.id.description])
                    count += 1
                } catch is QueueDamage {
                    continue
                } catch let error as QueueError where error.code == .invalid {
                    // Pages that do not belong together have the same id twice.
                    continue
                }
            }
            return count
        }
    }

    /// Adds the events of existing tasks, and the settings.
    fileprivate func adopt(events: [Row], settings: [Row]) throws(QueueError) {
        try write { db in
            for row in events {
                try ifItMakesSense {
                    try db.execute(
                        sql: """
                            INSERT INTO events (time, event, message, task)
                                SELECT ?, ?, ?, id FROM tasks WHERE id = ?
                            """, arguments: StatementArguments(row.databaseValues.dropFirst()))
                }
            }
            for row in settings {
                let arguments = StatementArguments(row.databaseValues.dropFirst())
                try ifItMakesSense {
                    try db.execute(
                        sql: "INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)",
                        arguments: arguments)
                }
                // An invalid setting counts as not set.
                if (try? self.settings()) == nil {
                    try db.execute(
                        sql: "DELETE FROM settings WHERE key = ?",
                        arguments: [row[1] as DatabaseValue])
                }
            }
        }
    }
}

/// Inserts a row, unless it violates a constraint.
private func ifItMakesSense(_ insert: () throws -> Void) throws {
    do {
        try insert()
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {}
}

/// Reads a copy of a damaged database, and replaces it with a new one.
private struct Salvage {
    private let files: QueueFiles
    /// The copy that is read; SQLite may write to it.
    private let copy: QueueFiles
    /// The new database.
    private let new: QueueFiles

    init(_ path: String) throws {
        files = QueueFiles(path)
        copy = QueueFiles("\(path).reading~")
        new = QueueFiles("\(path).recovered~")
        close()
        do {
            try Self.copy(path, to: copy.database)
            if access(files.writeAheadLog, F_OK) == 0 {
                try Self.copy(files.writeAheadLog, to: copy.writeAheadLog)
            }
        } catch {
            close()
            throw error
        }
    }

    /// Removes the temporary files.
    func close() {
        for files in [copy, new] {
            for path in [
                files.database, files.writeAheadLog, files.sharedMemory,
                "\(files.database)-journal",
                files.secrets,
            ] { unlink(path) }
        }
    }

    /// Creates a new database with the records.
    ///
    /// - Returns: The number of recovered tasks, and of lost tasks, if known.
    func tasks(_ now: Double) throws -> (tasks: Int, lost: Int?) {
        let store = try QueueStore(new, mode: .readWrite)
        guard let source = try source(with: "tasks", like: store.file) else { return (0, nil) }
        return try source.writeWithoutTransaction { db in
            var roots: [String: String] = [:]
            for row in try rows(db, "roots", "path") {
                var reader = ColumnReader(row)
                if let number = reader.optionalInteger() {
                    roots["\(number)"] = reader.optionalText()
                }
            }
            var tags: [String: [(place: Int64, tag: String)]] = [:]
            for row in try rows(db, "tags", "task, tag, place") {
                var reader = ColumnReader(row, from: 1)
                if let task = reader.optionalText(), let tag = reader.optionalText() {
                    tags[task, default: []].append((reader.optionalInteger() ?? .max, tag))
                }
            }
            // A queue of an earlier version has fewer columns.
            let names = Set(try db.columns(in: "tasks").map(\.name))
            let columns = TaskRow.columns.map { names.contains($0) ? $0 : "NULL" }
                .joined(separator: ", ")
            let found = try rows(db, "tasks", "secrets_version, \(columns), CAST(root_id AS TEXT)")
            let count = try? Int.fetchOne(db, sql: "SELECT count(*) FROM tasks")
            let recovered = try store.adopt(found, roots: roots, tags: tags)
            try store.adopt(
                events: try rows(db, "events", "time, event, message, task"),
                settings: try rows(db, "settings", "key, value"))
            return (recovered, count.map { max(0, $0 - recovered) })
        }
    }

    /// Creates a new database with the secrets.
    func secrets() throws {
        let store = try StoreFile(new.database, mode: .readWrite, schema: .secrets)
        guard let source = try source(with: "secrets", like: store) else { return }
        try source.writeWithoutTransaction { db in
            let found = try rows(db, "secrets", "task, version, json")
            try store.queue.write { new in
                for row in found where isReadable(row) {
                    try ifItMakesSense {
                        try new.execute(
                            sql:
                                "INSERT OR REPLACE INTO secrets (task, version, json) VALUES (?, ?, ?)",
                            arguments: StatementArguments(row.databaseValues.dropFirst()))
                    }
                }
            }
        }
    }

    /// Returns whether a row's last column has secrets.
    private func isReadable(_ row: Row) -> Bool {
        var reader = ColumnReader(row, from: 3)
        guard let json = reader.optionalText() else { return false }
        return (try? JSONDecoder().decode(TaskSecrets.self, from: Data(json.utf8))) != nil
    }

    /// Replaces the damaged database with the new one, and keeps it with its log.
    ///
    /// - Returns: The path at which it is kept.
    func replace(_ now: Double) throws -> String {
        try QueueFiles.synchronize(new.database)
        let kept = QueueFiles(QueueFiles.damaged(files.database, at: now))
        try Self.copy(files.database, to: kept.database)
        if access(files.writeAheadLog, F_OK) == 0 {
            try Self.copy(files.writeAheadLog, to: kept.writeAheadLog)
        }
        try QueueFiles.synchronize(files.folder)
        // SQLite would write the old log into the new database.
        unlink(files.writeAheadLog)
        unlink(files.sharedMemory)
        guard rename(new.database, files.database) == 0 else {
            throw QueueError.system(.replace, files.database, errno)
        }
        try QueueFiles.synchronize(files.folder)
        return kept.database
    }

    /// Opens the copy.
    ///
    /// An unreadable first page is replaced with the one of a new database, which has the same
    /// tables at the same places.
    ///
    /// - Returns: The database; `nil` if the table is not in it.
    private func source(with table: String, like new: StoreFile) throws -> DatabaseQueue? {
        func open() -> DatabaseQueue? {
            guard let queue = try? DatabaseQueue(path: copy.database),
                (try? queue.read { db in try db.tableExists(table) }) == true
            else { return nil }
            return queue
        }
        if let queue = open() { return queue }
        try new.queue.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
        guard let reading = FileHandle(forReadingAtPath: new.path),
            let writing = FileHandle(forUpdatingAtPath: copy.database),
            var page = try reading.read(upToCount: 4096), page.count == 4096
        else { return nil }
        defer {
            try? reading.close()
            try? writing.close()
        }
        // The number of pages, none of which is free (https://sqlite.org/fileformat2.html, 1.3).
        let pages = UInt32(clamping: try writing.seekToEnd() / 4096)
        page.replaceSubrange(28..<32, with: withUnsafeBytes(of: pages.bigEndian) { Data($0) })
        page.replaceSubrange(32..<40, with: Data(count: 8))
        try writing.seek(toOffset: 0)
        try writing.write(contentsOf: page)
        return open()
    }

    /// Returns all readable rows of a table, each with its number before its columns: from the
    /// front as far as possible, from the back, and then the rest one by one.
    private func rows(
        _ db: Database, _ table: String, _ columns: String
    ) throws -> [Row] {
        let select = "SELECT rowid, \(columns) FROM \(table) NOT INDEXED"
        var found: [Int64: Row] = [:]
        func read(_ order: String) -> Int64? {
            var last: Int64?
            guard let cursor = try? Row.fetchCursor(db, sql: "\(select) ORDER BY rowid \(order)")
            else {
                return nil
            }
            while let row = (try? cursor.next()) ?? nil {
                let number: Int64 = row[0]
                (found[number], last) = (row.copy(), number)
            }
            return last
        }
        let front = read("ASC") ?? 0
        let back = read("DESC") ?? front + 100_000
        if front < back {
            let one = try? db.makeStatement(sql: "\(select) WHERE rowid = ?")
            for number in (front + 1)..<max(front + 1, min(back, front + 1_000_000)) {
                guard let one, let row = (try? Row.fetchOne(one, arguments: [number])) ?? nil else {
                    continue
                }
                found[number] = row
            }
        }
        return found.sorted { $0.key < $1.key }.map(\.value)
    }

    private static func copy(_ from: String, to: String) throws {
        unlink(to)
        try QueueFiles.makePrivate(to)
        guard let reading = FileHandle(forReadingAtPath: from),
            let writing = FileHandle(forWritingAtPath: to)
        else { throw QueueError.system(.copy, from, errno) }
        defer {
            try? reading.close()
            try? writing.close()
        }
        while let data = try reading.read(upToCount: 1 << 20), !data.isEmpty {
            try writing.write(contentsOf: data)
        }
        try writing.synchronize()
    }
}
