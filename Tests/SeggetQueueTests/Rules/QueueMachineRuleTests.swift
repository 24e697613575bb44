import Testing

@testable import SeggetQueue
@testable import SeggetReports

/// Tests the rules of a queue one by one.
struct QueueMachineRuleTests {
    // MARK: Slots

    @Test func fillsSlotsInQueueOrder() {
        var desk = MachineDesk(3)
        desk.add(1...5)
        #expect(desk.running == [1, 2, 3])
    }

    /// A command without a worker keeps the record of tasks that ran when the last worker was
    /// killed.
    @Test func recordsInterruptedTasksAsWaitingOnlyInWorker() {
        var desk = MachineDesk(0)
        var status = TaskStatus()
        status.state = .running
        let record = MachineDesk.Record(status: status, chore: nil, host: "a")
        desk.insert(1, record)
        desk.add(2...2)
        #expect(desk.records[1] == record)
        desk.limit(1)
        #expect(desk.running == [1])
        desk.insert(3, record)
        #expect(desk.records[3]?.status.state == .waiting)
    }

    @Test func raisingLimitStartsMoreTasks() {
        var desk = MachineDesk(1)
        desk.add(1...4)
        desk.limit(3)
        #expect(desk.actions == ["begin 2", "begin 3"])
    }

    @Test func loweringLimitStopsNewestTasks() {
        var desk = MachineDesk(3)
        for number in [3, 1, 2] { desk.add(number...number) }
        desk.limit(1)
        #expect(Set(desk.actions) == ["stop 1", "stop 2"])
        #expect(desk.running == [3])
        #expect(desk.wanted(1) == .run)
        // They start again in queue order when slots are free.
        for number in [1, 2] { desk.end(number, .stopped) }
        desk.limit(2)
        #expect(desk.actions == ["begin 1"])
    }

    @Test(arguments: [
        MachineStimulus.completed, .fails, .retries, .pause, .cancel, .remove, .lost,
    ]) func freedSlotStartsNextTask(stimulus: MachineStimulus) {
        var desk = MachineDesk(1)
        desk.add(1...1)
        desk.add(2...2, host: "b")
        stimulus.apply(to: &desk)
        #expect(desk.actions.contains("begin 2"))
        #expect(desk.running == [2])
    }

    @Test func verifyingTaskKeepsSlot() {
        var desk = MachineDesk(1)
        desk.add(1...2)
        desk.verify(1)
        #expect(desk.actions.isEmpty)
        #expect(desk.running == [1])
    }

    @Test func loweringLimitKeepsVerifyingTasks() {
        var desk = MachineDesk(2)
        desk.add(1...2)
        desk.verify(2)
        desk.limit(1)
        #expect(desk.actions == ["stop 1"])
        var other = MachineDesk(2)
        other.add(1...2)
        for number in 1...2 { other.verify(number) }
        other.limit(1)
        #expect(other.actions.isEmpty)
        other.verify(2, false)
        #expect(other.actions == ["stop 2"])
    }

    // MARK: Manual start

    @Test func startPreemptsLongestRunningTask() {
        var desk = MachineDesk(2)
        desk.add(1...4)
        desk.start(4)
        #expect(desk.actions == ["stop 1", "begin 4"])
        #expect(desk.order == [1, 2, 3, 4])
        #expect(desk.wanted(1) == .run)
        #expect(desk.state(1) == .waiting)
    }

    @Test func preemptedTaskRunsNext() {
        var desk = MachineDesk(2)
        desk.add(1...4)
        desk.end(1)
        // 2 has run longer than 3.
        desk.start(4)
        #expect(desk.actions == ["stop 2", "begin 4"])
        desk.move(2, to: .last)
        desk.start(2)
        #expect(desk.actions == ["stop 3"])
        desk.end(2, .stopped)
        #expect(desk.actions == ["begin 2"])
        #expect(desk.order.first == 3)
        desk.end(3, .stopped)
        desk.end(4)
        #expect(desk.actions == ["begin 3"])
    }

    @Test func startedTaskCanBePreempted() {
        var desk = MachineDesk(1)
        desk.add(1...3)
        desk.start(3)
        desk.end(1, .stopped)
        desk.start(2)
        #expect(desk.actions == ["stop 3", "begin 2"])
        desk.end(3, .stopped)
        desk.end(2)
        #expect(desk.actions == ["begin 3"])
    }

    @Test func tasksStartedTogetherDoNotPreemptEachOther() {
        var desk = MachineDesk(1)
        desk.add(1...4)
        desk.start(3, 4)
        #expect(desk.actions == ["stop 1", "begin 3"])
        #expect(desk.order == [4, 1, 2, 3])
        desk.end(1, .stopped)
        desk.end(3)
        #expect(desk.actions == ["begin 4"])
    }

    @Test func startDoesNotPreemptVerifyingTask() {
        var desk = MachineDesk(1)
        desk.add(1...3)
        desk.verify(1)
        desk.start(3)
        #expect(desk.actions.isEmpty)
        desk.end(1)
        #expect(desk.actions == ["begin 3"])
    }

    // MARK: Paused

    @Test func pausedTaskStaysPaused() {
        var desk = MachineDesk(2)
        desk.add(1...2)
        desk.pause(1)
        desk.end(1, .stopped)
        desk.end(2)
        desk.tick(after: 1_000_000)
        #expect(desk.running.isEmpty)
        var next = desk.afterRestart()
        next.limit(5)
        #expect(next.running.isEmpty)
        #expect(next.wanted(1) == .paused)
        next.resume(1)
        #expect(next.actions == ["begin 1"])
    }

    @Test func stoppingTaskResumesAfterStop() {
        var desk = MachineDesk(1)
        desk.add(1...1)
        desk.pause(1)
        #expect(desk.actions == ["stop 1"])
        desk.resume(1)
        #expect(desk.actions.isEmpty)
        desk.end(1, .stopped)
        #expect(desk.actions == ["begin 1"])
    }

    @Test func pausedTaskThatCompletesIsCompleted() {
        var desk = MachineDesk(1)
        desk.add(1...1)
        desk.pause(1)
        desk.end(1)
        #expect(desk.state(1) == .completed)
        #expect(desk.wanted(1) == .run)
    }

    // MARK: Network

    @Test func networkWaitLendsSlotToReachableHosts() {
        var desk = MachineDesk(1)
        desk.add(1...2)
        desk.add(3...3, host: "lan")
        desk.lose(1)
        #expect(desk.actions == ["begin 3"])
        #expect(desk.state(2) == .waiting)
    }

    @Test func taskBackFromNetworkWaitRunsFirst() {
        var desk = MachineDesk(1)
        desk.add(1...1)
        desk.add(2...3, host: "lan")
        desk.lose(1)
        desk.move(1, to: .last)
        desk.find(1)
        #expect(desk.actions == ["stop 1"])
        desk.end(1, .stopped)
        desk.end(2)
        #expect(desk.actions == ["begin 1"])
    }

    @Test func oneTaskProbesEachHost() {
        var desk = MachineDesk(4)
        desk.add(1...2)
        desk.add(3...4, host: "b")
        for number in [1, 3] {
            desk.lose(number)
            #expect(desk.actions.isEmpty)
        }
        for number in [2, 4] {
            desk.lose(number)
            #expect(desk.actions == ["stop \(number)"])
            desk.end(number, .stopped)
            #expect(desk.actions.isEmpty)
        }
        // If it is paused, another task probes the host.
        desk.pause(1)
        #expect(Set(desk.actions) == ["stop 1", "begin 2"])
        desk.find(2)
        #expect(desk.running == [2])
        #expect(desk.machine.entries[.number(4)]?.isAway == true)
        desk.find(3)
        #expect(desk.actions == ["begin 4"])
    }

    @Test func limitsNumberOfProbingTasks() {
        let most = QueueMachine.mostCanaries
        var desk = MachineDesk(most + 2)
        for number in 1...most + 2 { desk.add(number...number, host: "\(number)") }
        for number in 1...most + 2 {
            desk.lose(number)
            #expect(desk.actions == (number > most ? ["stop \(number)"] : []))
        }
        for number in [most + 2, most + 1] {
            desk.end(number, .stopped)
            #expect(desk.actions.isEmpty)
        }
        desk.find(1)
        #expect(desk.actions == ["begin \(most + 1)"])
    }

    @Test func probingTaskGetsSlotIfHostAnswersOther() {
        var desk = MachineDesk(2)
        desk.add(1...2)
        desk.lose(1)
        desk.lose(2)
        #expect(desk.actions == ["stop 2"])
        // 2 receives a response before it has stopped.
        desk.find(2)
        #expect(desk.running == [1])
        desk.start(1)
        #expect(desk.actions.isEmpty)
    }

    @Test func completedProbeMakesHostReachable() {
        var desk = MachineDesk(2)
        desk.add(1...2)
        desk.add(3...4, host: "lan")
        desk.lose(1)
        desk.lose(2)
        desk.end(2, .stopped)
        desk.end(1)
        #expect(desk.actions.isEmpty)
        desk.end(4)
        #expect(desk.actions == ["begin 2"])
    }

    // MARK: Retries

    @Test func retryingTaskFreesSlotUntilDue() {
        var desk = MachineDesk(1)
        desk.add(1...2)
        desk.end(1, .failed(.retry(after: 300), .some))
        #expect(desk.actions == ["begin 2"])
        #expect(desk.entry(1)?.status.attempts == 1)
        #expect(desk.state(1) == .retrying(at: desk.now.wall + 300))
        #expect(desk.machine.nextDue == desk.now.boot + 300)
        desk.end(2)
        desk.tick(after: 290)
        #expect(desk.actions.isEmpty)
        desk.tick(after: 10)
        #expect(desk.actions == ["begin 1"])
        desk.progress(1)
        #expect(desk.entry(1)?.status.attempts == 0)
        #expect(desk.entry(1)?.status.problem == nil)
    }

    @Test func waitingForSpaceCountsNoAttempt() {
        var desk = MachineDesk(1)
        desk.add(1...1)
        for _ in 1...10 {
            desk.end(1, .failed(.wait(60), .some))
            #expect(desk.entry(1)?.status.attempts == 0)
            desk.tick(after: 60)
            #expect(desk.actions == ["begin 1"])
        }
    }

    @Test func finalFailureIsRecordedWithReason() {
        var desk = MachineDesk(1)
        desk.add(1...1)
        desk.end(1, .failed(.fail, .some))
        #expect(desk.records[1]?.status.state == .failed)
        #expect(desk.records[1]?.status.problem == .some)
        desk.settle()
        #expect(desk.entry(1) == nil)
    }

    @Test(arguments: [-1_000_000.0, 1_000_000]) func clockJumpDoesNotChangeRetryDelay(by: Double) {
        var desk = MachineDesk(1)
        desk.add(1...1)
        desk.end(1, .failed(.retry(after: 300), .some))
        desk.now.wall += by
        desk.tick(after: 290)
        #expect(desk.actions.isEmpty)
        desk.tick(after: 10)
        #expect(desk.actions == ["begin 1"])
    }

    @Test func clockSetBackDoesNotDelayRetryIndefinitely() {
        var desk = MachineDesk(1)
        desk.add(1...1)
        desk.end(1, .failed(.retry(after: 300), .some))
        desk.now.wall -= 1_000_000_000
        var next = desk.afterRestart()
        #expect(next.machine.nextDue <= next.now.boot + FailureRule.longestWait)
        next.tick(after: FailureRule.longestWait)
        #expect(next.actions == ["begin 1"])
    }

    // MARK: Results

    @Test func retryAfterCancelWaitsForDeletedPart() {
        var desk = MachineDesk(1)
        desk.add(1...1)
        desk.cancel(1)
        desk.retry(1)
        #expect(desk.actions.isEmpty)
        desk.end(1, .stopped)
        #expect(desk.actions == ["chore 1"])
        // It occupies no slot meanwhile.
        #expect(desk.running.isEmpty)
        desk.chore(1)
        #expect(desk.actions == ["begin 1"])
    }

    @Test func retriedTaskIsLast() {
        var desk = MachineDesk(1)
        desk.add(1...4)
        desk.cancel(2)
        desk.retry(2)
        #expect(desk.order == [1, 3, 4, 2])
    }

    @Test(arguments: [true, false]) func removedTaskThatCompletesIsStillRemoved(files: Bool) {
        var desk = MachineDesk(1)
        desk.add(1...2)
        desk.verify(1)
        desk.remove(1, files: files)
        #expect(Set(desk.actions) == ["stop 1", "begin 2"])
        desk.end(1)
        #expect(desk.actions == ["chore 1"])
        #expect(desk.entry(1)?.chore == .remove(files: files))
        desk.chore(1)
        #expect(desk.entry(1) == nil)
        #expect(desk.records[1] == nil)
    }

    @Test func taskThatCannotBeRemovedIsPaused() {
        var desk = MachineDesk(1)
        desk.add(1...1)
        desk.remove(1)
        desk.end(1, .stopped)
        desk.chore(1, isRemoved: false)
        #expect(desk.actions.isEmpty)
        #expect(desk.wanted(1) == .paused)
    }

    @Test func cancelledTaskThatCompletesIsCompleted() {
        var desk = MachineDesk(1)
        desk.add(1...1)
        desk.cancel(1)
        desk.end(1)
        #expect(desk.actions.isEmpty)
        #expect(desk.state(1) == .completed)
    }

    // MARK: Restarted in the same slot

    @Test func renamedRunningTaskKeepsSlot() {
        var desk = MachineDesk(1)
        desk.add(1...2)
        desk.moveFiles(1)
        #expect(desk.actions == ["stop 1"])
        #expect(desk.running == [1])
        desk.end(1, .stopped)
        #expect(desk.actions == ["chore 1"])
        desk.chore(1)
        #expect(desk.actions == ["begin 1"])
        #expect(desk.running == [1])
    }

    @Test func newURLDiscardsFailureOfOldOne() {
        var desk = MachineDesk(1)
        desk.add(1...1)
        desk.restart(1)
        desk.end(1, .failed(.fail, .some))
        #expect(desk.actions == ["begin 1"])
        #expect(desk.entry(1)?.status.problem == nil)
    }

    @Test func taskPausedDuringRenameStaysPaused() {
        var desk = MachineDesk(1)
        desk.add(1...1)
        desk.moveFiles(1)
        desk.pause(1)
        desk.end(1, .stopped)
        desk.chore(1)
        #expect(desk.actions.isEmpty)
        #expect(desk.wanted(1) == .paused)
    }

    // MARK: Order and restart

    @Test func movesTasksToPositions() {
        var desk = MachineDesk(1)
        desk.add(1...5)
        desk.move(4, to: .first)
        #expect(desk.order == [4, 1, 2, 3, 5])
        desk.move(1, 4, to: .last)
        #expect(desk.order == [2, 3, 5, 1, 4])
        desk.move(4, to: .at(2))
        #expect(desk.order == [2, 4, 3, 5, 1])
        desk.move(2, to: .at(99))
        #expect(desk.order == [4, 3, 5, 1, 2])
        desk.add(6, at: .at(3))
        #expect(desk.order == [4, 3, 6, 5, 1, 2])
        desk.add(7, at: .first)
        #expect(desk.order == [7, 4, 3, 6, 5, 1, 2])
    }

    @Test func movingEndedTaskChangesNothing() {
        var desk = MachineDesk(1)
        desk.add(1...3)
        desk.end(1)
        desk.move(1, to: .at(2))
        #expect(desk.order == [2, 3])
    }

    @Test func renumbersPositionsWithoutGap() {
        var desk = MachineDesk(1)
        desk.add(1...4)
        var expected = [1, 2, 3, 4]
        for turn in 0..<100 {
            let moved = 3 + turn % 2
            desk.move(moved, to: .at(2))
            expected.removeAll { $0 == moved }
            expected.insert(moved, at: 1)
            #expect(desk.order == expected)
        }
        #expect(Set(desk.records.values.map(\.status.position)).count == 4)
        for (number, record) in desk.records {
            #expect(record.status.position == desk.entry(number)?.status.position)
        }
    }

    @Test func restartRunsInterruptedTasksFirst() {
        var desk = MachineDesk(2)
        desk.add(1...3)
        desk.add(4...4, host: "b")
        desk.start(3)
        desk.start(4)
        desk.lose(4)
        // 3 runs, 4 waits for the network, and 2, which was preempted for 4, runs again.
        var next = desk.afterRestart()
        #expect(Set(next.running).isSubset(of: Set(desk.running + [4])))
        #expect(next.running.contains(3))
        next.limit(4)
        #expect(next.running.count == 4)
        #expect(next.mistakes.isEmpty)
    }

    @Test func choresResumeAfterRestart() {
        var desk = MachineDesk(1)
        desk.add(1...1)
        desk.cancel(1)
        var next = desk.afterRestart()
        #expect(next.chores == [1])
        #expect(next.runs.isEmpty)
        next.chore(1)
        #expect(next.state(1) == .cancelled)
    }

    @Test func startsNoTaskWithoutWorker() {
        var desk = MachineDesk(0)
        desk.add(1...3)
        desk.start(3)
        #expect(desk.actions.isEmpty)
        #expect(desk.order == [3, 1, 2])
        desk.cancel(1)
        #expect(desk.actions == ["chore 1"])
    }
}
