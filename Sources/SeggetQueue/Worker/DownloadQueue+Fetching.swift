import Assembler
import SeggetReports
import Segmenter

// What has a slot, from its beginning to its end.
extension DownloadQueue {
    func start(_ id: QueueTask.ID) {
        let whole: QueueTask?
        do throws(QueueError) {
            whole = try desk().whole(id)
        } catch {
            fail(
                id,
                TaskProblem(
                    .disk, kind: "queue", message: error.message, code: ExitStatus.disk.rawValue))
            return
        }
        guard let task = whole else { return }
        if let problem = TaskProblem(secretsGoneOf: task) { return fail(id, problem) }
        let refresh =
            task.refreshCommand.isEmpty ? nil : configuration.refresh?(task.refreshCommand)
        let download = session.start(
            task.urls[0], to: Self.destination(task), options: Self.options(task), id: id,
            refreshURL: refresh)
        runs[id] = Run(download: download, place: task.place)
        measureSpeed()
        Task { await follow(download) }
    }

    /// Where a task's file goes.
    static func destination(_ task: QueueTask) -> Destination {
        task.place.path.map { .file($0) } ?? .folder(task.place.folderPath)
    }

    /// How a task is fetched: as it says, but for what every task of a queue does.
    static func options(_ task: QueueTask) -> DownloadOptions {
        var options = task.options
        options.waitsForNetwork = true
        options.waitsForNetworkFirst = true
        options.endsToRest = true
        // What a list names is made below what the user has named.
        if options.files.missingFolders == .refused { options.files.missingFolders = .made }
        options.files.umask = task.umask
        if options.files.attributes == .none { options.files.attributes = .proof }
        // What was begun and is gone, as after `cancel`, begins anew.
        let isBegun = task.file != nil || task.lastByte != nil
        let part = task.place.path.map { PartNames($0).part }
        if isBegun, part.map(FinishedFile.anythingStands) != true {
            options.continuesOtherURL = false
        }
        // Somebody else's file is not replaced, and does not stop a task whose name nobody chose.
        options.naming.numbersTaken = task.place.name == nil && !options.overwrite
        return options
    }

    /// A task that cannot even begin.
    private func fail(_ id: QueueTask.ID, _ problem: TaskProblem) {
        Task {
            occur { [self] machine, now throws(QueueError) in
                machine.ended(id, .failed(.fail, problem), now)
                note(nil, of: id, machine)
                try desk().store.update(id) { $0.finished = now.wall }
            }
        }
    }

    /// Follows a download to its end; off the actor's thread, where nearly all events stay.
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

    /// A task has brought its first bytes.
    private func brought(_ id: QueueTask.ID) {
        guard open?.machine.entries[id]?.status.problem != nil else { return }
        occur { machine, _ in machine.progressed(id) }
    }

    private func note(_ id: QueueTask.ID, _ event: DownloadEvent) {
        guard runs[id] != nil else { return }
        switch event {
        case .probed(let file):
            runs[id]?.remote = file
            // A download that began while its task waited for the network has nothing to say of its return.
            if case .waitingForNetwork(let since)? = open?.machine.entries[id]?.status.state {
                let notice = DownloadNotice.networkIsBack(
                    after: .seconds(max(0, now.wall - since)))
                addEvent(id, notice.kind, notice.text)
            }
            networkBack(id)
        case .started(let start): started(id, start)
        case .notice(let notice):
            switch notice {
            // There is one a moment, and they say nothing about the file: only who looks at the task is told.
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

    /// The host of a task can be reached.
    private func networkBack(_ id: QueueTask.ID) {
        guard open?.machine.entries[id]?.isAway == true else { return }
        occur { machine, now in machine.networkBack(id, now) }
    }

    /// Notes what happened to a task; what is recorded of it is at most its last 200 events.
    private func addEvent(_ id: QueueTask.ID, _ event: String, _ message: String) {
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
            let store = try desk().store
            guard try store.task(id) != nil else { return }
            let isOwn = try settle(id, run.place, at: start.path, mark, &machine)
            try store.update(id) { task in
                task.size = start.size
                task.contentType = run.remote?.contentType ?? task.contentType
                task.started = task.started ?? now.wall
                task.file = isOwn ? mark : nil
            }
            machine.networkBack(id, now)
        }
    }

    /// Notes where a task's part or file stands.
    ///
    /// That is not its place, when the task was renamed before this was known, or when another task's file is to go
    /// there: then it is moved; or left alone, where it is the other one's part, of the same URL.
    ///
    /// - Parameters:
    ///   - id: The task, which is there.
    ///   - place: Where its file was to go when this run began.
    ///   - path: Path of the finished file.
    ///   - mark: The part, or the file where it is finished.
    ///   - machine: The rules.
    /// - Returns: Whether it is the task's own.
    /// - Throws: `QueueError`.
    private func settle(
        _ id: QueueTask.ID, _ place: QueueTask.Place, at path: String,
        _ mark: QueueTask.FileMark?, _ machine: inout QueueMachine
    ) throws(QueueError) -> Bool {
        let desk = try desk()
        guard let task = try desk.store.task(id) else { return false }
        var actual = place
        if actual.name == nil { actual.name = FileTarget(path: path).name }
        if task.place.name == nil, task.place.folderPath == actual.folderPath {
            guard let owner = try desk.store.owner(of: actual, but: id) else {
                try desk.store.update(id) { $0.place.name = actual.name }
                return true
            }
            let free = try desk.freePlace(like: actual, but: id)
            try desk.store.update(id) { $0.place.name = free.name }
            let others = try desk.store.task(owner)?.file
            if let entry = machine.entries[id], entry.fetching != QueueMachine.Entry.Fetching.none,
                let mark, others?.inode == mark.inode
            {
                machine.restart(id)
                return false
            }
        }
        guard let wanted = try desk.store.task(id)?.place, wanted.path != actual.path else {
            return true
        }
        switch machine.entries[id]?.chore {
        case .discard?, .remove?: try desk.store.update(id) { $0.place = actual }
        case .move?, nil: machine.moveFiles(id, from: actual)
        }
        return true
    }

    private func ended(
        _ id: QueueTask.ID, _ result: Result<DownloadedFile, DownloadError>, _ lastByte: Double?
    ) {
        guard let run = runs.removeValue(forKey: id) else { return }
        bytesReceived += run.download.progress.bytesReceived
        let isShutDown = isShuttingDown
        occur { [self] machine, now throws(QueueError) in
            let desk = try desk()
            guard let task = try desk.store.task(id) else { return }
            // What a shutdown stops, runs again.
            var ending: QueueMachine.Ending?
            switch result {
            case .success: ending = .completed
            case .failure(let error):
                ending = Self.ending(
                    error, attempts: task.status.attempts, delays: current.retryDelays)
                if isShutDown, ending == .stopped { ending = nil }
                if let seconds = try wayOut(task, after: error, in: desk.store) {
                    ending = .failed(.wait(seconds), TaskProblem(error))
                }
                // The way to all hosts may be away beyond a router that is there: that is no attempt.
                if case .failed(.retry, let problem)? = ending, error.reason.isNetworkLoss,
                    machine.isAnyAway
                {
                    ending = .failed(.wait(FailureRule.networkDelay), problem)
                }
            }
            if let ending { machine.ended(id, ending, now) }
            note(result, of: id, machine)
            if case .success(let file) = result {
                _ = try settle(
                    id, run.place, at: file.path, FinishedFile.mark(of: file.path), &machine)
            }
            let status = machine.entries[id]?.status
            try desk.store.update(id) { task in
                task.lastByte = lastByte ?? task.lastByte
                if task.started == nil { task.started = now.wall }
                switch result {
                case .success(let file): task.finish(file)
                case .failure(let error):
                    task.bytesDone = error.bytesKept
                    // It may have begun anew.
                    if task.file != nil, let path = run.path {
                        task.file = FinishedFile.partMark(at: path) ?? task.file
                    }
                }
                if ending == .completed || status?.isEnded ?? true { task.finished = now.wall }
            }
            try desk.store.addEvents(run.timeline.events + [Self.endEvent(result, now)], of: id)
        }
    }

    /// Gives a task another name, when the one that the server suggests is being fetched to by another task.
    ///
    /// - Returns: Seconds after which it begins again; `nil` when it is not that.
    private func wayOut(
        _ task: QueueTask, after error: DownloadError, in store: QueueStore
    ) throws(QueueError) -> Double? {
        guard case .assembly(.busy) = error.reason, task.place.name == nil, let path = error.path
        else { return nil }
        var place = task.place
        place.name = FileTarget(path: path).name
        if try store.owner(of: place, but: task.id) != nil {
            let free = try desk().freePlace(like: place, but: task.id)
            try store.update(task.id) { $0.place.name = free.name }
            return 0
        }
        // Whose it is may not be recorded yet: both began at once.
        for id in runs.keys where try store.task(id)?.place.folderPath == task.place.folderPath {
            return 1
        }
        return nil
    }

    private static func endEvent(
        _ result: Result<DownloadedFile, DownloadError>, _ now: QueueMachine.Moment
    ) -> TaskEvent {
        switch result {
        case .success(let file) where file.unchanged == .skipped:
            TaskEvent(
                time: now.wall, event: "skipped",
                message: "skipped: the file exists, and was not checked")
        case .success(let file):
            TaskEvent(
                time: now.wall, event: "completed",
                message: "complete and verified, \(Units.size(file.size))"
                    + (file.isPage ? "; \(Summary.pageWarning)" : ""))
        case .failure(let error) where error.reason == .cancelled:
            TaskEvent(
                time: now.wall, event: "stopped",
                message: "stopped"
                    + (error.startsOver == nil
                        ? "" : "; the next start downloads the file from the beginning"))
        case .failure(let error):
            TaskEvent(
                time: now.wall, event: Diagnostic(error).kind, message: Diagnostic(error).message)
        }
    }
}
