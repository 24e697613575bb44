import Assembler
import Segmenter
import TestSupport
import Testing

@testable import SeggetQueue

/// Tests the details of a task.
struct TaskDetailTests {
    @Test func reportsUnverifiedBytes() throws {
        let queue = try StoredQueue()
        let store = try queue.open()
        let task = QueueTask.plain(at: 1, .running, name: "f")
        try store.insert(task)
        var progress = DownloadProgress(
            phase: .downloading, bytesDone: 5, size: 30, bytesVerifying: 10, bytesReceived: 5,
            bytesPerSecond: 1, connections: 1, map: [], done: [ByteRange(0, 5)],
            verifying: [ByteRange(5, 10), ByteRange(20, 25)], elapsed: .seconds(1))
        var detail = try store.detail(task.id, isWorked: true, run: RunFigures(progress: progress))
        #expect(detail.verifying == [.init(start: 5, end: 10), .init(start: 20, end: 25)])
        #expect(detail.segments == [.init(start: 0, end: 10), .init(start: 20, end: 25)])
        progress.verifying = []
        detail = try store.detail(task.id, isWorked: true, run: RunFigures(progress: progress))
        #expect(detail.verifying == [])
        #expect(detail.segments == [.init(start: 0, end: 5)])
    }

    private static func event(_ time: Double, _ kind: String) -> TaskEvent {
        TaskEvent(time: time, event: kind, message: "m\(time)")
    }

    /// A repeated frequent event is one entry until another event follows.
    @Test func frequentEventsShareEntry() {
        var timeline = TaskTimeline()
        timeline.add(Self.event(0, "connections"))
        for time in [1.0, 2, 3] { timeline.addFrequent(Self.event(time, "stole")) }
        timeline.addFrequent(Self.event(4, "hedged"))
        timeline.addFrequent(Self.event(5, "stole"))
        timeline.add(Self.event(6, "retrying"))
        timeline.addFrequent(Self.event(7, "stole"))
        #expect(timeline.events.map(\.time) == [0, 4, 5, 6, 7])
        #expect(
            timeline.events.map(\.message)
                == ["m0.0", "m4.0", "m5.0 (so 4 times)", "m6.0", "m7.0"])
        for time in 0..<1000 { timeline.addFrequent(Self.event(Double(time), "stole")) }
        #expect(timeline.events.count == 5)
    }

    @Test func keepsLatestEvents() {
        var timeline = TaskTimeline()
        for time in 0..<250 { timeline.add(Self.event(Double(time), "retrying")) }
        #expect(timeline.events.map(\.time) == (50..<250).map(Double.init))
    }
}
