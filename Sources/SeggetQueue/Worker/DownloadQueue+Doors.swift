import Assembler
import Segmenter

// What the queue is told, and asked.
extension DownloadQueue {
    /// Carries out commands, one after the other; returns when what they do on the disk is done too.
    public func perform(
        _ commands: [QueueCommand]
    ) async throws(QueueError) -> [[CommandResult]] {
        try await waitForChores(of: commands)
        recordAll()
        let desk = try desk()
        var results = try desk.perform(commands, now)
        carryOut()
        let touched = Set(results.joined().filter { $0.outcome == .done }.compactMap(\.id))
        while try self.desk().machine.hasChore(touched) { await change() }
        for (index, list) in results.enumerated() {
            for (place, result) in list.enumerated() {
                guard let id = result.id, let problem = choreProblems.removeValue(forKey: id) else {
                    continue
                }
                results[index][place] = CommandResult(
                    id, .refused, problem.message, code: problem.code)
            }
        }
        return results
    }

    /// Waits until nothing is done on the disk about the tasks that commands are about.
    private func waitForChores(of commands: [QueueCommand]) async throws(QueueError) {
        for selection in commands.compactMap(\.selection) {
            for id in try desk().ids(of: selection) {
                while try desk().machine.entries[id]?.chore != nil { await change() }
            }
        }
    }

    /// The settings.
    public func settings() throws(QueueError) -> QueueSettings { current }

    /// Changes the settings; they are in force at once.
    public func change(_ settings: QueueSettings) throws(QueueError) {
        let settings = try settings.checked()
        try desk().store.setSettings(settings)
        current = settings
        applyRate()
        guard isWorking else { return }
        occur { machine, now in machine.limit(to: settings.maxRunning, now) }
    }

    /// Puts the limit of rate in force that holds at this time.
    func applyRate() {
        session.limitRate(current.rate(atMinute: TimeOfDay.minute))
    }

    // MARK: Chores

    func doChore(_ id: QueueTask.ID) {
        guard choresUnderWay.insert(id).inserted else { return }
        Task {
            guard let task = try? desk().whole(id), task.chore != nil else {
                choreEnded(id, nil, .done)
                return
            }
            let outcome = await offLoop("chore") { () throws(Never) in Chores.run(task) }
            choreEnded(id, task, outcome)
        }
    }

    private func choreEnded(_ id: QueueTask.ID, _ task: QueueTask?, _ outcome: Chores.Outcome) {
        choresUnderWay.remove(id)
        if case .failed(let problem) = outcome { choreProblems[id] = problem }
        occur { [self] machine, now throws(QueueError) in
            try desk().choreDone(id, task, outcome, &machine, now)
        }
        wake()
    }
}
