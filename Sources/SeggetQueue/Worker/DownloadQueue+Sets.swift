import Assembler
import SeggetReports
import Segmenter

// The runs of tasks that download data sets, from their start to their end.
extension DownloadQueue {
    /// Follows a run to its end, off the actor's thread.
    nonisolated func follow(_ run: SetRun) async {
        var hasReceived = false
        var lastByte: Double?
        for await event in run.events {
            switch event {
            case .received:
                if !hasReceived { await brought(run.id) }
                hasReceived = true
                lastByte = secondsSince1970()
            case .began: await began(run.id)
            case .lostNetwork(let notice): await note(run.id, .notice(notice))
            case .hasNetwork(let notice?): await note(run.id, .notice(notice))
            case .hasNetwork(nil): await networkBack(run.id)
            case .waits(let message): await addEvent(run.id, "waiting", message.text)
            }
        }
        await ended(run, await run.ending, lastByte)
    }

    /// The run knows which files are complete.
    private func began(_ id: QueueTask.ID) {
        guard let set = runs[id]?.download.fileSet, let size = runs[id]?.download.progress.size
        else { return }
        occur { [self] _, now throws(QueueError) in
            let store = try coordinator().store
            guard try store.task(id) != nil else { return }
            try store.update(id) { task in
                (task.fileSet, task.size) = (set, size)
                task.started = task.started ?? now.wall
            }
        }
    }

    private func ended(_ run: SetRun, _ end: SetRun.Ending, _ lastByte: Double?) {
        let id = run.id
        guard let timeline = runs.removeValue(forKey: id)?.timeline else { return }
        let progress = run.progress
        bytesReceived += progress.bytesReceived
        let isShutDown = isShuttingDown
        let set = run.fileSet
        occur { [self] machine, now throws(QueueError) in
            let coordinator = try coordinator()
            guard let task = try coordinator.store.task(id) else { return }
            let ending = coordinator.ending(
                of: task, end, delays: current.retryDelays, isShutDown: isShutDown, machine)
            if let ending { machine.ended(id, ending, now) }
            var result: Result<DownloadedFile, DownloadError>?
            if case .completed(let file) = end { result = .success(file) }
            note(result, of: id, machine)
            let isEnded = ending == .completed || machine.entries[id]?.status.isEnded ?? true
            try coordinator.store.update(id) { task in
                task.lastByte = lastByte ?? task.lastByte
                if task.started == nil { task.started = now.wall }
                (task.fileSet, task.size) = (set ?? task.fileSet, progress.size ?? task.size)
                task.bytesDone = progress.bytesDone
                if isEnded { task.finished = now.wall }
            }
            var events = timeline.events
            if let problem = run.unrecorded, !end.is(problem) {
                events.append(
                    TaskEvent(time: now.wall, event: problem.kind, message: problem.message))
            }
            events.append(Self.endEvent(end, set, size: progress.bytesDone, now))
            try coordinator.store.addEvents(events, of: id)
        }
    }

    private static func endEvent(
        _ end: SetRun.Ending, _ set: FileSet?, size: Int64, _ now: QueueMachine.Moment
    ) -> TaskEvent {
        let (files, done) = (set?.files ?? 0, set?.filesDone ?? 0)
        return switch end {
        case .completed:
            TaskEvent(
                time: now.wall, event: TaskStatus.Word.completed.rawValue,
                message: SetEnding.completed(files: files, size: size).text)
        case .stopped:
            TaskEvent(
                time: now.wall, event: "stopped",
                message: SetEnding.stopped(done: done, of: files).text)
        case .failed(_, let problem, _):
            TaskEvent(time: now.wall, event: problem.kind, message: problem.message)
        }
    }
}

extension QueueCoordinator {
    /// Returns how a task ends whose run of a data set has ended; `nil` if a shutdown has stopped
    /// it, so that it runs again later.
    func ending(
        of task: QueueTask, _ end: SetRun.Ending, delays: [Double], isShutDown: Bool,
        _ machine: QueueMachine
    ) -> QueueMachine.Ending? {
        switch end {
        case .completed: return .completed
        case .stopped: return isShutDown ? nil : .stopped
        case .failed(let rule, let problem, let isNetworkLoss):
            let ending = Self.ending(
                rule, problem, attempts: task.status.attempts, delays: delays)
            if case .failed(.retry, _) = ending, isNetworkLoss, machine.isAnyAway {
                return .failed(.wait(FailureRule.networkDelay), problem)
            }
            return ending
        }
    }
}
