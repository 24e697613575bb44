import SeggetReports
import Assembler

// The limits that the settings set at this time on this machine.
extension DownloadQueue {
    /// Applies the limits of this moment.
    func applyRules() {
        let before = limits
        limits = current.limits(atMinute: TimeOfDay.minute, facts)
        if limits.rate != before.rate { runner.limitRate(limits.rate) }
        if limits.requests != before.requests { runner.limitRequests(limits.requests) }
        if isWorking, limits.isPaused != before.isPaused {
            let isPaused = limits.isPaused
            occur { machine, now in machine.pause(isPaused, now) }
        } else if limits.reason != before.reason {
            wake()
        }
    }

    /// The reason why no task runs, as text; `nil` if no task is to run anyway.
    var pause: String? {
        guard isWorking, open?.machine.isIdle == false else { return nil }
        return limits.reason?.text
    }

    /// The time of the next question to the machine, on the boot clock; infinity for none.
    var lookDue: Double { wantsFacts && !isLooking ? nextLook : .infinity }

    /// Whether a rule has a question, and a task is to run.
    private var wantsFacts: Bool {
        isWorking && !isShuttingDown && !current.questions.isEmpty
            && open?.machine.isIdle == false
    }

    /// Asks the machine the questions of the rules, if that is due.
    func lookAtMachine() {
        guard wantsFacts else { return forgetFacts() }
        guard !isLooking, bootSeconds() >= nextLook else { return }
        isLooking = true
        let (questions, machine) = (current.questions, configuration.machine)
        Task {
            let facts = await offLoop("machine") { () throws(Never) in machine.look(questions) }
            answered(questions, facts)
        }
    }

    /// Takes the answer of the machine.
    private func answered(_ questions: Set<MachineQuestion>, _ facts: MachineFacts) {
        isLooking = false
        guard wantsFacts else { return forgetFacts() }
        // If the rules have changed meanwhile, the machine is asked again.
        if questions == current.questions {
            self.facts = facts
            nextLook = bootSeconds() + configuration.machine.interval
            applyRules()
        }
        lookAtMachine()
        setClock()
    }

    /// Drops the answers of the machine, which is asked again before a task runs.
    func forgetFacts() { (facts, nextLook) = (nil, 0) }
}
