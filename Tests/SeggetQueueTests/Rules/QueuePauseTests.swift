import Testing

@testable import SeggetQueue

/// Tests rules of the settings that pause the whole queue.
struct QueuePauseTests {
    @Test func interruptedTasksRunFirstAfterPause() {
        var desk = MachineDesk(2)
        desk.add(1...4)
        desk.start(4)
        #expect(desk.running == [2, 4])
        desk.pauseAll(true)
        #expect(Set(desk.actions) == ["stop 2", "stop 4"])
        #expect(desk.running.isEmpty)
        #expect((1...4).allSatisfy { desk.wanted($0) == .run && desk.state($0) == .waiting })
        for number in [2, 4, 1] where desk.runs[number] != nil { desk.end(number, .stopped) }
        #expect(!desk.machine.isIdle)
        desk.pauseAll(false)
        #expect(desk.actions == ["begin 2", "begin 4"])
    }

    @Test func taskStartedDuringPauseRunsFirst() {
        var desk = MachineDesk(1)
        desk.pauseAll(true)
        desk.add(1...3)
        desk.start(3)
        #expect(desk.actions.isEmpty && desk.runs.isEmpty)
        desk.pauseAll(false)
        #expect(desk.actions == ["begin 3"])
    }

    @Test func pauseKeepsVerifyingTasks() {
        var desk = MachineDesk(2)
        desk.add(1...2)
        desk.verify(1)
        desk.pauseAll(true)
        #expect(desk.actions == ["stop 2"])
        desk.verify(1, false)
        #expect(desk.actions == ["stop 1"])
    }

    @Test func noTaskProbesHostDuringPause() {
        var desk = MachineDesk(1)
        desk.add(1...1)
        desk.lose(1)
        desk.pauseAll(true)
        #expect(desk.actions == ["stop 1"])
        desk.end(1, .stopped)
        #expect(desk.entry(1)?.isAway == true && desk.actions.isEmpty)
        desk.pauseAll(false)
        #expect(desk.actions == ["begin 1"])
    }
}
