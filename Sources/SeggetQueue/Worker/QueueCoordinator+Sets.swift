import SeggetReports
import Segmenter

/// The copies of the plans of commands, by the index of the command; a refusal where a plan cannot
/// be used.
typealias PlanDrafts = [Int: Result<PlanFolder.Draft, CommandRefusal>]

extension PlanFolder {
    /// Copies the plans of commands.
    func drafts(of commands: [QueueCommand]) -> PlanDrafts {
        var drafts = PlanDrafts()
        for (index, command) in commands.enumerated() {
            if case .add(let task) = command, let plan = task.plan { drafts[index] = draft(plan) }
        }
        return drafts
    }

    /// Removes the copies that no task has.
    func discard(_ drafts: PlanDrafts) {
        for case .success(let draft) in drafts.values { discard(draft) }
    }
}

// Adding tasks that download data sets.
extension QueueCoordinator {
    /// Adds a task that downloads the files of a plan, or finds the existing one.
    ///
    /// A set in a folder is one task, whatever is given with it.
    ///
    /// - Parameters:
    ///   - new: The task to add.
    ///   - draft: The copy of its plan.
    ///   - machine: The rules.
    ///   - now: The time.
    /// - Returns: The result.
    /// - Throws: `QueueError`.
    func add(
        _ new: NewTask, _ draft: Result<PlanFolder.Draft, CommandRefusal>,
        _ machine: inout QueueMachine, _ now: QueueMachine.Moment
    ) throws(QueueError) -> CommandResult {
        let plan: PlanFolder.Draft
        switch draft {
        case .success(let draft): plan = draft
        case .failure(let refusal): return .refused(nil, refusal, member: "plan")
        }
        for (member, isGiven) in [
            ("name", new.place.name != nil), ("checksum", new.options.checksum != nil),
            ("mirrors", !new.options.mirrors.isEmpty), ("adopt", new.options.adopt != nil),
        ] where isGiven {
            return .refused(nil, .member(member, .ofPlan), member: member)
        }
        var new = new
        new.url = plan.url
        let known = try store.known(
            set: plan.set.name, url: plan.url, folder: new.place.folderPath
        ).last
        if let known { return try goOn(known, new, plan, &machine, now) }
        let id = new.id ?? QueueTask.ID()
        if try store.task(id) != nil { return .refused(nil, .idTaken(id)) }
        var task = QueueTask(new)
        task.id = id
        task.added = now.wall
        (task.fileSet, task.size) = (plan.set, plan.size)
        machine.insert(Self.entry(task), at: new.position, now)
        task.status = machine.entries[id]?.status ?? task.status
        try store.plans.keep(plan, of: id)
        let secrets = try store.insert(task)
        if new.keepsNoSecrets, !secrets.isEmpty { unstored[id] = secrets }
        return CommandResult(id, .done)
    }

    /// Adds the plan of a set that a task downloads already.
    private func goOn(
        _ task: QueueTask, _ new: NewTask, _ plan: PlanFolder.Draft,
        _ machine: inout QueueMachine, _ now: QueueMachine.Moment
    ) throws(QueueError) -> CommandResult {
        let id = task.id
        let differs = try whole(id).map { new.differences(from: $0) } ?? []
        guard differs.isEmpty else {
            var result = CommandResult.refused(id, .differs(path: task.place.folderPath, differs))
            result.known = Self.describe(task, differs: differs)
            return result
        }
        var task = task
        let isSame = store.plans.isSame(plan, as: id)
        if !isSame {
            try store.plans.keep(plan, of: id)
            task.fileSet = plan.set
            task.size = plan.size
            try store.update(task)
        }
        var result: CommandResult
        if task.status.isEnded {
            try fetchAgain(task, at: new.position, isPaused: new.isPaused, &machine, now)
            let state = task.status.word.rawValue
            result = CommandResult(
                id, .done, .checksFiles(after: state, isPaused: new.isPaused))
        } else if task.status.isPaused, !new.isPaused {
            result = CommandResult(id, machine.resume(id) ? .done : .unchanged, .resumed)
        } else {
            result = CommandResult(id, .unchanged, .isIn(task.status.word.text))
        }
        if !isSame, !task.status.isEnded {
            machine.restart(id)
            if result.outcome == .unchanged { result = CommandResult(id, .done, .hasNewPlan) }
        }
        result.known = Self.describe(task)
        return result
    }
}
