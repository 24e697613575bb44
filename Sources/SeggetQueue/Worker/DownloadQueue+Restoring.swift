import Assembler
import SeggetReports
import Segmenter

// The records after a worker was killed.
extension DownloadQueue {
    /// Updates the records to the files on the disk, in case the last worker was killed.
    ///
    /// - Throws: `QueueError`.
    static func restore(_ store: QueueStore, _ now: QueueMachine.Moment) throws(QueueError) {
        for id in try store.begun() {
            guard let record = try store.task(id), let target = Chores.target(record.place) else {
                continue
            }
            let task = try store.secrets(of: id)?.merged(into: record) ?? record
            let (there, origin): (Assembly.Standing, Assembly.Standing?)
            do throws(AssemblyError) {
                there = try Assembly.standing(at: target, owner: Chores.owner(task))
                origin = try task.origin.map { (place) throws(AssemblyError) in
                    try Assembly.standing(at: place, owner: Chores.owner(task))
                }
            } catch {
                // The next download of the task fails the same way, and reports it.
                continue
            }
            switch Restoration(record, at: there, movingFrom: origin) {
            case .complete(let status), .completeAndFinishChore(let status):
                try store.update(id) { task in
                    task.status.state = .completed
                    task.status.problem = nil
                    task.size = status.size
                    task.bytesDone = status.size
                    task.finished = now.wall
                    task.file = QueueTask.FileMark(status)
                    if task.chore == .discard { task.chore = nil }
                }
                try store.addEvents(
                    [
                        TaskEvent(
                            time: now.wall, event: TaskStatus.Word.completed.rawValue,
                            message: TaskEnding.completedBefore.text)
                    ], of: id)
            case .leave, .runAgain, .finishChore: break
            }
        }
    }
}

extension QueueTask {
    /// The path from which its file is to be moved; `nil` if it is not.
    fileprivate var origin: FileTarget? {
        if case .move(let place)? = chore { Chores.target(place) } else { nil }
    }
}
