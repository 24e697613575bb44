import Assembler
import SeggetReports
import Segmenter

// Commands and settings.
extension DownloadQueue {
    /// Carries out commands in order, and returns after their work on the disk.
    public func perform(
        _ commands: [QueueCommand]
    ) async throws(QueueError) -> [[CommandResult]] {
        let plans = PlanFolder(files)
        let hasPlan = commands.contains { command in
            if case .add(let task) = command { task.plan != nil } else { false }
        }
        var drafts = PlanDrafts()
        if hasPlan {
            drafts = await offLoop("plan") { () throws(Never) in plans.drafts(of: commands) }
        }
        defer { plans.discard(drafts) }
        try await waitForChores(of: commands)
        recordAll()
        // An idle queue does not look at the time.
        applyRules()
        let coordinator = try coordinator()
        var results = try coordinator.perform(commands, drafts: drafts, now)
        carryOut()
        let touched = Set(results.joined().filter { $0.outcome == .done }.compactMap(\.id))
        while try self.coordinator().machine.hasChore(touched) { await change() }
        for (index, list) in results.enumerated() {
            for (place, result) in list.enumerated() where result.outcome == .done {
                guard let id = result.id else { continue }
                if let left = leftParts.removeValue(forKey: id) {
                    results[index][place].left = left
                }
                guard let problem = choreProblems.removeValue(forKey: id) else { continue }
                results[index][place] = .refused(id, problem)
            }
        }
        return results
    }

    /// Waits until the tasks of commands have no chore.
    private func waitForChores(of commands: [QueueCommand]) async throws(QueueError) {
        while true {
            var ids: Set<QueueTask.ID> = []
            for selection in commands.compactMap(\.selection) {
                ids.formUnion(try coordinator().ids(of: selection))
            }
            // The results of earlier chores are not those of these commands.
            for id in ids { (choreProblems[id], leftParts[id]) = (nil, nil) }
            guard try coordinator().machine.hasChore(ids) else { return }
            // Another command may have started a chore for one of them meanwhile.
            while try coordinator().machine.hasChore(ids) { await change() }
        }
    }

    /// Returns the settings.
    public func settings() throws(QueueError) -> QueueSettings { current }

    /// Changes the settings, which apply immediately.
    public func change(_ settings: QueueSettings) throws(QueueError) {
        let settings = try settings.checked()
        try coordinator().store.setSettings(settings)
        if settings.questions != current.questions { forgetFacts() }
        current = settings
        applyRules()
        guard isWorking else { return }
        occur { machine, now in machine.limit(to: settings.maxRunning, now) }
    }

    /// Reads the settings again after another process has written them.
    ///
    /// - Throws: `QueueError`.
    public func rereadSettings() throws(QueueError) {
        try change(try coordinator().store.settings())
    }

    // MARK: Chores

    /// Maximum number of chores at a time.
    private static let mostChores = 8

    func doChore(_ id: QueueTask.ID) {
        if !nextChores.contains(id) { nextChores.append(id) }
        beginChores()
    }

    private func beginChores() {
        while !isShuttingDown, choresUnderWay.count < Self.mostChores,
            let place = nextChores.firstIndex(where: { !choresUnderWay.contains($0) })
        {
            let id = nextChores.remove(at: place)
            choresUnderWay.insert(id)
            Task { await runChore(id) }
        }
    }

    private func runChore(_ id: QueueTask.ID) async {
        let task: QueueTask?
        do throws(QueueError) {
            task = try coordinator().whole(id)
        } catch {
            return choreEnded(id, nil, .failed(TaskProblem(.record(error.message))))
        }
        guard let task, task.chore != nil else { return choreEnded(id, nil, .done) }
        let isLeaving = isLeaving
        let plans = PlanFolder(files)
        let outcome = await offLoop("chore") { () throws(Never) in
            Chores.run(task, plans) { isLeaving.withLock { $0 } }
        }
        choreEnded(id, task, outcome)
    }

    private func choreEnded(_ id: QueueTask.ID, _ task: QueueTask?, _ outcome: Chores.Outcome) {
        choresUnderWay.remove(id)
        switch outcome {
        case .failed(let problem): choreProblems[id] = problem
        case .left(let part): leftParts[id] = part
        default: break
        }
        occur { [self] machine, now throws(QueueError) in
            try coordinator().choreDone(id, task, outcome, &machine, now)
        }
        beginChores()
        wake()
    }
}
