import Segmenter

// What becomes of the records when something was done on the disk.
extension QueueCoordinator {
    /// Records that a task's chore is done, or cannot be.
    ///
    /// What could not be done is not tried again: the record says why, and the task is where its file is.
    ///
    /// - Parameters:
    ///   - id: The task.
    ///   - task: What it was when the chore began; `nil` when there was nothing to do.
    ///   - outcome: How it ended.
    ///   - machine: The rules.
    ///   - now: The time.
    /// - Throws: `QueueError`.
    func choreDone(
        _ id: QueueTask.ID, _ task: QueueTask?, _ outcome: Chores.Outcome,
        _ machine: inout QueueMachine, _ now: QueueMachine.Moment
    ) throws(QueueError) {
        switch (task?.chore, outcome) {
        // It is gone on with when the queue is opened next.
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
            // On another file system it is another file, with the same content.
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
