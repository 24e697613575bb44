import Segmenter

// The records after a chore.
extension QueueCoordinator {
    /// Records that a task's chore is done, or has failed.
    ///
    /// A failed chore is not retried: the record has the reason, and the task the place of its
    /// file.
    ///
    /// - Parameters:
    ///   - id: The task.
    ///   - task: The task when the chore started; `nil` if there was nothing to do.
    ///   - outcome: The end of the chore.
    ///   - machine: The rules.
    ///   - now: The time.
    /// - Throws: `QueueError`.
    func choreDone(
        _ id: QueueTask.ID, _ task: QueueTask?, _ outcome: Chores.Outcome,
        _ machine: inout QueueMachine, _ now: QueueMachine.Moment
    ) throws(QueueError) {
        switch (task?.chore, outcome) {
        // It continues when the queue is opened next.
        case (_, .cancelled): break
        case (.remove?, .done), (.remove?, .left):
            try delete(id)
            machine.choreDone(id, isRemoved: true, now)
        case (.discard?, .done):
            try store.update(id) { task in
                task.file = nil
                task.bytesDone = 0
            }
            machine.choreDone(id, isRemoved: false, now)
        case (.move(let old)?, .failed(let problem)):
            try store.update(id) { $0.place = old }
            machine.choreDone(id, isRemoved: false, problem: problem, now)
        case (_, .moved(let mark)):
            // On another file system, it has a new identity.
            try store.update(id) { task in
                var mark = mark
                (mark.isSkipped, mark.isPage) = (task.file?.isSkipped, task.file?.isPage)
                task.file = mark
            }
            machine.choreDone(id, isRemoved: false, now)
        case (_, .failed(let problem)):
            machine.choreDone(id, isRemoved: false, problem: problem, now)
        case (.move?, .done), (nil, .done), (_, .left): machine.choreDone(id, isRemoved: false, now)
        }
    }
}
