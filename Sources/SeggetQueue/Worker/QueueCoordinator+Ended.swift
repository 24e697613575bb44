import SeggetReports
import Segmenter

// Tasks that have ended: running them again, and removing them.
extension QueueCoordinator {
    /// Adds a task that has ended to the machine.
    func takeIn(
        _ id: QueueTask.ID, _ machine: inout QueueMachine, _ now: QueueMachine.Moment
    ) throws(QueueError) {
        guard machine.entries[id] == nil, let task = try store.task(id) else { return }
        machine.insert(Self.entry(task), now)
    }

    /// Cancels a move that has not started, so that the file is deleted at its earlier place.
    func takeBackMove(
        _ id: QueueTask.ID, _ machine: QueueMachine
    ) throws(QueueError) {
        guard case .move(let place)? = machine.entries[id]?.chore else { return }
        try store.update(id) { $0.place = place }
    }

    /// Lets a task that failed or was cancelled wait again.
    ///
    /// - Returns: Whether it does.
    func revive(
        _ id: QueueTask.ID, _ machine: inout QueueMachine, _ now: QueueMachine.Moment
    ) throws(QueueError) -> Bool {
        // The part of a cancelled task may still be being deleted.
        if machine.entries[id]?.status.state == .cancelled { return machine.retry(id) }
        guard let task = try store.task(id), [.failed, .cancelled].contains(task.status.state),
            machine.entries[id]?.chore == nil
        else { return false }
        try fetchAgain(task, at: .last, &machine, now)
        return true
    }

    /// Lets a task that has ended wait again.
    func fetchAgain(
        _ task: QueueTask, at position: QueuePosition, isPaused: Bool = false,
        _ machine: inout QueueMachine, _ now: QueueMachine.Moment
    ) throws(QueueError) {
        var task = task
        // The part of a task that failed, or was cancelled and kept its part, is resumed.
        if task.status.state == .completed { (task.file, task.bytesDone) = (nil, 0) }
        task.status.state = .waiting
        task.status.wanted = isPaused ? .paused : .run
        task.status.attempts = 0
        task.status.problem = nil
        task.finished = nil
        task.isSeen = false
        task.verified = []
        try store.update(task)
        machine.insert(Self.entry(task), at: position, now)
    }

    static func entry(_ task: QueueTask) -> QueueMachine.Entry {
        QueueMachine.Entry(
            id: task.id, status: task.status, host: DownloadSession.origin(of: task.urls[0]),
            chore: task.chore)
    }

    /// Downloads a completed task again if its file is gone.
    ///
    /// A file that was changed belongs to the user: it is neither replaced nor downloaded beside
    /// itself.
    ///
    /// - Returns: The result; `nil` for any other task.
    func downloadAgain(
        _ id: QueueTask.ID, _ machine: inout QueueMachine, _ now: QueueMachine.Moment
    ) throws(QueueError) -> CommandResult? {
        guard machine.entries[id] == nil, let task = try store.task(id),
            task.status.state == .completed, FinishedFile.look(at: task) == .missing
        else { return nil }
        try fetchAgain(task, at: .last, &machine, now)
        return CommandResult(id, .done, .waitsAgain)
    }
}

extension TaskSelection {
    /// Returns whether the selection names a completed task by its id or state.
    ///
    /// `retry --all` is for failed tasks. It must not download files again that the user has moved.
    func meansCompleted(_ id: QueueTask.ID) -> Bool {
        states.contains(.completed)
            || ids.contains { id.description.hasPrefix($0.lowercased()) }
    }
}
