// Worker: carries out commands on the records, runs the tasks that have a slot, and publishes
// changes. It knows the store, the rules and the downloads; it never knows a terminal, a socket or
// how a file is downloaded.

import Assembler
import SeggetReports
import Segmenter

/// The records of a queue, the machine that decides about them, and the transactions that keep both
/// the same, with or without a worker.
///
/// Only one thread at a time may use it, and its process must hold the queue's lock. It blocks on
/// the disk.
final class QueueCoordinator {
    let store: QueueStore
    private(set) var machine: QueueMachine
    /// The tasks whose records have changed, and those that were removed, since the last call.
    private var recorded: (changed: Set<QueueTask.ID>, removed: [QueueTask.ID]) = ([], [])
    /// Secrets that are not stored, of tasks that were added since this worker started.
    var unstored = UndoableTable<QueueTask.ID, TaskSecrets>()

    /// Reads the tasks that have not ended.
    ///
    /// - Parameters:
    ///   - store: The records.
    ///   - maxRunning: Maximum number of tasks that run at a time; 0 without a worker.
    ///   - now: The time.
    /// - Throws: `QueueError`.
    init(
        _ store: QueueStore, maxRunning: Int, _ now: QueueMachine.Moment
    ) throws(QueueError) {
        self.store = store
        machine = QueueMachine(maxRunning: maxRunning)
        try store.forEachStatus { id, status, host, chore in
            machine.insert(
                QueueMachine.Entry(id: id, status: status, host: host, chore: chore), now)
        }
    }

    /// Changes the machine and records the changes; if that fails, nothing has changed.
    ///
    /// - Returns: The result of the closure.
    /// - Throws: `QueueError`.
    @discardableResult
    func change<Result>(
        _ body: (inout QueueMachine) throws(QueueError) -> Result
    ) throws(QueueError) -> Result {
        let before = (machine: machine.begin(), recorded: recorded)
        unstored.begin()
        do throws(QueueError) {
            let result = try store.transaction { () throws(QueueError) -> Result in
                let result = try body(&machine)
                try record(&machine)
                return result
            }
            machine.end()
            _ = unstored.end()
            return result
        } catch {
            machine.end(takingBackTo: before.machine)
            recorded = before.recorded
            for (id, secrets) in unstored.end() { unstored[id] = secrets }
            throw error
        }
    }

    /// Records the tasks whose status or chore has changed.
    private func record(_ machine: inout QueueMachine) throws(QueueError) {
        for id in machine.takeChanged() {
            guard let entry = machine.entries[id] else { continue }
            try store.updateStatus(entry.id, entry.status, chore: entry.chore)
            recorded.changed.insert(entry.id)
        }
    }

    /// Notes that the record of a task that is not in the machine has changed.
    func hasRecorded(_ id: QueueTask.ID) { recorded.changed.insert(id) }

    /// The tasks whose records have changed, and those that were removed, since the last call.
    func takeRecorded() -> (changed: Set<QueueTask.ID>, removed: [QueueTask.ID]) {
        defer { recorded = ([], []) }
        return recorded
    }

    /// Removes a task from the records.
    func delete(_ id: QueueTask.ID) throws(QueueError) {
        try store.delete([id])
        unstored[id] = nil
        recorded.changed.remove(id)
        recorded.removed.append(id)
    }

    /// Returns the actions since the last call.
    func takeActions() -> [QueueMachine.Action] { machine.takeActions() }

    // MARK: Commands

    /// Carries out commands in order, in one transaction.
    ///
    /// - Parameters:
    ///   - commands: The commands.
    ///   - drafts: The copies of the plans of all commands that have one.
    ///   - now: The time.
    /// - Returns: For each command, the results for its tasks.
    /// - Throws: `QueueError`; then nothing has changed.
    func perform(
        _ commands: [QueueCommand], drafts: PlanDrafts = [:], _ now: QueueMachine.Moment
    ) throws(QueueError) -> [[CommandResult]] {
        try change { machine throws(QueueError) in
            var results: [[CommandResult]] = []
            var first = 0
            for (index, command) in commands.enumerated() {
                if case .add(var task) = command {
                    // Tasks that are added together at the front keep their order.
                    if task.position == .first {
                        first += 1
                        task.position = first == 1 ? .first : .at(first)
                    }
                    if let draft = drafts[index] {
                        results.append([try add(task, draft, &machine, now)])
                    } else {
                        results.append([try add(task, &machine, now)])
                    }
                } else {
                    // The states after the earlier commands select its tasks.
                    if command.selection?.states.isEmpty == false { try record(&machine) }
                    results.append(try carryOut(command, &machine, now))
                }
            }
            machine.settle(now)
            return results
        }
    }

    func carryOut(
        _ command: QueueCommand, _ machine: inout QueueMachine, _ now: QueueMachine.Moment
    ) throws(QueueError) -> [CommandResult] {
        switch command {
        case .add: return []
        case .start(let selection):
            return try onTasks(selection) { ids throws(QueueError) in
                for id in ids { _ = try revive(id, &machine, now) }
                let started = machine.start(ids, now)
                return try ids.map { id throws(QueueError) in
                    try result(id, started.contains(id), machine, downloads: true)
                }
            }
        case .pause(let selection):
            return try onEach(selection) { id throws(QueueError) in
                try result(id, machine.pause(id), machine)
            }
        case .resume(let selection):
            return try onEach(selection) { id throws(QueueError) in
                let isRevived = try revive(id, &machine, now)
                return try result(id, machine.resume(id) || isRevived, machine, downloads: true)
            }
        case .retry(let selection):
            return try onEach(selection) { id throws(QueueError) in
                if selection.meansCompleted(id),
                    let result = try downloadAgain(id, &machine, now)
                {
                    return result
                }
                let isRevived = try revive(id, &machine, now)
                return try result(id, machine.retry(id) || isRevived, machine, downloads: true)
            }
        case .cancel(let selection, let keepsPart):
            return try onEach(selection) { id throws(QueueError) in
                try takeIn(id, &machine, now)
                if !keepsPart { try takeBackMove(id, machine) }
                let isDone = machine.cancel(id, keepsPart: keepsPart)
                if isDone { try store.update(id) { $0.finished = now.wall } }
                return try result(id, isDone, machine)
            }
        case .remove(let selection, let files):
            return try onEach(selection) { id throws(QueueError) in
                if files, try store.task(id)?.options.hub?.cache != nil {
                    return .refused(id, .keepsCache)
                }
                let entry = machine.entries[id]
                // The part of a task that was just cancelled is deleted in any case.
                let files = files || entry?.chore == .discard
                guard files || entry.map({ $0.fetching != .none }) ?? false else {
                    var result = CommandResult(id, .done)
                    result.left = try whole(id).flatMap(Chores.leftPart)
                    try delete(id)
                    machine.forget(id)
                    return result
                }
                try takeIn(id, &machine, now)
                try takeBackMove(id, machine)
                machine.remove(id, files: files)
                return CommandResult(id, .done)
            }
        case .move(let selection, let position):
            return try onTasks(selection) { ids throws(QueueError) in
                let moved = machine.move(ids, to: position)
                return ids.map {
                    moved.contains($0)
                        ? CommandResult($0, .done)
                        : CommandResult($0, .unchanged, .hasNoPosition)
                }
            }
        case .rename(let selection, let name, let folder):
            return try onEach(selection) { id throws(QueueError) in
                try rename(id, name, folder, &machine, now)
            }
        case .set(let selection, let changes):
            return try onEach(selection) { id throws(QueueError) in
                try set(id, changes, &machine)
            }
        case .tag(let selection, let add, let remove):
            return try onEach(selection) { id throws(QueueError) in
                try store.update(id) { task in
                    task.tags.removeAll(where: remove.contains)
                    for tag in add where !task.tags.contains(tag) { task.tags.append(tag) }
                }
                return CommandResult(id, .done)
            }
        case .markSeen(let selection):
            return try onTasks(selection) { ids throws(QueueError) in
                try store.markSeen(ids)
                return ids.map { CommandResult($0, .done) }
            }
        }
    }

    // MARK: Selections

    /// Carries out a command on the selected tasks, and adds a refusal for each id and tag that no
    /// task has.
    private func onTasks(
        _ selection: TaskSelection,
        _ body: ([QueueTask.ID]) throws(QueueError) -> [CommandResult]
    ) throws(QueueError) -> [CommandResult] {
        var (ids, refusals): ([QueueTask.ID], [CommandResult]) = ([], [])
        for text in selection.ids {
            do throws(QueueError) {
                let id = try self.id(text)
                if !ids.contains(id) { ids.append(id) }
            } catch  where error.code == .noTask {
                refusals.append(.refused(nil, .noTask(error.message)))
            }
        }
        if !selection.states.isEmpty {
            let tasks = try store.tasks(ids).filter { selection.states.contains($0.status.word) }
            ids = tasks.map(\.id)
        }
        for tag in selection.tags {
            guard try store.find(TaskFilter(selection: TaskSelection(tags: [tag]))).isEmpty else {
                continue
            }
            refusals.append(.refused(nil, .noTag(tag)))
        }
        let isByStateAlone = selection.ids.isEmpty && !selection.states.isEmpty
        if selection.isAll || !selection.tags.isEmpty || isByStateAlone {
            var others = selection
            others.ids = []
            let known = Set(ids)
            ids += try store.find(TaskFilter(selection: others)).map(\.id).filter {
                !known.contains($0)
            }
        }
        return refusals + (try body(ids))
    }

    private func onEach(
        _ selection: TaskSelection,
        _ body: (QueueTask.ID) throws(QueueError) -> CommandResult
    ) throws(QueueError) -> [CommandResult] {
        try onTasks(selection) { ids throws(QueueError) in
            var results: [CommandResult] = []
            for id in ids { results.append(try body(id)) }
            return results
        }
    }

    /// The tasks that a selection means, as far as there are any.
    func ids(of selection: TaskSelection) throws(QueueError) -> [QueueTask.ID] {
        var found: [QueueTask.ID] = []
        _ = try onTasks(selection) { ids throws(QueueError) in
            found = ids
            return []
        }
        return found
    }

    /// Returns the task with an id, or with the beginning of one.
    ///
    /// - Throws: `noTask`.
    func id(_ text: String) throws(QueueError) -> QueueTask.ID {
        let isHex =
            !text.isEmpty && text.utf8.count <= 16 && text.utf8.allSatisfy { $0 < 0x80 }
            && text.allSatisfy(\.isHexDigit)
        let found = isHex ? try store.ids(withPrefix: text.lowercased(), most: 2) : []
        guard found.count != 1 else { return found[0] }
        let shown = String(text.prefix(40).filter { !$0.isNewline })
        throw QueueError(found.isEmpty ? .noTaskLike(shown) : .ambiguous(shown))
    }

    private func result(
        _ id: QueueTask.ID, _ isDone: Bool, _ machine: QueueMachine, downloads: Bool = false
    ) throws(QueueError) -> CommandResult {
        guard !isDone else { return CommandResult(id, .done) }
        guard let entry = machine.entries[id] else {
            guard let task = try store.task(id) else {
                return CommandResult(id, .unchanged, .gone)
            }
            let word = task.status.state.word.rawValue
            guard downloads, task.status.state == .completed else {
                return CommandResult(id, .unchanged, .isIn(word))
            }
            return switch FinishedFile.look(at: task) {
            case .there: CommandResult(id, .unchanged, .isIn(word))
            case .changed:
                CommandResult(id, .unchanged, .isWithout(file: .changed, state: word))
            case .missing:
                CommandResult(id, .unchanged, .isWithout(file: .missing, state: word))
                    .then(.again)
            }
        }
        return CommandResult(id, .unchanged, .isIn(entry.status.word.text))
    }
}
