import Assembler
import SeggetReports
import Segmenter

// The downloads of tasks with a slot, from their start to their end.
extension DownloadQueue {
    func start(_ id: QueueTask.ID) {
        let whole: QueueTask?
        do throws(QueueError) {
            whole = try coordinator().whole(id)
        } catch {
            return fail(id, TaskProblem(.record(error.message)))
        }
        guard let task = whole else { return }
        if let problem = TaskProblem(secretsGoneOf: task) { return fail(id, problem) }
        if let set = task.fileSet {
            let run = runner.begin(task, set, plan: PlanFolder(files).path(of: id))
            runs[id] = Run(download: run, place: task.place)
            Task { await follow(run) }
        } else {
            let download = runner.begin(task)
            runs[id] = Run(download: download, place: task.place)
            Task { await follow(download) }
        }
        measureSpeed()
    }

    /// Records the failure of a task that cannot start.
    private func fail(_ id: QueueTask.ID, _ problem: TaskProblem) {
        Task {
            occur { [self] machine, now throws(QueueError) in
                machine.ended(id, .failed(.fail, problem), now)
                note(nil, of: id, machine)
                try coordinator().store.update(id) { $0.finished = now.wall }
            }
        }
    }

    /// Follows a download to its end, off the actor's thread, which gets only few of the events.
    private nonisolated func follow(_ download: Download) async {
        var (phase, received): (DownloadProgress.Phase?, Int64) = (nil, 0)
        var lastByte: Double?
        for await event in download.events {
            guard case .progress(let progress) = event else {
                await note(download.id, event)
                continue
            }
            if progress.bytesReceived > received {
                if received == 0 { await brought(download.id) }
                received = progress.bytesReceived
                lastByte = secondsSince1970()
            }
            guard progress.phase != phase else { continue }
            phase = progress.phase
            await note(download.id, event)
        }
        await ended(download.id, await download.result, lastByte)
    }

    /// A task has received its first bytes.
    func brought(_ id: QueueTask.ID) {
        guard open?.machine.entries[id]?.status.problem != nil else { return }
        occur { machine, _ in machine.progressed(id) }
    }

    func note(_ id: QueueTask.ID, _ event: DownloadEvent) {
        guard runs[id] != nil else { return }
        switch event {
        case .probed(let file):
            runs[id]?.remote = file
            // A download that started while its task waited for the network does not report its
            // return.
            if case .waitingForNetwork(let since)? = open?.machine.entries[id]?.status.state {
                let notice = DownloadNotice.networkIsBack(
                    after: .seconds(max(0, now.wall - since)))
                addEvent(id, notice.kind, notice.text)
            }
            networkBack(id)
        case .started(let start): started(id, start)
        case .notice(let notice):
            switch notice {
            // These are frequent, and not about the file: only the details of the task show them.
            case .stole, .hedged:
                runs[id]?.timeline.addFrequent(
                    TaskEvent(
                        time: secondsSince1970(), event: notice.kind, message: notice.text))
            default: addEvent(id, notice.kind, notice.text)
            }
            switch notice {
            case .waitingForNetwork: occur { machine, now in machine.networkLost(id, now) }
            case .networkIsBack: networkBack(id)
            default: break
            }
        case .progress(let progress):
            let isVerifying = [.verifying, .publishing].contains(progress.phase)
            occur { machine, _ in machine.verifying(id, isVerifying) }
        default: break
        }
    }

    /// The host of a task is reachable.
    func networkBack(_ id: QueueTask.ID) {
        guard open?.machine.entries[id]?.isAway == true else { return }
        occur { machine, now in machine.networkBack(id, now) }
    }

    /// Notes an event of a task; at most its last 200 events are recorded.
    func addEvent(_ id: QueueTask.ID, _ event: String, _ message: String) {
        let event = TaskEvent(time: secondsSince1970(), event: event, message: message)
        runs[id]?.timeline.add(event)
        subscribers.tell(.notice(id, event))
    }

    private func started(_ id: QueueTask.ID, _ start: DownloadStart) {
        runs[id]?.identity = start.identity
        runs[id]?.path = start.path
        guard let run = runs[id] else { return }
        let mark = FinishedFile.partMark(at: start.path)
        occur { [self] machine, now throws(QueueError) in
            try coordinator().recordStart(
                of: id, start, type: run.remote?.contentType, from: run.place, mark, &machine, now)
        }
    }

    private func ended(
        _ id: QueueTask.ID, _ result: Result<DownloadedFile, DownloadError>, _ lastByte: Double?
    ) {
        guard let run = runs.removeValue(forKey: id) else { return }
        bytesReceived += run.download.progress.bytesReceived
        let isShutDown = isShuttingDown
        occur { [self] machine, now throws(QueueError) in
            let coordinator = try coordinator()
            guard let task = try coordinator.store.task(id) else { return }
            var ending: QueueMachine.Ending? = .completed
            if case .failure(let error) = result {
                ending = try coordinator.ending(
                    of: task, error, delays: current.retryDelays, besides: Set(runs.keys), machine)
                // A download that a shutdown stops runs again later.
                if isShutDown, ending == .stopped { ending = nil }
            }
            if let ending { machine.ended(id, ending, now) }
            note(result, of: id, machine)
            try coordinator.recordEnd(
                of: id, result, ending, from: run.place, path: run.path, lastByte: lastByte,
                &machine, now)
            try coordinator.store.addEvents(
                run.timeline.events + [Self.endEvent(result, now)], of: id)
        }
    }

    private static func endEvent(
        _ result: Result<DownloadedFile, DownloadError>, _ now: QueueMachine.Moment
    ) -> TaskEvent {
        switch result {
        case .success(let file) where file.unchanged == .skipped:
            TaskEvent(
                time: now.wall, event: "skipped", message: TaskEnding.skipped.text)
        case .success(let file):
            TaskEvent(
                time: now.wall, event: TaskStatus.Word.completed.rawValue,
                message: TaskEnding.completed(size: file.size, isPage: file.isPage).text)
        case .failure(let error) where error.reason == .cancelled:
            TaskEvent(
                time: now.wall, event: "stopped",
                message: TaskEnding.stopped(startsOver: error.startsOver != nil).text)
        case .failure(let error):
            TaskEvent(
                time: now.wall, event: Diagnostic(error).kind, message: Diagnostic(error).message)
        }
    }
}
