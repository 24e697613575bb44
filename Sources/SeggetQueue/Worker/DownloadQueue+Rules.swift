import SeggetReports
import Assembler

// What the settings say for this time and this machine.
extension DownloadQueue {
    /// Puts in force what holds now.
    func applyRules() {
        let before = limits
        limits = current.limits(atMinute: TimeOfDay.minute, facts)
        if limits.rate != before.rate { runner.limitRate(limits.rate) }
        if isWorking, limits.isPaused != before.isPaused {
            let isPaused = limits.isPaused
            occur { machine, now in machine.pause(isPaused, now) }
        } else if limits.reason != before.reason {
            wake()
        }
    }

    /// Why nothing is fetched, in words; `nil` where nothing is to be.
    var pause: String? {
        guard isWorking, open?.machine.isIdle == false else { return nil }
        return limits.reason?.text
    }

    /// When the machine is to be asked, on the boot clock; infinity where it is not.
    var lookDue: Double { wantsFacts && !isLooking ? nextLook : .infinity }

    /// Whether a rule asks for something, and something is to be fetched.
    private var wantsFacts: Bool {
        isWorking && !isShuttingDown && !current.questions.isEmpty
            && open?.machine.isIdle == false
    }

    /// Has the machine asked what the rules want to know, if that is due.
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

    /// The machine has answered.
    private func answered(_ questions: Set<MachineQuestion>, _ facts: MachineFacts) {
        isLooking = false
        guard wantsFacts else { return forgetFacts() }
        // The rules may be others by now: then it is asked again.
        if questions == current.questions {
            self.facts = facts
            nextLook = bootSeconds() + configuration.machine.interval
            applyRules()
        }
        lookAtMachine()
        setClock()
    }

    /// What the machine said does not count any more: it is asked again before anything is fetched.
    func forgetFacts() { (facts, nextLook) = (nil, 0) }
}
