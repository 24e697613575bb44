import Foundation
import GRDB
import Glibc
import Segmenter
import TestSupport
import Testing

@testable import SeggetQueue

@Suite struct StoreFilesTests {
    /// A schema of a later version.
    static var later: StoreSchema {
        var schema = StoreSchema.queue
        schema.migrator.registerMigration("\(schema.version + 1)") { db in
            try db.execute(sql: "ALTER TABLE tasks ADD COLUMN extra TEXT DEFAULT 'new'")
        }
        return schema
    }

    // MARK: - Permissions

    @Test func filesAreReadableOnlyByOwner() throws {
        try withUmask(0) {
            let sandbox = try Sandbox("segget-store")
            let files = QueueFiles(sandbox.path("a/b/queue.sqlite"))
            let store = try QueueStore(files, mode: .readWrite)
            var task = QueueTask.plain()
            task.options.access.bearerToken = "x"
            try store.insert(task)
            let lock = try #require(try QueueLock.tryAcquire(files))
            let migrated = try QueueStore(files, mode: .readWrite, schema: Self.later)
            _ = migrated
            let names = try FileManager.default.contentsOfDirectory(atPath: sandbox.path("a/b"))
            #expect(
                Set(names) == [
                    "queue.sqlite", "queue.sqlite-wal", "queue.sqlite-shm", "queue.sqlite.lock",
                    "queue.sqlite.secrets", "queue.sqlite.secrets-wal", "queue.sqlite.secrets-shm",
                    "queue.sqlite.backup-3",
                ])
            for name in names { #expect(mode(sandbox.path("a/b/\(name)")) == 0o600, "\(name)") }
            for folder in ["a", "a/b"] { #expect(mode(sandbox.path(folder)) == 0o700) }
            lock.release()
        }
    }

    @Test func narrowUmaskKeepsRightsOfOwner() throws {
        try withUmask(0o777) {
            let sandbox = try Sandbox("segget-store")
            let files = QueueFiles(sandbox.path("a/queue.sqlite"))
            #expect(try QueueStore(files, mode: .readWrite).find().isEmpty)
            #expect(mode(sandbox.path("a")) == 0o700)
            #expect(mode(files.database) == 0o600)
        }
    }

    @Test func openingRemovesRightsOfOthers() throws {
        let queue = try StoredQueue()
        _ = try queue.open()
        try #require(
            chmod(queue.files.database, 0o644) == 0 && chmod(queue.sandbox.path, 0o755) == 0)
        let store = try queue.open()
        try store.insert(.plain())
        #expect(mode(queue.files.database) == 0o600)
        #expect(mode(queue.files.writeAheadLog) == 0o600)
        // The user's folder is not changed.
        #expect(mode(queue.sandbox.path) == 0o755)
    }

    @Test func recordsContainNoSecrets() throws {
        let queue = try StoredQueue()
        var made = MadeUpTasks(seed: 11)
        var tasks = made.tasks(200)
        for index in tasks.indices {
            // A query is stored in the record unless secrets are not stored, so it must not contain
            // the word.
            guard !tasks[index].keepsNoSecrets else { continue }
            tasks[index].url = tasks[index].url.replacing("q-\(MadeUpTasks.secret)", with: "q")
            tasks[index].urls = tasks[index].urls.map {
                $0.replacing("q-\(MadeUpTasks.secret)", with: "q")
            }
            tasks[index].options.mirrors = tasks[index].options.mirrors.map {
                $0.replacing("q-\(MadeUpTasks.secret)", with: "q")
            }
        }
        func named(_ suffix: String) throws -> [String] {
            try queue.contents().filter { $0.value.range(of: Data(MadeUpTasks.secret.utf8)) != nil }
                .keys.filter { $0.hasPrefix("queue.sqlite\(suffix)") }
        }
        let store = try queue.open()
        try store.insert(tasks.filter(\.keepsNoSecrets))
        #expect(try named("").isEmpty)
        try store.insert(tasks.filter { !$0.keepsNoSecrets })
        // An update of a record ignores secrets.
        let all = tasks
        try store.transaction { () throws(QueueError) in for task in all { try store.update(task) }
        }
        try store.transaction { () throws(QueueError) in for task in all { try store.replace(task) }
        }
        _ = try QueueStore(queue.files, mode: .readWrite, schema: Self.later)
        let found = try named("")
        #expect(found.allSatisfy { $0.hasPrefix("queue.sqlite.secrets") })
        #expect(!found.isEmpty)
        #expect(try queue.sandbox.names().contains("queue.sqlite.backup-3"))
        // Deleted secrets are in no file, even while the store is open.
        try store.delete(tasks.map(\.id))
        #expect(try named("").isEmpty)
    }

    // MARK: - Other versions, other files

    @Test func backsUpEarlierQueueBeforeMigration() throws {
        let queue = try StoredQueue()
        try FirstVersion.make(queue.files.database)
        var task = FirstVersion.task
        #expect(try queue.open().find() == [task])
        #expect(try queue.sandbox.names() == ["queue.sqlite", "queue.sqlite.backup-1"])
        do {
            let store = try QueueStore(queue.files, mode: .readWrite, schema: Self.later)
            let extra = try store.read { db in
                try String.fetchOne(db, sql: "SELECT extra FROM tasks")
            }
            #expect(extra == "new")
            #expect(try store.find() == [task])
            try store.update(task.id) { $0.size = 9 }
            task.size = 9
        }
        // The backup is made once, and the migration runs once.
        let before = try queue.sandbox.read("queue.sqlite.backup-3")
        #expect(try QueueStore(queue.files, mode: .readWrite, schema: Self.later).find() == [task])
        #expect(try queue.sandbox.read("queue.sqlite.backup-3") == before)
        #expect(
            try queue.sandbox.names()
                == ["queue.sqlite", "queue.sqlite.backup-1", "queue.sqlite.backup-3"])
        let backup = QueueFiles(queue.files.backup(ofVersion: 1))
        #expect(try QueueStore(backup, mode: .readWrite).find() == [FirstVersion.task])
    }

    /// A queue of version 2, as 0.3 makes it, gets the column of data sets; its backup remains as it
    /// was.
    @Test func migratesQueueOfSecondVersion() throws {
        let queue = try StoredQueue()
        try FirstVersion.make(queue.files.database)
        do {
            let database = try DatabaseQueue(path: queue.files.database)
            try database.write { db in
                try db.execute(
                    sql: """
                        CREATE TABLE client_tasks (
                            task TEXT NOT NULL PRIMARY KEY REFERENCES tasks (id) ON DELETE CASCADE
                        ) STRICT;
                        INSERT INTO grdb_migrations VALUES ('2');
                        INSERT INTO client_tasks VALUES ('00000000000000a1');
                        """)
            }
        }
        let store = try queue.open()
        #expect(try store.find() == [FirstVersion.task])
        #expect(try store.tasksOfClients() == [FirstVersion.task.id])
        var set = QueueTask.plain(at: 9)
        set.fileSet = FileSet(name: "49de0fa02e77dc78", files: 12)
        set.fileSet?.filesDone = 5
        set.fileSet?.filesFailed = 1
        try store.insert(set)
        #expect(try store.task(set.id) == set)
        #expect(try store.sets() == [set.id])
        #expect(
            try queue.sandbox.names() == ["queue.sqlite", "queue.sqlite-shm", "queue.sqlite-wal"]
                + ["queue.sqlite.backup-2"])
        let backup = try DatabaseQueue(path: queue.files.backup(ofVersion: 2))
        let columns = try backup.read { db in try db.columns(in: "tasks").map(\.name) }
        #expect(columns.contains("options") && !columns.contains("file_set"))
        #expect(try backup.read { try $0.tableExists("client_tasks") })
    }

    /// The words that version 0.2 stored are read and stored unchanged; reports use the words of
    /// this version.
    @Test func readsStatesOfVersion02() throws {
        let queue = try StoredQueue()
        try FirstVersion.make(queue.files.database)
        let states = [
            "waiting", "running", "verifying", "retrying", "waiting_for_network", "completed",
            "failed", "cancelled",
        ]
        let database = try DatabaseQueue(path: queue.files.database)
        try database.write { db in
            for (index, state) in states.enumerated() {
                for wanted in ["run", "held"] {
                    let id = String(repeating: wanted == "run" ? "1" : "2", count: 15) + "\(index)"
                    try db.execute(
                        sql: """
                            INSERT INTO tasks SELECT ?, url, urls, root_id, folder, name, name_given,
                                ?, ?, 5, position + 1, attempts, problem, NULL, seen, secret_parts,
                                keeps_no_secrets, umask, added, started, finished, last_byte, size,
                                bytes_done, content_type, verified, file, options, secrets_version
                                FROM tasks WHERE id = '00000000000000a1'
                            """, arguments: [id, wanted, state])
                }
            }
            try db.execute(
                sql: """
                    INSERT INTO events (task, time, event, message)
                        VALUES ('00000000000000a1', 2, 'silence', 'm')
                    """)
        }
        try database.close()
        let store = try queue.open()
        let words = try store.find().reduce(into: [:]) { $0[$1.status.word, default: 0] += 1 }
        // The first task of the fixture is also paused.
        #expect(
            words == [
                "waiting": 1, "running": 1, "verifying": 1, "retrying": 1, "waiting_for_network": 1,
                "paused": 6, "completed": 2, "failed": 2, "cancelled": 2,
            ])
        #expect(try store.view().counts == words)
        #expect(try store.events(of: FirstVersion.task.id).map(\.event) == ["e", "stalled"])
        for task in try store.find() { try store.update(task.id) { $0.status = task.status } }
        let stored = try store.read { db in
            try String.fetchSet(db, sql: "SELECT wanted || ' ' || state FROM tasks")
        }
        #expect(stored == Set(states.flatMap { ["run \($0)", "held \($0)"] }))
    }

    /// A backup would keep secrets longer than their tasks.
    @Test func keepsNoBackupOfSecrets() throws {
        let queue = try StoredQueue()
        let key = SecretStore.Key(task: "t", version: 1)
        do {
            let secrets = try SecretStore(queue.files, mode: .readWrite)
            try secrets.write([(key, TaskSecrets(url: "https://u:p@h/"))])
        }
        var schema = StoreSchema.secrets
        schema.migrator.registerMigration("2") { [path = queue.files.secrets] db in
            try #require(access("\(path).backup-1", F_OK) == 0)
            try db.execute(sql: "ALTER TABLE secrets ADD COLUMN extra TEXT")
        }
        let migrated = try StoreFile(queue.files.secrets, mode: .readWrite, schema: schema)
        let count = try migrated.queue.read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM secrets WHERE extra IS NULL")
        }
        #expect(count == 1)
        #expect(try !queue.sandbox.names().contains { $0.contains("backup") })
    }

    @Test func failedMigrationChangesNothing() throws {
        let queue = try StoredQueue()
        try FirstVersion.make(queue.files.database)
        var schema = StoreSchema.queue
        schema.migrator.registerMigration("\(schema.version + 1)") { db in
            try db.execute(sql: "DROP TABLE events")
            try db.execute(sql: "ALTER TABLE nonsense ADD COLUMN extra TEXT")
        }
        #expect(throws: QueueError.self) {
            try QueueStore(queue.files, mode: .readWrite, schema: schema)
        }
        let store = try queue.open()
        #expect(try store.find() == [FirstVersion.task])
        #expect(try store.events(of: FirstVersion.task.id).count == 1)
        #expect(try queue.sandbox.names().contains("queue.sqlite.backup-1"))
    }

    @Test(arguments: [StoreMode.readWrite, .readOnly])
    func laterVersionStaysUnchanged(mode: StoreMode) throws {
        let queue = try StoredQueue()
        _ = try QueueStore(queue.files, mode: .readWrite, schema: Self.later)
        try expectRefusal(.laterVersion, queue, mode)
    }

    @Test(arguments: [StoreMode.readWrite, .readOnly])
    func databaseOfOtherProgramStaysUnchanged(mode: StoreMode) throws {
        let queue = try StoredQueue()
        do {
            let other = try DatabaseQueue(path: queue.files.database)
            try other.write { db in try db.execute(sql: "CREATE TABLE tasks (id)") }
        }
        try #require(chmod(queue.files.database, 0o600) == 0)
        try expectRefusal(.invalid, queue, mode)
    }

    @Test(arguments: [StoreMode.readWrite, .readOnly])
    func invalidFileIsDamageAndStaysUnchanged(mode: StoreMode) throws {
        let queue = try StoredQueue()
        try queue.sandbox.write("queue.sqlite", String(repeating: "no database ", count: 1000))
        try expectRefusal(.damaged, queue, mode)
    }

    @Test(arguments: [StoreMode.readWrite, .readOnly])
    func truncatedDatabaseIsDamageAndStaysUnchanged(mode: StoreMode) throws {
        let queue = try StoredQueue()
        try queue.open().insert((0..<100).map { .plain(at: $0) })
        try #require(truncate(queue.files.database, 5 * 4096 + 17) == 0)
        try expectRefusal(.damaged, queue, mode)
    }

    private func expectRefusal(
        _ code: QueueError.Code, _ queue: StoredQueue, _ mode: StoreMode,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = try queue.contents()
        let error = #expect(throws: QueueError.self, sourceLocation: sourceLocation) {
            try queue.open(mode)
        }
        #expect(error?.code == code, sourceLocation: sourceLocation)
        #expect(
            error?.message.contains(queue.files.database) == true, sourceLocation: sourceLocation)
        #expect(try queue.contents() == before, sourceLocation: sourceLocation)
    }

    @Test func emptyFileBecomesNewQueue() throws {
        let queue = try StoredQueue()
        try queue.sandbox.write("queue.sqlite", "")
        try queue.open().insert(.plain())
        #expect(try queue.open().find().count == 1)
    }

    /// This happens after a kill before the first migration.
    @Test func completesUnfinishedCreation() throws {
        let queue = try StoredQueue()
        do {
            let begun = try DatabaseQueue(path: queue.files.database)
            try begun.write { db in
                try db.execute(
                    sql: "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
            }
        }
        try queue.open().insert(.plain())
        #expect(try queue.open().find().count == 1)
    }

    @Test func readingCreatesNoQueue() throws {
        let queue = try StoredQueue()
        let error = #expect(throws: QueueError.self) { try queue.open(.readOnly) }
        #expect(error?.code == .noQueue)
        #expect(try queue.sandbox.names().isEmpty)
        try queue.sandbox.write("queue.sqlite", "")
        let other = #expect(throws: QueueError.self) { try queue.open(.readOnly) }
        #expect(other?.message == error?.message)
        _ = try queue.open()
        let store = try queue.open(.readOnly)
        let refusal = #expect(throws: QueueError.self) { try store.insert(.plain()) }
        #expect(refusal?.code == .unavailable)
        #expect(try store.find().isEmpty)
    }

    @Test func createsQueueConcurrently() throws {
        for _ in 0..<10 {
            let queue = try StoredQueue()
            let problems = Guarded<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 6) { number in
                do {
                    try queue.open().insert(.plain(at: Int64(number)))
                } catch {
                    problems.withLock { $0.append("\(error)") }
                }
            }
            #expect(problems.withLock { $0 } == [])
            #expect(try queue.open().find().map(\.status.position) == [0, 1, 2, 3, 4, 5])
        }
    }

    @Test func lockedDatabaseIsReportedAsBusy() throws {
        let queue = try StoredQueue()
        let store = try QueueStore(queue.files, mode: .readWrite, schema: .queue, patience: 0.05)
        let other = try queue.open()
        let error = #expect(throws: QueueError.self) {
            try other.write { _ in try store.insert(.plain()) }
        }
        #expect(error?.code == .busy)
        try store.insert(.plain())
        #expect(try other.find().count == 1)
    }

    private func mode(_ path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    /// Runs a closure on a thread with a separate umask.
    private func withUmask(_ mask: mode_t, _ body: @escaping () throws -> Void) throws {
        typealias Unshare = @convention(c) (Int32) -> Int32
        let unshare = unsafeBitCast(try #require(dlsym(nil, "unshare")), to: Unshare.self)
        nonisolated(unsafe) var result: Result<Void, any Error> = .success(())
        nonisolated(unsafe) let body = body
        let done = DispatchSemaphore(value: 0)
        Thread {
            // CLONE_FS
            let isOwn = unshare(0x200) == 0
            result = Result {
                try #require(isOwn)
                umask(mask)
                try body()
            }
            done.signal()
        }.start()
        done.wait()
        try result.get()
    }
}
