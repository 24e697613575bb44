import Assembler
import SeggetReports
import Segmenter

// The start and the end of downloads, in the records.
extension QueueCoordinator {
    /// Records that a download has its destination.
    ///
    /// - Parameters:
    ///   - id: The task.
    ///   - start: The start of the download.
    ///   - type: The `Content-Type` of the file; `nil` if unknown.
    ///   - place: The place of the task's file when this run began.
    ///   - mark: The part, or the file if it is finished.
    ///   - machine: The rules.
    ///   - now: The time.
    /// - Throws: `QueueError`.
    func recordStart(
        of id: QueueTask.ID, _ start: DownloadStart, type: String?, from place: QueueTask.Place,
        _ mark: QueueTask.FileMark?, _ machine: inout QueueMachine, _ now: QueueMachine.Moment
    ) throws(QueueError) {
        guard try store.task(id) != nil else { return }
        let isOwn = try settle(id, place, at: start.path, mark, &machine)
        try store.update(id) { task in
            task.size = start.size
            task.contentType = type ?? task.contentType
            task.started = task.started ?? now.wall
            task.file = isOwn ? mark : nil
        }
        machine.networkBack(id, now)
    }

    /// Returns how a task ends whose download has failed.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - error: The failure.
    ///   - delays: Seconds after which a failed task is retried, one after the other.
    ///   - running: The other tasks that are being downloaded.
    ///   - machine: The rules.
    /// - Returns: The ending.
    /// - Throws: `QueueError`.
    func ending(
        of task: QueueTask, _ error: DownloadError, delays: [Double],
        besides running: Set<QueueTask.ID>, _ machine: QueueMachine
    ) throws(QueueError) -> QueueMachine.Ending {
        if let seconds = try delay(of: task, afterBusy: error, besides: running) {
            return .failed(.wait(seconds), TaskProblem(error))
        }
        let ending = Self.ending(
            FailureRule(error), TaskProblem(error), attempts: task.status.attempts, delays: delays)
        // The route may be lost beyond a router that still answers; that is not an attempt.
        if case .failed(.retry, let problem) = ending, error.reason.isNetworkLoss,
            machine.isAnyAway
        {
            return .failed(.wait(FailureRule.networkDelay), problem)
        }
        return ending
    }

    /// Records the end of a download, after the machine has taken it.
    ///
    /// - Parameters:
    ///   - id: The task.
    ///   - result: The result of the download.
    ///   - ending: How the task ends; `nil` if a shutdown has stopped it.
    ///   - place: The place of the task's file when this run began.
    ///   - path: The path of the file during this run; `nil` if it was not known.
    ///   - lastByte: The time of the last received byte; `nil` if none was received.
    ///   - machine: The rules.
    ///   - now: The time.
    /// - Throws: `QueueError`.
    func recordEnd(
        of id: QueueTask.ID, _ result: Result<DownloadedFile, DownloadError>,
        _ ending: QueueMachine.Ending?, from place: QueueTask.Place, path: String?,
        lastByte: Double?, _ machine: inout QueueMachine, _ now: QueueMachine.Moment
    ) throws(QueueError) {
        if case .success(let file) = result {
            _ = try settle(id, place, at: file.path, FinishedFile.mark(of: file.path), &machine)
        }
        let status = machine.entries[id]?.status
        try store.update(id) { task in
            task.lastByte = lastByte ?? task.lastByte
            if task.started == nil { task.started = now.wall }
            switch result {
            case .success(let file): task.finish(file)
            case .failure(let error):
                task.bytesDone = error.bytesKept
                // The download may have started over.
                if task.file != nil, let path {
                    task.file = FinishedFile.partMark(at: path) ?? task.file
                }
            }
            if ending == .completed || status?.isEnded ?? true { task.finished = now.wall }
        }
    }

    /// Records the place of a task's part or file.
    ///
    /// If the task was renamed before the place was known, or another task has the place, the file
    /// is moved; but if it is the other task's part of the same URL, it remains.
    ///
    /// - Parameters:
    ///   - id: The task, which is there.
    ///   - place: The place of the task's file when this run began.
    ///   - path: The path of the finished file.
    ///   - mark: The part, or the file if it is finished.
    ///   - machine: The rules.
    /// - Returns: Whether it is the task's own.
    /// - Throws: `QueueError`.
    private func settle(
        _ id: QueueTask.ID, _ place: QueueTask.Place, at path: String,
        _ mark: QueueTask.FileMark?, _ machine: inout QueueMachine
    ) throws(QueueError) -> Bool {
        guard let task = try store.task(id) else { return false }
        var actual = place
        if actual.name == nil { actual.name = FileTarget(path: path).name }
        if task.place.name == nil, task.place.folderPath == actual.folderPath {
            guard let owner = try store.owner(of: actual, but: id) else {
                try store.update(id) { $0.place.name = actual.name }
                return true
            }
            let free = try freePlace(like: actual, but: id)
            try store.update(id) { $0.place.name = free.name }
            let others = try store.task(owner)?.file
            if let entry = machine.entries[id], entry.fetching != QueueMachine.Entry.Fetching.none,
                let mark, others?.inode == mark.inode
            {
                machine.restart(id)
                return false
            }
        }
        guard let wanted = try store.task(id)?.place, wanted.path != actual.path else {
            return true
        }
        switch machine.entries[id]?.chore {
        case .discard?, .remove?: try store.update(id) { $0.place = actual }
        case .move?, nil: machine.moveFiles(id, from: actual)
        }
        return true
    }

    /// Gives a task another name if another task downloads to the name that the server suggests.
    ///
    /// - Returns: Seconds after which the task runs again; `nil` for another failure.
    private func delay(
        of task: QueueTask, afterBusy error: DownloadError, besides running: Set<QueueTask.ID>
    ) throws(QueueError) -> Double? {
        guard case .assembly(.busy) = error.reason, task.place.name == nil, let path = error.path
        else { return nil }
        var place = task.place
        place.name = FileTarget(path: path).name
        if try store.owner(of: place, but: task.id) != nil {
            let free = try freePlace(like: place, but: task.id)
            try store.update(task.id) { $0.place.name = free.name }
            return 0
        }
        // The owner may not be recorded yet, because both started at the same time.
        for id in running where try store.task(id)?.place.folderPath == task.place.folderPath {
            return 1
        }
        return nil
    }

    /// Returns the ending of a download that failed or was stopped.
    ///
    /// - Parameters:
    ///   - rule: The meaning of the failure.
    ///   - problem: The failure.
    ///   - attempts: The number of transient failures since it last received data.
    ///   - delays: Seconds before each retry, in order.
    /// - Returns: The ending.
    static func ending(
        _ rule: FailureRule, _ problem: TaskProblem, attempts: Int, delays: [Double]
    ) -> QueueMachine.Ending {
        let step: QueueMachine.FailureStep
        switch FailureRule.next(after: rule, attempts: attempts, delays: delays) {
        case .stop: return .stopped
        case .retry(let seconds): step = .retry(after: min(seconds, FailureRule.longestWait))
        case .wait(let seconds): step = .wait(seconds)
        case .waitForSpace: step = .wait(FailureRule.spaceDelay)
        case .fail: step = .fail
        }
        return .failed(step, problem)
    }
}
