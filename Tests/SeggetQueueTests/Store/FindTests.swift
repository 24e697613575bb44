import Foundation
import Segmenter
import TestSupport
import Testing

@testable import SeggetQueue

@Suite struct FindTests {
    private let queue: StoredQueue

    init() throws { queue = try StoredQueue() }

    /// SQL finds the same tasks as a full scan in Swift.
    @Test func filtersMatchFullScan() throws {
        try forEachSeed(6) { seed, random in
            var made = MadeUpTasks(random)
            let queue = try StoredQueue()
            let tasks = made.tasks(60).shuffled(using: &made.random)
            let store = try queue.open()
            try store.insert(tasks)
            let records = tasks.map { $0.split().record }
            for _ in 0..<40 {
                let filter = Self.filter(&made, records)
                let expected = records.filter { Self.passes($0, filter) }.sorted(
                    by: Self.comesBefore)
                #expect(try store.find(filter) == expected, "seed \(seed), \(filter)")
            }
            #expect(try store.view().counts == Self.counts(records))
            let unseen = Dictionary(
                grouping: records.filter {
                    [.completed, .failed].contains($0.status.state) && !$0.isSeen
                }, by: \.status.state.word)
            #expect(try store.view().unseen == unseen.mapValues(\.count))
            withExtendedLifetime(queue) {}
        }
    }

    /// The position in a report is the same whether it is counted in SQL or looked up among all
    /// tasks.
    @Test func reportsHaveSamePositions() throws {
        try forEachSeed(4) { seed, random in
            var made = MadeUpTasks(random)
            let queue = try StoredQueue()
            let store = try queue.open()
            try store.insert(made.tasks(60))
            let view = try store.view(isWorked: false)
            let all = try store.report(TaskFilter(), worker: nil, view).tasks
            let ordered = all.filter { $0.position != nil }
            #expect(ordered.map(\.position) == Array(1...ordered.count), "seed \(seed)")
            let places = Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0.position) })
            for count in [1, 5, 30, 60] {
                let ids = all.shuffled(using: &made.random).prefix(count).map(\.id.description)
                let filter = TaskFilter(selection: TaskSelection(ids: ids))
                let some = try store.report(filter, worker: nil, view).tasks
                #expect(some.count == count)
                for task in some {
                    #expect(task.position == places[task.id], "seed \(seed), \(task.id)")
                    #expect(
                        try store.detail(task.id, isWorked: false).task.position == places[task.id])
                }
            }
            withExtendedLifetime(queue) {}
        }
    }

    /// A report that is made in slices is the report that is made at once.
    @Test func slicesAreTheWholeReport() throws {
        try forEachSeed(4) { seed, random in
            var made = MadeUpTasks(random)
            let queue = try StoredQueue()
            let store = try queue.open()
            try store.insert(made.tasks(60))
            let (records, view) = (try store.find(), try store.view(isWorked: false))
            for _ in 0..<20 {
                let filter = made.chance(3) ? TaskFilter() : Self.filter(&made, records)
                let whole = try store.report(filter, worker: nil, view)
                let ids = try store.orderedIDs(filter)
                #expect(ids == whole.tasks.map(\.id), "seed \(seed), \(filter)")
                let length = made.pick([1, 7, 60])
                let slices = stride(from: 0, to: ids.count, by: length).map {
                    Set(ids[$0..<min($0 + length, ids.count)])
                }
                var reports: [TaskReport] = []
                for slice in slices {
                    reports += try store.reports(
                        filter, among: slice, worker: nil, pause: nil, run: { _ in nil })
                }
                let joined = try store.report(of: reports, filter, worker: nil, view)
                #expect(joined == whole, "seed \(seed), \(filter), \(length) each")
            }
            withExtendedLifetime(queue) {}
        }
    }

    private static func filter(_ made: inout MadeUpTasks, _ tasks: [QueueTask]) -> TaskFilter {
        var filter = TaskFilter()
        let id = made.pick(tasks).id.description
        if made.chance(3) {
            filter.selection.ids = made.pick([
                [id], [String(id.prefix(1))], [String(id.prefix(3)), "0"], ["%"], ["_", "g"], ["'"],
            ])
        }
        if made.chance(3) { filter.selection.tags = made.pick([["z"], ["ä%", "b"], ["%"]]) }
        if made.chance(3) {
            filter.selection.states = made.pick([
                ["paused"], ["waiting", "paused"], ["completed", "failed"], ["nonsense"],
                ["retrying", "waiting_for_network"],
            ])
        }
        if made.chance(3) {
            filter.text = made.pick([
                "ISO", "%", "_", "a_b", "50%", "ärger", "Ü", "\\", "sub", "/data/sub", "", "'",
                "Q-",
            ])
        }
        filter.isUnseen = made.chance(5)
        filter.selection.isAll = made.chance(6)
        return filter
    }

    private static func passes(_ task: QueueTask, _ filter: TaskFilter) -> Bool {
        let selection = filter.selection
        let isPaused = task.status.wanted == .paused && !task.status.isEnded
        let isNamed =
            selection.ids.contains { task.id.description.hasPrefix($0) }
            || selection.tags.contains(where: task.tags.contains)
        let hasState =
            selection.states.contains(isPaused ? "paused" : task.status.state.word)
        let texts =
            [task.url, task.place.name ?? "", task.place.root + "/" + task.place.folder] + task.urls
        let hasText = filter.text.map { text in
            texts.contains { $0.lowercased().contains(text.lowercased()) }
        }
        return (selection.isAll || selection.ids.isEmpty && selection.tags.isEmpty || isNamed)
            && (selection.states.isEmpty || hasState)
            && (filter.text?.isEmpty ?? true || hasText ?? true)
            && (!filter.isUnseen || task.status.isEnded && !task.isSeen)
    }

    private static func comesBefore(_ one: QueueTask, _ other: QueueTask) -> Bool {
        switch (one.status.isEnded, other.status.isEnded) {
        case (false, true): true
        case (true, false): false
        case (false, false): one.status.position < other.status.position
        case (true, true): (one.finished ?? 0) < (other.finished ?? 0)
        }
    }

    private static func counts(_ tasks: [QueueTask]) -> [TaskStatus.Word: Int] {
        Dictionary(grouping: tasks) {
            $0.status.wanted == .paused && !$0.status.isEnded ? "paused" : $0.status.state.word
        }.mapValues(\.count)
    }

    @Test func idsAreFoundByPrefix() throws {
        let store = try queue.open()
        let texts = [
            "00000000000000ff", "0fffffffffffffff", "1000000000000000", "ffffffffffffffff",
        ]
        try store.insert(
            texts.map { text in
                var task = QueueTask.plain()
                task.id = QueueTask.ID(text) ?? task.id
                return task
            })
        for prefix in [
            "0", "00", "1", "f", "fffffffffffffff", "ffffffffffffffff", "", "0g", "%", "F",
        ] {
            let found = try store.ids(withPrefix: prefix).map(\.description)
            #expect(found == texts.filter { $0.hasPrefix(prefix) }, "\(prefix)")
        }
        #expect(try store.ids(withPrefix: "", most: 2).map(\.description) == Array(texts[..<2]))
    }

    /// Lists of up to 1000 values become one SQL expression each.
    ///
    /// Longer ones are refused as invalid, not reported as damage.
    @Test func longFiltersAreRefusedAsInvalid() throws {
        let store = try queue.open()
        try store.insert([.plain(at: 0, name: "one"), .plain(at: 1, .failed)])
        let ids = try store.find().map(\.id.description)
        var filter = TaskFilter()
        filter.selection.ids = (0..<999).map { "\($0)x" } + [ids[1].uppercased()]
        filter.selection.tags = (0..<1000).map { "t\($0)" }
        filter.selection.states = Array(repeating: "failed", count: 1000)
        #expect(try store.find(filter).map(\.id.description) == [ids[1]])
        let longer: [(inout TaskSelection) -> Void] = [
            { $0.ids.append("failed") }, { $0.tags.append("failed") },
            { $0.states.append(.failed) },
        ]
        for append in longer {
            var filter = filter
            append(&filter.selection)
            let error = #expect(throws: QueueError.self) { try store.find(filter) }
            #expect(error?.code == .invalid)
        }
        for text in ["e", "ä"] {
            filter = TaskFilter(text: String(repeating: text, count: 4096 / text.utf8.count))
            #expect(try store.find(filter).isEmpty)
            filter.text?.append("e")
            let error = #expect(throws: QueueError.self) { try store.find(filter) }
            #expect(error?.code == .invalid)
            #expect(error?.message.contains("4096 bytes, not 4097") == true)
        }
    }

    @Test func findsTasksByURLAndFolder() throws {
        let store = try queue.open()
        let tasks = [
            QueueTask.plain("https://u:p@h/f?q", at: 0, in: "/a", folder: "b"),
            .plain("https://h/f?q", at: 1, in: "/a/b"),
            .plain("https://h/f", at: 2, in: "/a", folder: "b"),
            .plain("https://h/f?q", at: 3, in: "/a"),
            .plain("https://h/f?q", at: 4, in: "/", folder: "a/b"),
        ]
        var unstored = QueueTask.plain("https://h/f?q", at: 5, in: "/a/b")
        unstored.keepsNoSecrets = true
        try store.insert(tasks + [unstored])
        func known(_ url: String, _ root: String, _ folder: String) throws -> [Int64] {
            try store.known(
                url: url, folder: QueueTask.Place(root: root, folder: folder).folderPath
            ).map(\.status.position)
        }
        #expect(try known("https://h/f?q", "/a/b", "") == [0, 1, 4, 5])
        #expect(try known("https://h/f?q", "/a", "b") == [0, 1, 4, 5])
        #expect(try known("https://x@h/f?q", "/", "a/b") == [0, 1, 4, 5])
        #expect(try known("https://h/f", "/a", "b") == [2, 5])
        #expect(try known("https://h/f?q", "/a", "") == [3])
        #expect(try known("https://h/f?q", "/", "").isEmpty)
        #expect(try known("https://h/f?other", "/a", "b") == [5])
    }

    @Test func findsOwnerOfPath() throws {
        let store = try queue.open()
        func task(_ state: TaskStatus.State, _ root: String, _ folder: String) throws
            -> QueueTask.ID
        {
            let task = QueueTask.plain(at: 1, state, in: root, folder: folder, name: "n")
            try store.insert(task)
            return task.id
        }
        let place = QueueTask.Place(root: "/a", folder: "b", name: "n")
        #expect(try store.owner(of: place) == nil)
        _ = try task(.running, "/a", "")
        _ = try task(.running, "/a", "c")
        #expect(try store.owner(of: place) == nil)
        let cancelled = try task(.cancelled, "/a/b", "")
        #expect(try store.owner(of: place) == cancelled)
        let completed = try task(.completed, "/", "a/b")
        #expect(try store.owner(of: place) == completed)
        let waiting = try task(.waiting, "/a", "b")
        #expect(try store.owner(of: place) == waiting)
        #expect(try store.owner(of: place, but: waiting) == completed)
        #expect(try store.owner(of: QueueTask.Place(root: "/a", folder: "b", name: "N")) == nil)
        #expect(try store.owner(of: QueueTask.Place(root: "/a", folder: "b")) == nil)
    }

    @Test func statusesListTasksThatHaveNotEnded() throws {
        var made = MadeUpTasks(seed: 5)
        let tasks = made.tasks(200)
        let store = try queue.open()
        try store.insert(tasks.shuffled(using: &made.random))
        let expected = tasks.filter { !$0.status.isEnded || $0.chore != nil }.map {
            QueueMachine.Entry(
                id: $0.id, status: $0.status, host: DownloadSession.origin(of: $0.urls[0]),
                chore: $0.chore)
        }
        var found: [QueueMachine.Entry] = []
        try store.forEachStatus {
            found.append(QueueMachine.Entry(id: $0, status: $1, host: $2, chore: $3))
        }
        #expect(found == expected)
        #expect(expected.count < 200)
    }

    @Test func viewMatchesRecords() throws {
        let store = try queue.open()
        #expect(try store.view() == QueueView())
        var tasks: [QueueTask] = [
            .plain(at: 0), .plain(at: 1), .plain(at: 2, .completed), .plain(at: 3, .failed),
        ]
        for (index, size) in [Int64(1 << 40), nil, 7, 9].enumerated() {
            tasks[index].size = size
            tasks[index].bytesDone = Int64(index + 1)
        }
        try store.insert(tasks)
        let view = try store.view()
        #expect(view.bytesDone == 6)
        #expect(view.size == (1 << 40) + 7)
        #expect(view.counts == ["waiting": 2, "completed": 1, "failed": 1])
        #expect(view.unseen == ["completed": 1, "failed": 1])
        try store.markSeen([tasks[3].id])
        #expect(try store.view().unseen == ["completed": 1])
        try store.update(tasks[1].id) { $0.bytesDone = 5 }
        #expect(try store.view().bytesDone == 9)
        try store.delete([tasks[0].id])
        #expect(try store.view().size == 7)
        #expect(try store.view().counts["waiting"] == 1)
        // Servers may state any size, so the sum is limited.
        for index in 1...2 { try store.update(tasks[index].id) { $0.size = .max } }
        #expect(try store.view().size == 4_000_000_000_000_000_000)
    }

    @Test func marksOnlyResultsAsSeen() throws {
        let store = try queue.open()
        let tasks: [QueueTask] = [
            .plain(at: 0, .failed), .plain(at: 1, .running), .plain(at: 2, .completed),
        ]
        try store.insert(tasks)
        #expect(try store.view().unseen == ["failed": 1, "completed": 1])
        try store.markSeen([tasks[0].id, tasks[1].id, QueueTask.ID()])
        #expect(try store.view().unseen == ["completed": 1])
        #expect(try store.tasks(tasks.map(\.id)).map(\.isSeen) == [true, false, false])
    }
}
