import Foundation
import Segmenter
import TestSupport
import Testing

@testable import SeggetQueue

/// Tests pages of the tasks, in any order.
@Suite struct WindowTests {
    /// SQL finds, counts and sorts the same tasks as a full scan in Swift.
    @Test func windowsMatchFullScan() throws {
        try forEachSeed(6) { seed, random in
            var made = MadeUpTasks(random)
            let queue = try StoredQueue()
            let tasks = made.tasks(60).shuffled(using: &made.random)
            let store = try queue.open()
            try store.insert(tasks)
            let live = Self.live(&made, tasks)
            for _ in 0..<60 {
                var filter = TaskFilter()
                if made.chance(3) { filter.selection.states = ["paused", "completed", "running"] }
                if made.chance(4) { filter.text = "Ä" }
                if made.chance(4) { filter.selection.tags = ["z", "b"] }
                var window = TaskWindow()
                window.order = made.pick(TaskWindow.Order.allCases)
                window.isDescending = made.chance(2)
                window.offset = made.pick([0, 0, 1, 7, 59, 60, .max])
                window.limit = made.pick([1, 5, 60, 1000])

                let records = try store.find(filter)
                let sorted = Self.sorted(records, window, live)
                let expected = sorted.dropFirst(window.offset).prefix(window.limit).map { record in
                    var record = record
                    record.options = DownloadOptions()
                    return record
                }
                let page = try store.page(filter, window, live: live)
                #expect(page.tasks == expected, "seed \(seed), \(filter), \(window)")
                #expect(page.matching == records.count)
            }
            withExtendedLifetime(queue) {}
        }
    }

    private static func live(_ made: inout MadeUpTasks, _ tasks: [QueueTask]) -> [TaskReport] {
        tasks.filter { _ in made.chance(4) }.map { task in
            var report = TaskReport(task, position: nil)
            report.bytesDone = Int64(made.random.next() >> 30)
            report.size = made.pick([nil, 0, 1 << 40, .max]) ?? report.size
            report.bytesPerSecond = made.pick([nil, 0, 1, 1, 2.5])
            report.secondsLeft = made.pick([nil, 0, 7.25, 1e18])
            return report
        }
    }

    /// Sorts tasks that are in queue order.
    private static func sorted(
        _ tasks: [QueueTask], _ window: TaskWindow, _ live: [TaskReport]
    ) -> [QueueTask] {
        guard window.order != .order else {
            return window.isDescending ? tasks.reversed() : tasks
        }
        func sorted<Value: Comparable>(_ value: (QueueTask, TaskReport?) -> Value?) -> [QueueTask] {
            let keys = tasks.enumerated().map { place, task in
                (place: place, task: task, key: value(task, live.first { $0.id == task.id }))
            }
            return keys.sorted { one, other in
                switch (one.key, other.key) {
                case (let one?, let other?) where one != other:
                    window.isDescending ? one > other : one < other
                case (nil, _?): false
                case (_?, nil): true
                default: one.place < other.place
                }
            }.map(\.task)
        }
        return switch window.order {
        case .order: tasks
        case .name: sorted { task, _ in task.place.name.map(Self.lowercased) }
        case .size: sorted { $1?.size ?? $0.size }
        case .progress: sorted { Self.progress($0, $1) }
        case .speed: sorted { $1?.bytesPerSecond }
        case .left: sorted { $1?.secondsLeft }
        case .added: sorted { task, _ in task.added }
        case .finished: sorted { task, _ in task.finished }
        }
    }

    private static func progress(_ task: QueueTask, _ live: TaskReport?) -> Double? {
        if task.status.state == .completed { return 1 }
        guard let size = live?.size ?? task.size, size > 0 else { return nil }
        return min(1, Double(live?.bytesDone ?? task.bytesDone) / Double(size))
    }

    /// Returns a name with the capital letters of ASCII in lower case.
    private static func lowercased(_ name: String) -> String {
        String(
            String.UnicodeScalarView(
                name.unicodeScalars.map { scalar in
                    ("A"..."Z").contains(scalar)
                        ? Unicode.Scalar(UInt8(scalar.value) + 0x20) : scalar
                }))
    }

    /// Consecutive pages contain each task once in every order, even if many have equal values.
    @Test func pagesDoNotOverlap() throws {
        let queue = try StoredQueue()
        let store = try queue.open()
        try store.insert((0..<50).map { .plain(at: $0 / 5, name: "same") })
        for order in TaskWindow.Order.allCases {
            for isDescending in [false, true] {
                var window = TaskWindow()
                (window.order, window.isDescending, window.limit) = (order, isDescending, 7)
                var found: [QueueTask.ID] = []
                while found.count < 50 {
                    window.offset = found.count
                    let page = try store.page(TaskFilter(), window)
                    #expect(page.matching == 50)
                    guard !page.tasks.isEmpty else { break }
                    found += page.tasks.map(\.id)
                }
                #expect(found.count == 50 && Set(found).count == 50, "\(window)")
            }
        }
    }

    /// Pages have the same reports of tasks as reports of the queue.
    @Test func pagesMatchReports() throws {
        try forEachSeed(3) { seed, random in
            var made = MadeUpTasks(random)
            let queue = try StoredQueue()
            let store = try queue.open()
            try store.insert(made.tasks(40))
            for filter in [TaskFilter(), TaskFilter(text: "data")] {
                var view = try store.view()
                view.pauseReason = "no"
                let whole = try store.report(filter, worker: 1, view)
                for limit in [3, 1000] {
                    var window = TaskWindow()
                    window.limit = limit
                    let page = try store.page(filter, window, worker: 1, view)
                    var expected = whole
                    expected.tasks = Array(whole.tasks.prefix(limit))
                    #expect(page.report == expected, "seed \(seed)")
                    #expect(page.matching == whole.tasks.count)
                }
            }
            withExtendedLifetime(queue) {}
        }
    }

    @Test func tasksAreCountedByTag() throws {
        let queue = try StoredQueue()
        let store = try queue.open()
        #expect(try store.tags() == [:])
        var tasks: [QueueTask] = (0..<3).map { .plain(at: $0) }
        (tasks[0].tags, tasks[1].tags) = (["iso", "ä b"], ["iso"])
        try store.insert(tasks)
        #expect(try store.tags() == ["iso": 2, "ä b": 1])
        try store.delete([tasks[0].id])
        #expect(try store.tags() == ["iso": 1])
    }
}
