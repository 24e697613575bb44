import SeggetReports
import Testing

@testable import SeggetQueue
@testable import segget_manager

struct FollowedTaskTests {
    private static let id = QueueTask.ID()

    private static func task(_ state: TaskStatus.Word, bytes: Int64 = 5) -> TaskReport {
        TaskReport(
            id: id, state: state, wanted: .run, url: "http://127.0.0.1/f.iso", folder: "/a",
            bytesDone: bytes, size: 10, attempts: 0, added: 0, digests: [], tags: [])
    }

    private static func detail(
        _ task: TaskReport, events: [TaskEvent] = [], map: [UInt8] = []
    ) -> TaskDetail {
        TaskDetail(task: task, urls: [task.url], map: map, segments: [], events: events)
    }

    /// Returns the messages about a task, in order, and its exit code.
    private static func said(
        _ details: [TaskDetail?], isVerbose: Bool = false, isNew: Bool = false,
        isAlone: Bool = true, isWorked: Bool = true, step: Double = 0.1
    ) -> (messages: [String], end: SeggetReports.ExitStatus?) {
        var task = FollowedTask(id, isVerbose: isVerbose, isNew: isNew, isAlone: isAlone)
        var messages: [String] = []
        for (index, detail) in details.enumerated() {
            messages += task.take(detail, now: Double(index) * step, isWorked: isWorked)
                .map { $0.line(colour: false) }
        }
        return (messages, task.end)
    }

    @Test func waitingTaskIsReportedAfterAWhile() {
        let waiting = Self.detail(Self.task("waiting"))
        let running = Self.detail(Self.task("running"))
        #expect(Self.said([waiting, waiting, running]).messages == [])
        let slow = [waiting, waiting, waiting, running, running]
        #expect(
            Self.said(slow, step: 1).messages == [
                "note: task \(Self.id) is waiting for a slot",
                "note: task \(Self.id) is running",
            ])
        // Of several tasks most wait, and without a worker another message is printed.
        #expect(Self.said(slow, isAlone: false, step: 1).messages == [])
        #expect(Self.said(slow, isWorked: false, step: 1).messages == [])
    }

    @Test func obstacleIsReportedOnce() {
        let held = Self.task("paused")
        var retrying = Self.task("retrying")
        retrying.error = TaskProblem(kind: "k", message: "it broke", hint: "", code: 69)
        retrying.retryAt = 8
        let details = [retrying, retrying, held, held, Self.task("running")].map { Self.detail($0) }
        #expect(
            Self.said(details).messages == [
                "note: it broke; retrying in 8 s",
                "note: task \(Self.id) is paused: `segget resume` starts it",
                "note: task \(Self.id) is running",
            ])
        var paused = Self.task("waiting")
        paused.pauseReason = "on battery"
        #expect(
            Self.said([Self.detail(paused), Self.detail(paused)], isAlone: false, step: 1).messages
                == ["note: waiting: the queue is paused: on battery"])
    }

    @Test func onlyNewEventsAreReported() {
        func events(_ kinds: [String]) -> [TaskEvent] {
            kinds.enumerated().map {
                TaskEvent(time: Double($0), event: $1, message: "\($0) \($1)")
            }
        }
        let earlier = events(["damaged", "retrying", "damaged"])
        let later = events(["damaged", "retrying", "damaged", "rescued", "decoding", "stopped"])
        let details = [earlier, later, later].map {
            Self.detail(Self.task("running"), events: $0)
        }
        #expect(Self.said(details).messages == ["note: 4 decoding"])
        #expect(
            Self.said(details, isVerbose: true).messages == ["note: 3 rescued", "note: 4 decoding"])
        #expect(
            Self.said(details, isNew: true).messages == [
                "note: 0 damaged", "note: 2 damaged", "note: 4 decoding",
            ])
        // If the first events were removed, the time decides which of the others are new.
        let cut = [earlier, Array(later.dropFirst(3))].map {
            Self.detail(Self.task("running"), events: $0)
        }
        #expect(Self.said(cut).messages == ["note: 4 decoding"])
    }

    @Test func endIsReportedAsByGet() {
        var done = Self.task("completed", bytes: 10)
        (done.path, done.started, done.finished) = ("/a/f.iso", 100, 105)
        done.digests = ["md5:00"]
        var outcome = Self.said([Self.detail(done), Self.detail(done)])
        #expect(outcome.messages == ["`/a/f.iso`: 10 B in 5.0 s, 2 B/s; verified md5:00"])
        #expect(outcome.end == .done)

        var failed = Self.task("failed")
        failed.error = TaskProblem(kind: "k", message: "it broke", hint: "mend it", code: 65)
        let event = TaskEvent(time: 0, event: "k", message: "it broke")
        outcome = Self.said([Self.detail(failed, events: [event])], isNew: true)
        #expect(outcome.messages == ["error: it broke", "hint: mend it"])
        #expect(outcome.end == .checksumMismatch)

        #expect(Self.said([Self.detail(Self.task("cancelled"))]).end == .stopped)
        #expect(Self.said([Self.detail(Self.task("running")), nil]).end == .stopped)
    }

    @Test func progressIsShownAsByGet() throws {
        var task = FollowedTask(Self.id, isVerbose: false, isNew: true, isAlone: true)
        _ = task.take(Self.detail(Self.task("waiting")), now: 0, isWorked: true)
        #expect(task.progress(elapsed: .zero) == nil)
        var report = Self.task("running", bytes: 7)
        (report.bytesPerSecond, report.connections) = (3, 2)
        _ = task.take(Self.detail(report, map: [8, 0]), now: 1, isWorked: true)
        let progress = try #require(task.progress(elapsed: .seconds(1)))
        #expect(progress.phase == .downloading && progress.map == [8, 0])
        #expect(progress.bytesDone == 7 && progress.size == 10 && progress.bytesReceived == 2)
        #expect(progress.bytesPerSecond == 3 && progress.connections == 2)
        _ = task.take(Self.detail(Self.task("waiting", bytes: 7)), now: 2, isWorked: true)
        #expect(task.progress(elapsed: .seconds(2))?.phase == .waitingForNetwork)
        _ = task.take(Self.detail(Self.task("completed", bytes: 10)), now: 3, isWorked: true)
        #expect(task.progress(elapsed: .seconds(3)) == nil)
    }
}
