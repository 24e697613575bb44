import Foundation
import GRDB
import Segmenter
import TestSupport
import Testing

@testable import SeggetQueue

@Suite struct QueueStoreTests {
    private let queue: StoredQueue

    init() throws { queue = try StoredQueue() }

    @Test func readsTasksAsWritten() throws {
        try forEachSeed(8) { seed, random in
            var made = MadeUpTasks(random)
            let queue = try StoredQueue()
            var tasks = made.tasks(30)
            try queue.open().insert(tasks)
            try expect(tasks, in: queue, seed)
            // Replaces each task by another one with the same id.
            tasks = tasks.map { old in
                var task = made.task()
                task.id = old.id
                return task
            }
            do {
                let store = try queue.open()
                let secrets = try store.transaction { () throws(QueueError) in
                    var all: [TaskSecrets] = []
                    for task in tasks { all.append(try store.replace(task)) }
                    return all
                }
                #expect(secrets == tasks.map { $0.split().secrets })
            }
            try expect(tasks, in: queue, seed)
        }
    }

    private func expect(_ tasks: [QueueTask], in queue: StoredQueue, _ seed: UInt64) throws {
        for mode in [StoreMode.readWrite, .readOnly] {
            let store = try queue.open(mode)
            #expect(
                try store.tasks(tasks.map(\.id)) == tasks.map { $0.split().record }, "seed \(seed)")
            for task in tasks {
                let secrets = try store.secrets(of: task.id)
                let expected = task.split().secrets
                let isStored = !expected.isEmpty && !task.keepsNoSecrets
                #expect(secrets == (isStored ? expected : nil), "seed \(seed)")
            }
        }
    }

    @Test func updateKeepsSecrets() throws {
        var task = QueueTask.plain("https://me:sesame@h/f")
        task.options.headers = ["X-Api-Key: sesame"]
        let store = try queue.open()
        try store.insert(task)
        try store.update(task.id) { $0.size = 5 }
        task.size = 5
        #expect(try store.task(task.id)?.secretParts == [.urls, .headers])
        let secrets = try #require(try store.secrets(of: task.id))
        let record = try #require(try store.task(task.id))
        #expect(secrets.merged(into: record) == task)
    }

    @Test func deletedTaskCannotBeChanged() throws {
        let store = try queue.open()
        let task = QueueTask.plain()
        #expect(code { try store.update(task) } == .noTask)
        #expect(code { try store.update(task.id) { _ in } } == .noTask)
        #expect(code { try store.updateStatus(task.id, TaskStatus(), chore: nil) } == .noTask)
        #expect(code { try store.replace(task) } == .noTask)
        try store.delete([task.id])
        #expect(try store.task(task.id) == nil)
        #expect(try store.find().isEmpty)
    }

    @Test func idsAreUnique() throws {
        let store = try queue.open()
        let task = QueueTask.plain()
        try store.insert(task)
        #expect(code { try store.insert([.plain(), task]) } == .invalid)
        #expect(try store.find() == [task])
    }

    @Test func statusChangesSeparately() throws {
        var made = MadeUpTasks(seed: 3)
        let store = try queue.open()
        var tasks = made.tasks(30).map { $0.split().record }
        try store.insert(tasks)
        for index in tasks.indices {
            let other = made.task()
            tasks[index].status = other.status
            tasks[index].chore = other.chore
            try store.updateStatus(tasks[index].id, other.status, chore: other.chore)
        }
        #expect(try store.tasks(tasks.map(\.id)) == tasks)
    }

    @Test func transactionsAreAtomic() throws {
        let store = try queue.open()
        var task = QueueTask.plain()
        task.options.access.bearerToken = "one"
        try store.insert(task)
        let refusal = QueueError(.invalid, "no", hint: "")
        var within: [String?] = []
        let refused = code {
            try store.transaction { () throws(QueueError) in
                try store.insert(.plain())
                var changed = task
                changed.options.access.bearerToken = "two"
                try store.replace(changed)
                within.append("\(try store.find().count)")
                within.append(try store.secrets(of: task.id)?.options?.access.bearerToken)
                throw refusal
            }
        }
        #expect(refused == .invalid)
        #expect(within == ["2", "two"])
        #expect(try store.find().map(\.id) == [task.id])
        #expect(try store.secrets(of: task.id)?.options?.access.bearerToken == "one")
        #expect(try queue.open().removeOrphanedSecrets() == 0)
        let count = try store.transaction { () throws(QueueError) in
            try store.transaction { () throws(QueueError) in try store.insert(.plain()) }
            return try store.find().count
        }
        #expect(count == 2)
    }

    @Test func failedInsertKeepsSecrets() throws {
        let store = try queue.open()
        var task = QueueTask.plain()
        task.options.access.bearerToken = "one"
        let again = task
        var refusal: QueueError.Code?
        try store.transaction { () throws(QueueError) in
            try store.insert(again)
            refusal = code { try store.insert(again) }
        }
        #expect(refusal == .invalid)
        #expect(try store.secrets(of: task.id)?.options == task.options)
    }

    /// This happens after a kill between the two commits.
    @Test func removesOrphanedSecrets() throws {
        var task = QueueTask.plain()
        task.options.access.bearerToken = "one"
        try queue.open().insert(task)
        do {
            let secrets = try SecretStore(queue.files, mode: .readWrite)
            let key = SecretStore.Key(task: task.id.description, version: 7)
            try secrets.write([(key, TaskSecrets(url: "https://u:p@h/"))])
            #expect(try secrets.keys().count == 2)
        }
        let store = try queue.open()
        #expect(try store.removeOrphanedSecrets() == 1)
        #expect(try store.removeOrphanedSecrets() == 0)
        #expect(try store.secrets(of: task.id)?.options == task.options)
    }

    @Test func removesUnusedRoots() throws {
        let store = try queue.open()
        func roots() throws -> [String] {
            try store.read { db in
                try String.fetchAll(db, sql: "SELECT path FROM roots ORDER BY path")
            }
        }
        var (one, two) = (QueueTask.plain(in: "/a"), QueueTask.plain(in: "/a"))
        try store.insert([one, two])
        #expect(try roots() == ["/a"])
        one.place.root = "/b"
        two.place.root = "/c"
        try store.update(one)
        #expect(try roots() == ["/a", "/b"])
        try store.update(two)
        #expect(try roots() == ["/b", "/c"])
        try store.delete([two.id])
        #expect(try roots() == ["/b"])
    }

    @Test func keepsLatestEvents() throws {
        let store = try queue.open()
        let (task, other) = (QueueTask.plain(), QueueTask.plain())
        try store.insert([task, other])
        func event(_ number: Int) -> TaskEvent {
            TaskEvent(time: Double(number) / 3, event: "e", message: "ä\(number)")
        }
        try store.addEvents([event(0)], of: other.id)
        try store.transaction { () throws(QueueError) in
            for number in 0..<150 { try store.addEvents([event(number)], of: task.id) }
        }
        try store.addEvents((150..<300).map { event($0) }, of: task.id)
        #expect(try store.events(of: task.id) == (100..<300).map { event($0) })
        #expect(try store.events(of: other.id) == [event(0)])
        try store.addEvents((0..<1000).map { event($0) }, of: other.id)
        #expect(try store.events(of: other.id) == (800..<1000).map { event($0) })
        try store.delete([task.id])
        #expect(try store.events(of: task.id).isEmpty)
        try store.addEvents([event(1)], of: task.id)
        #expect(try store.events(of: task.id).isEmpty)
    }

    @Test func readsSettingsAsWritten() throws {
        #expect(try queue.open().settings() == QueueSettings())
        var settings = QueueSettings()
        settings.maxRunning = 7
        settings.rateLimit = 0.1
        settings.maxRequests = RequestRate(600, per: .minute)
        settings.rateSchedule = RateSchedule(
            spans: [.init(start: 480, end: 1080, rate: 2e6)], otherwise: 0)
        settings.retryDelays = [1, 2.5]
        settings.rules = [
            QueueRule(while: .metered, .pause), QueueRule(while: .battery, .rate(0.5)),
            QueueRule(while: .span(DaySpan(start: 1320, end: 360)), .pause),
        ]
        settings.metered = .no
        // Every property of the settings must be stored.
        #expect(Mirror(reflecting: settings).children.count == 7)
        try queue.open().setSettings(settings)
        #expect(try queue.open().settings() == settings)
        settings.rateLimit = nil
        settings.rateSchedule = nil
        try queue.open().setSettings(settings)
        #expect(try queue.open(.readOnly).settings() == settings)
    }

    @Test func keepsSettingsOfLaterVersion() throws {
        let store = try queue.open()
        try store.write { db in
            try db.execute(sql: "INSERT INTO settings (key, value) VALUES ('later', '[1]')")
        }
        try store.setSettings(QueueSettings())
        let later = try store.read { db in
            try String.fetchOne(db, sql: "SELECT value FROM settings WHERE key = 'later'")
        }
        #expect(later == "[1]")
    }

    @Test func unreadableValueIsReportedWithTask() throws {
        let store = try queue.open()
        let task = QueueTask.plain()
        try store.insert(task)
        for (column, value) in [
            ("options", "{"), ("state", "dancing"), ("wanted", ""), ("problem", "[]"),
        ] {
            try store.update(task)
            try store.write { db in
                try db.execute(sql: "UPDATE tasks SET \(column) = ?", arguments: [value])
            }
            let error = #expect(throws: QueueError.self) { try store.find() }
            #expect(error?.code == .damaged, "\(column)")
            #expect(error?.message.contains(task.id.description) == true, "\(column)")
        }
    }

    /// Only missing or unreadable data in the file is damage.
    @Test(arguments: [
        ("SELECT * FROM absent", QueueError.Code.damaged), ("SELECT absent FROM tasks", .damaged),
        ("SELECT json_extract('{', '$[0]')", .damaged),
        ("SELECT '' LIKE printf('%060000d', 1)", .unavailable), ("SELECT", .unavailable),
    ])
    func classifiesErrorsOfSQL(sql: String, code: QueueError.Code) throws {
        let error = #expect(throws: QueueError.self) {
            try queue.open().read { db in _ = try Row.fetchAll(db, sql: sql) }
        }
        #expect(error?.code == code, "\(error?.message ?? "")")
    }

    private func code(_ body: () throws -> Void) -> QueueError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? QueueError)?.code
        }
    }
}
