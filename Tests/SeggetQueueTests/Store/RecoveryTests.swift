import Foundation
import GRDB
import Glibc
import Segmenter
import TestSupport
import Testing

@testable import SeggetQueue

@Suite struct RecoveryTests {
    private let queue: StoredQueue
    private let tasks: [QueueTask]

    init() throws {
        queue = try StoredQueue()
        var made = MadeUpTasks(seed: 1)
        tasks = made.tasks(150)
        let store = try queue.open()
        try store.insert(tasks)
        let ids = tasks.map(\.id)
        try store.transaction { () throws(QueueError) in
            for id in ids {
                try store.addEvents([TaskEvent(time: 1, event: "e", message: "m")], of: id)
            }
        }
        var settings = QueueSettings()
        settings.maxRunning = 9
        settings.rateLimit = 5
        try store.setSettings(settings)
    }

    @Test func undamagedQueueStaysUnchanged() throws {
        let before = try queue.contents()
        #expect(try QueueStore.recover(queue.files, now: 0) == Recovery())
        #expect(try queue.contents() == before)
    }

    /// The first page has the references to all others.
    @Test(arguments: [0..<16, 0..<100, 0..<4096, 100..<600])
    func recoversAllWithoutFirstPage(bytes: Range<Int>) throws {
        try destroy(bytes, in: queue.files.database)
        let recovery = try recovered()
        #expect(recovery.tasks == 150)
        #expect(recovery.lost == 0)
        try expect(tasks)
    }

    /// Some pages of records are damaged: the others are read.
    @Test(arguments: [1, 2, 3]) func recoversRemainingPages(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let records = try pagesOfRecords()
        for page in records.shuffled(using: &random).prefix(4) {
            try destroy(4096 * page..<4096 * (page + 1), in: queue.files.database)
        }
        let recovery = try recovered()
        let count = try #require(recovery.tasks)
        // A page contains a few tasks.
        #expect(count < 150 && count > 110)
        #expect(recovery.lost == 150 - count)
        let left = try queue.open().find().map(\.id)
        try expect(tasks.filter { left.contains($0.id) })
    }

    @Test func keepsRecordsWithoutSecrets() throws {
        let before = try queue.sandbox.read("queue.sqlite")
        try destroy(0..<4096, in: queue.files.secrets)
        let error = #expect(throws: QueueError.self) { try queue.open().removeOrphanedSecrets() }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains(queue.files.secrets) == true)
        let recovery = try QueueStore.recover(queue.files, now: 0)
        #expect(recovery.tasks == nil)
        #expect(recovery.kept == ["\(queue.files.secrets).damaged-19700101T000000Z"])
        #expect(try queue.sandbox.read("queue.sqlite") == before)
        try expect(tasks)
    }

    /// Both files are damaged, and a row of the secrets is invalid: only its task loses its
    /// secrets.
    @Test(arguments: ["NULL", "'{'", "'[]'"])
    func skipsInvalidSecrets(value: String) throws {
        let victim = try #require(tasks.first { !$0.keepsNoSecrets && !$0.split().secrets.isEmpty })
        do {
            let secrets = try DatabaseQueue(path: queue.files.secrets)
            try secrets.writeWithoutTransaction { db in
                // The schema prevents such a value, so the test changes it.
                try db.execute(sql: "PRAGMA writable_schema = ON")
                try db.execute(
                    sql:
                        "UPDATE sqlite_master SET sql = replace(sql, 'json TEXT NOT NULL', 'json TEXT')"
                )
            }
        }
        do {
            let secrets = try DatabaseQueue(path: queue.files.secrets)
            try secrets.writeWithoutTransaction { db in
                try db.execute(
                    sql: "UPDATE secrets SET json = \(value) WHERE task = ?",
                    arguments: [victim.id.description])
                try db.execute(sql: "PRAGMA writable_schema = ON")
                try db.execute(
                    sql:
                        "UPDATE sqlite_master SET sql = replace(sql, 'json TEXT', 'json TEXT NOT NULL')"
                )
            }
        }
        try destroy(0..<100, in: queue.files.database)
        let recovery = try QueueStore.recover(queue.files, now: 0)
        #expect(recovery.tasks == 150)
        #expect(recovery.kept.count == 2)
        #expect(try queue.open().secrets(of: victim.id) == nil)
        try expect(tasks.filter { $0.id != victim.id })
        #expect(try QueueStore.recover(queue.files, now: 0) == Recovery())
    }

    /// The damaged file is not replaced if only one of both can be read.
    @Test func failedRecoveryChangesNothing() throws {
        try destroy(0..<100, in: queue.files.database)
        try destroy(0..<100, in: queue.files.secrets)
        // A folder occupies the path of the copy of the secrets.
        try FileManager.default.createDirectory(
            atPath: "\(queue.files.secrets).reading~/x", withIntermediateDirectories: true)
        let before = try queue.sandbox.read("queue.sqlite")
        #expect(throws: QueueError.self) { try QueueStore.recover(queue.files, now: 0) }
        #expect(try queue.sandbox.read("queue.sqlite") == before)
        #expect(try queue.sandbox.names().filter { $0.contains("damaged") } == [])
    }

    @Test func skipsInvalidTask() throws {
        try queue.open().write { db in
            try db.execute(
                sql: "UPDATE tasks SET state = 'dancing' WHERE id = ?",
                arguments: [tasks[7].id.description])
        }
        let recovery = try recovered()
        #expect(recovery.tasks == 149)
        #expect(recovery.lost == 1)
        try expect(tasks.filter { $0.id != tasks[7].id })
    }

    @Test func skipsInvalidSettings() throws {
        try queue.open().write { db in
            try db.execute(sql: "UPDATE settings SET value = '{' WHERE key = 'max_running'")
        }
        #expect(try recovered().tasks == 150)
        var settings = QueueSettings()
        settings.rateLimit = 5
        #expect(try queue.open().settings() == settings)
    }

    @Test func createsNewQueueIfNothingIsReadable() throws {
        try queue.sandbox.write("queue.sqlite", String(repeating: "no database ", count: 1000))
        let recovery = try recovered()
        #expect(recovery.tasks == 0)
        #expect(try queue.open().find().isEmpty)
    }

    private func recovered() throws -> Recovery {
        let damaged = try queue.sandbox.read("queue.sqlite")
        let recovery = try QueueStore.recover(queue.files, now: 0)
        let name = "queue.sqlite.damaged-19700101T000000Z"
        #expect(recovery.kept == [queue.sandbox.path(name)])
        #expect(try queue.sandbox.read(name) == damaged)
        #expect(try queue.sandbox.names().filter { $0.hasSuffix("~") } == [])
        var status = stat()
        for name in try queue.sandbox.names() {
            #expect(stat(queue.sandbox.path(name), &status) == 0 && status.st_mode & 0o777 == 0o600)
        }
        #expect(try QueueStore.recover(queue.files, now: 0) == Recovery())
        return recovery
    }

    /// Expects the queue to have these tasks with their secrets and events.
    private func expect(_ tasks: [QueueTask]) throws {
        let store = try queue.open()
        #expect(try store.check() == [])
        #expect(try store.tasks(tasks.map(\.id)) == tasks.map { $0.split().record })
        #expect(try store.settings().maxRunning == 9)
        for task in tasks {
            #expect(try store.events(of: task.id).count == 1)
            guard !task.keepsNoSecrets else { continue }
            let expected = task.split().secrets
            #expect(try store.secrets(of: task.id) == (expected.isEmpty ? nil : expected))
        }
        try store.insert(.plain())
    }

    private func destroy(_ bytes: Range<Int>, in path: String) throws {
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.seek(toOffset: UInt64(bytes.lowerBound))
        try file.write(contentsOf: Data(repeating: 0xA5, count: bytes.count))
        try file.close()
    }

    /// Returns the numbers, from 0, of the pages with rows of tasks.
    ///
    /// These are leaf pages of tables with options in them (https://sqlite.org/fileformat2.html,
    /// 1.6).
    private func pagesOfRecords() throws -> [Int] {
        let bytes = try queue.sandbox.read("queue.sqlite")
        let found = (1..<bytes.count / 4096).filter { page in
            let page = bytes[4096 * page..<4096 * (page + 1)]
            return page.first == 13 && page.range(of: Data("retry_wait".utf8)) != nil
        }
        try #require(found.count > 20)
        return found
    }
}
