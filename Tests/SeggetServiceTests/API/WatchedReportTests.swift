import Testing

@testable import SeggetQueue
@testable import SeggetService

struct WatchedReportTests {
    private static func task(_ rank: Int64?, finished: Double? = nil, bytes: Int64 = 0)
        -> TaskReport
    {
        TaskReport(
            id: QueueTask.ID(), state: rank == nil ? "completed" : "waiting", wanted: .run,
            url: "http://a/", folder: "/a", rank: rank, bytesDone: bytes, attempts: 0, added: 0,
            finished: finished, digests: [], tags: [], seen: rank == nil ? false : nil)
    }

    private static func report(_ tasks: [TaskReport]) -> QueueReport {
        QueueReport(version: "1", worker: 1, tasks: tasks, QueueView())
    }

    private static func changes(_ tasks: [TaskReport], removed: [QueueTask.ID] = [])
        -> QueueChanges
    {
        QueueChanges(
            tasks: tasks, removed: removed,
            QueueView(
                counts: ["waiting": tasks.count], unseen: ["failed": 1], bytesPerSecond: 7))
    }

    @Test func appliesChangesInOrder() {
        let (first, second, third) = (Self.task(10), Self.task(20), Self.task(30))
        let ended = Self.task(nil, finished: 5)
        var watched = WatchedReport(TaskFilter())
        watched.take(Self.report([first, second, third, ended]))
        #expect(watched.report.tasks.map(\.position) == [1, 2, 3, nil])

        // A task makes progress, and keeps its position.
        var more = second
        more.bytesDone = 9
        watched.take(Self.changes([more]))
        #expect(watched.report.tasks.map(\.bytesDone) == [0, 9, 0, 0])
        #expect(watched.report.tasks.map(\.position) == [1, 2, 3, nil])
        #expect(watched.report.counts == ["waiting": 1])
        #expect(watched.report.unseen == ["failed": 1])
        #expect(watched.report.bytesPerSecond == 7)

        // One task is moved to the front, one ends, one is added, and one is removed.
        var moved = third
        moved.rank = 5
        var done = first
        (done.seen, done.finished, done.state) = (false, 3, "completed")
        let new = Self.task(15)
        watched.take(Self.changes([moved, done, new], removed: [second.id]))
        #expect(watched.report.tasks.map(\.id) == [third.id, new.id, first.id, ended.id])
        #expect(watched.report.tasks.map(\.position) == [1, 2, nil, nil])

        // Known changes and removals of unknown tasks have no effect.
        let before = watched.report.tasks
        watched.take(Self.changes([moved], removed: [QueueTask.ID()]))
        #expect(watched.report.tasks.map(\.id) == before.map(\.id))
    }

    @Test func filteredReportHasNoPositions() {
        var watched = WatchedReport(TaskFilter(text: "a"))
        watched.take(Self.report([Self.task(10), Self.task(20)]))
        #expect(watched.report.tasks.map(\.position) == [nil, nil])
    }

    @Test func reportReplacesAllTasks() {
        var watched = WatchedReport(TaskFilter())
        watched.take(Self.report([Self.task(10), Self.task(20)]))
        let other = Self.task(1)
        watched.take(Self.report([other]))
        watched.take(Self.changes([other]))
        #expect(watched.report.tasks.map(\.id) == [other.id])
    }
}
