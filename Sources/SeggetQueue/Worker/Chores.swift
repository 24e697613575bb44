import Assembler
import SeggetReports
import Segmenter

/// The work on the disk for a task without a download; blocks.
enum Chores {
    /// The end of a chore.
    enum Outcome: Sendable, Hashable {
        /// It is done.
        case done
        /// The file was moved, and has a new identity.
        case moved(QueueTask.FileMark)
        /// The task can be removed; this part remains.
        case left(CommandResult.LeftPart)
        /// It failed for this reason; the files remain where they are.
        case failed(TaskProblem)
        /// It was cancelled, and the files are unchanged.
        case cancelled
    }

    /// Does a task's chore; a second time does no harm.
    ///
    /// - Parameters:
    ///   - task: The task, with its secrets.
    ///   - plans: The plans of data sets.
    ///   - isCancelled: Is called repeatedly while bytes are copied, or many files are removed.
    /// - Returns: The end of the chore.
    static func run(
        _ task: QueueTask, _ plans: PlanFolder, isCancelled: () -> Bool = { false }
    ) -> Outcome {
        if task.fileSet != nil { return run(ofSet: task, plans, isCancelled) }
        do throws(AssemblyError) {
            switch task.chore {
            case .discard: try discard(task)
            case .remove(let files):
                guard files else { return leftPart(task).map(Outcome.left) ?? .done }
                try discard(task)
                if let target = target(task.place), let version = task.file?.version {
                    _ = try Assembly.removeFinished(at: target, version, owner: owner(task))
                }
            case .move(let old):
                guard let from = target(old), let to = target(task.place) else { break }
                try MadeFolders(umask: task.umask).make(to.folder, .made)
                let isFinished = task.status.state == .completed
                let moved = try Assembly.move(
                    from: from, to: to, owner: owner(task),
                    finished: isFinished ? task.file?.version : nil, isCancelled: isCancelled)
                switch moved {
                case .part(let identity):
                    return .moved(
                        .init(
                            device: identity.device, inode: identity.inode,
                            generation: task.file?.generation))
                case .finished(let status): return .moved(.init(status))
                case .nothing where isFinished: return .failed(notMoved(task, from: old))
                case .nothing: break
                case .cancelled: return .cancelled
                }
            case nil: break
            }
            return .done
        } catch {
            return .failed(
                TaskProblem(
                    DownloadError(
                        reason: .assembly(error), url: DownloadSession.redacted(task.url),
                        path: task.place.path, bytesKept: task.bytesDone)))
        }
    }

    /// Does the chore of a data set.
    private static func run(
        ofSet task: QueueTask, _ plans: PlanFolder, _ isCancelled: () -> Bool
    ) -> Outcome {
        let removesFiles: Bool
        switch task.chore {
        case .discard: removesFiles = false
        case .remove(files: true): removesFiles = true
        // Its files are not moved.
        case .remove(files: false), .move, nil: return .done
        }
        // Without its plan, nothing is known to belong to the task.
        guard let plan = try? PlanFile(plans.path(of: task.id)) else { return .done }
        do throws(SetError) {
            if let cache = task.options.hub?.cache {
                // Complete files are of use to other programs.
                try HubSnapshot(plan, in: cache).removeParts()
                return .done
            }
            let isDone = try SetFolder.remove(
                plan, from: task.place.folderPath, files: removesFiles, isCancelled: isCancelled)
            return isDone ? .done : .cancelled
        } catch {
            return .failed(TaskProblem(error))
        }
    }

    private static func discard(_ task: QueueTask) throws(AssemblyError) {
        guard let target = target(task.place) else { return }
        let known = task.file.map { FileIdentity(device: $0.device, inode: $0.inode) }
        _ = try Assembly.discard(at: target, owner: owner(task), known: known)
    }

    /// Finds the part of an incomplete task.
    ///
    /// - Parameter task: The task, with its secrets.
    /// - Returns: The part; `nil` if none is known to belong to this task.
    static func leftPart(_ task: QueueTask) -> CommandResult.LeftPart? {
        guard task.status.state != .completed, let target = target(task.place),
            let path = task.place.path,
            let there = try? Assembly.standing(at: target, owner: owner(task)),
            case .ours = there.part, case .ours(let record) = there.manifest
        else { return nil }
        let part = PartNames(path).part
        let occupied = FinishedFile.occupiedBytes(at: part) ?? 0
        // Some file systems count no blocks.
        return CommandResult.LeftPart(path: part, bytes: max(occupied, record.bytes))
    }

    /// Returns what identifies a task's part: the URLs for which it may have been started, and the
    /// recorded part.
    static func owner(_ task: QueueTask) -> PartOwner {
        PartOwner(
            urls: [task.url] + task.urls + task.options.mirrors,
            generation: task.file?.generation)
    }

    private static func notMoved(_ task: QueueTask, from old: QueueTask.Place) -> TaskProblem {
        TaskProblem(.notMoved(old.path ?? task.url))
    }

    /// Returns the path of a task's file; `nil` while it has no name.
    static func target(_ place: QueueTask.Place) -> FileTarget? {
        place.name.map { FileTarget(folder: place.folderPath, name: $0) }
    }
}

extension QueueTask.FileMark {
    /// Creates the mark of a finished file.
    init(_ status: FileStatus) {
        self.init(
            device: status.identity.device, inode: status.identity.inode, size: status.size,
            modified: status.modified)
    }

    /// The version of the finished file; `nil` for a part.
    var version: FileVersion? {
        guard let size, let modified else { return nil }
        return FileVersion(
            identity: FileIdentity(device: device, inode: inode), size: size, modified: modified)
    }
}

extension TaskProblem {
    /// Creates the problem of a failed download.
    init(_ error: DownloadError) {
        let diagnostic = Diagnostic(error)
        self.init(
            NextStep(after: error), kind: diagnostic.kind, message: diagnostic.message,
            code: diagnostic.status.rawValue)
        let facts = FailureFacts(error.reason)
        (status, curlCode, errno) = (facts.status, facts.curlCode, facts.errno)
        if error.bytesKept > 0, error.startsOver != nil { startsOver = true }
    }

    /// Creates the problem of a data set whose records could not be written.
    init(unrecorded error: AssemblyError) {
        let texts = SetWords.unrecorded(error).map(\.text)
        let next = if case .space = FailureRule(error) { NextStep.space } else { NextStep.disk }
        self.init(
            next, kind: SetWords.kind(unrecorded: error), message: texts.joined(separator: "; "),
            code: ExitStatus.disk.rawValue)
    }

    /// Creates the problem of files of the Hub whose server or token cannot be used.
    init(_ reason: DownloadError.Reason, of grant: HubGrant) {
        self.init(
            .retry, kind: "invalid_access", message: HubWords.unusable(reason, of: grant),
            code: ExitStatus.usage.rawValue)
    }

    /// Creates the problem of a data set whose folder or plan cannot be used.
    init(_ error: SetError) {
        let messages = Diagnostic.messages(error)
        let (next, kind): (NextStep, String) =
            switch error {
            case .inUse: (.retryLater, "busy")
            case .assembly: (.disk, "set_unusable")
            default: (.retry, "set_unusable")
            }
        self.init(
            next, kind: kind, message: messages[0].text, code: Diagnostic.status(error).rawValue)
    }
}
