import Testing

@testable import SeggetQueue
@testable import segget_manager

struct ReportedStatesTests {
    private static func task(_ state: TaskStatus.Word, finished: Double? = nil) -> TaskReport {
        var task = TaskReport(
            id: QueueTask.ID(), state: state, wanted: .run, url: "http://127.0.0.1/f.iso",
            folder: "/a", bytesDone: 5, size: 10, attempts: 0, added: 0, digests: [], tags: [])
        task.finished = finished
        return task
    }

    @Test func stateIsNotRepeated() {
        var states = ReportedStates(since: 100)
        var task = Self.task("running")
        #expect(states.take(task) == "")
        #expect(states.take(task) == nil)
        (task.state, task.finished) = ("failed", 101)
        #expect(states.take(task) == "running")
        #expect(states.take(task) == nil)
        task.state = "waiting"
        #expect(states.take(task) == "failed")
        task.state = "failed"
        #expect(states.take(task) == "waiting")
        states.forget(task.id)
        task.finished = 50
        #expect(states.take(task) == nil)
    }

    @Test(arguments: TaskStatus.Word.ended)
    func onlyLaterEndsAreReported(state: TaskStatus.Word) {
        var states = ReportedStates(since: 100)
        #expect(states.take(Self.task(state, finished: 99)) == nil)
        #expect(states.take(Self.task(state, finished: 100)) == "")
        #expect(states.take(Self.task("waiting")) == "")
    }
}
