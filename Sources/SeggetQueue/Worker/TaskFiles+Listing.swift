import Assembler
import SeggetReports
import Segmenter

// The files of tasks, as far as a window shows them.
extension TaskFiles {
    /// The files of a set with what is known about them, each by its index in the plan.
    struct Known: Sendable {
        var plan: PlanFile
        var states: [TaskFile.State]
        /// The path of the folder of the files; `nil` for that of the task.
        var folder: String?
        var active: [Int: DownloadProgress] = [:]
        var problems: [Int: TaskProblem] = [:]
    }

    /// Creates the list of the files of a set; blocks on the disk.
    ///
    /// - Throws: `QueueError`, if the plan can no longer be read.
    init(_ task: QueueTask, _ known: Known, _ window: FileWindow) throws(QueueError) {
        var counts: [String: Int] = [:]
        var (files, matching): ([TaskFile], Int) = ([], 0)
        for (index, state) in known.states.enumerated() {
            counts[state.rawValue, default: 0] += 1
            guard window.states.isEmpty || window.states.contains(state) else { continue }
            matching += 1
            guard matching > window.offset, files.count < window.limit else { continue }
            let file: Listing.File
            do throws(PlanError) {
                file = try known.plan.file(at: index)
            } catch {
                throw Self.unreadable(error, known.plan.path)
            }
            let progress = known.active[index]
            let bytes = progress.map { $0.bytesDone + $0.bytesVerifying }
            files.append(
                TaskFile(
                    index: index, path: file.path, state: state,
                    size: file.size ?? progress?.size,
                    bytesDone: state == .complete ? file.size ?? 0 : bytes ?? 0,
                    url: DownloadSession.redacted(file.address),
                    error: state == .failed ? known.problems[index]?.forClients : nil))
        }
        self.init(
            id: task.id, folder: known.folder ?? task.place.folderPath, files: files,
            matching: matching,
            counts: counts)
    }

    /// Creates the list of the file of a task without a set.
    init(_ task: QueueTask, _ report: TaskReport, _ window: FileWindow) {
        let state: TaskFile.State =
            switch report.state {
            case .completed: .complete
            case .running, .verifying, .waitingForNetwork: .active
            case .failed: .failed
            default: .missing
            }
        let isShown = window.states.isEmpty || window.states.contains(state)
        let file = TaskFile(
            index: 0, path: task.place.name ?? "", state: state, size: report.size,
            bytesDone: report.bytesDone, url: report.currentURL ?? report.url,
            error: state == .failed ? report.error : nil)
        self.init(
            id: task.id, folder: task.place.folderPath,
            files: isShown && window.offset == 0 && window.limit > 0 ? [file] : [],
            matching: isShown ? 1 : 0, counts: [state.rawValue: 1])
    }

    /// Creates the list of the files of a set without a run, by the records in its folder; blocks
    /// on the disk.
    ///
    /// - Throws: `QueueError`, if the plan can no longer be read.
    init(recorded task: QueueTask, plan path: String, _ window: FileWindow) throws(QueueError) {
        let plan: PlanFile
        do throws(PlanError) {
            plan = try PlanFile(path)
        } catch {
            throw Self.unreadable(error, path)
        }
        let known: Known
        do throws(SetError) {
            if let cache = task.options.hub?.cache {
                known = try Self.recorded(plan, inCache: cache)
            } else {
                known = try Self.recorded(plan, in: task.place.folderPath)
            }
        } catch {
            throw QueueError(.planLost(path, reason: TaskProblem(error).message))
        }
        try self.init(task, known, window)
    }

    /// Returns what the records in the folder of a set state about its files.
    private static func recorded(
        _ plan: PlanFile, in folder: String
    ) throws(SetError) -> Known {
        let recorded = try SetStates(plan, in: folder)
        var known = Known(plan: plan, states: recorded.isComplete.map { $0 ? .complete : .missing })
        for (index, failure) in recorded.failures where !recorded.isComplete[index] {
            known.states[index] = .failed
            known.problems[index] = TaskProblem(failure)
        }
        return known
    }

    /// Returns what the records in the Hub's cache state about the files of a plan.
    private static func recorded(
        _ plan: PlanFile, inCache cache: String
    ) throws(SetError) -> Known {
        let snapshot = try HubSnapshot(plan, in: cache, writes: false)
        let recorded = try snapshot.recorded()
        var known = Known(plan: plan, states: [], folder: snapshot.folder)
        for index in 0..<plan.count {
            let name = (try? plan.file(at: index))?.strongestDigest?.hex ?? ""
            known.problems[index] = recorded.failures[name].map { TaskProblem($0) }
            known.states.append(
                recorded.complete.contains(name)
                    ? .complete : known.problems[index] == nil ? .missing : .failed)
        }
        return known
    }

    private static func unreadable(_ error: PlanError, _ path: String) -> QueueError {
        QueueError(.planLost(path, reason: CommandRefusal.plan(error, path: path).message))
    }
}

extension TaskProblem {
    /// Creates the problem of a file from its record.
    fileprivate init(_ failure: SetFailure) {
        self.init(
            kind: failure.kind, message: failure.message, hint: failure.hint ?? "",
            code: failure.code)
    }
}

extension DownloadQueue {
    /// Returns a part of the files of a task.
    public func files(
        _ selector: String, _ window: FileWindow
    ) async throws(QueueError) -> TaskFiles {
        let coordinator = try coordinator()
        let id = try coordinator.id(selector)
        guard let task = try coordinator.store.task(id) else { throw QueueError(.taskRemoved(id)) }
        guard task.fileSet != nil else {
            return TaskFiles(
                task, TaskReport(task, position: nil, run: RunFigures(runs[id])), window)
        }
        let known = (runs[id]?.download as? SetRun)?.files
        let plan = PlanFolder(files).path(of: id)
        return try await offLoop("files") { () throws(QueueError) in
            guard let known else { return try TaskFiles(recorded: task, plan: plan, window) }
            return try TaskFiles(task, known, window)
        }
    }
}
