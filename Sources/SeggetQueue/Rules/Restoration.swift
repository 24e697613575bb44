import Assembler

/// The action of a starting worker for a task, by its record and its files on the disk.
///
/// Pure: the crash table. Running tasks run again, before all others; waiting tasks wait, and
/// paused tasks remain paused. A published file is never lost or downloaded again, whichever step
/// of publishing was interrupted.
enum Restoration: Sendable, Hashable {
    /// Do nothing: the record is correct.
    case leave
    /// Wait for a slot before the tasks that did not run, unless it is paused.
    case runAgain
    /// Record that the file is finished. A remaining manifest is deleted (`Assembly.discard`),
    /// unless it was to be kept.
    case complete(FileStatus)
    /// Continue the chore; a task that ran runs again afterwards.
    case finishChore
    /// Record that the file is finished, then continue the chore.
    case completeAndFinishChore(FileStatus)

    /// Creates the action for a task.
    ///
    /// - Parameters:
    ///   - task: The record.
    ///   - place: The files at its place.
    ///   - origin: The files at the place from which it is to be moved; `nil` if it is not.
    init(
        _ task: QueueTask, at place: Assembly.Standing, movingFrom origin: Assembly.Standing? = nil
    ) {
        let finished = Self.missed(task, place) ?? origin.flatMap { Self.missed(task, $0) }
        switch task.chore {
        case .discard:
            // It was finished before it was cancelled.
            self = finished.map(Self.complete) ?? .finishChore
        case .remove(files: false): self = .finishChore
        case .remove(files: true): self = finished.map(Self.completeAndFinishChore) ?? .finishChore
        case .move:
            let file = task.status.isEnded ? nil : finished
            self = file.map(Self.completeAndFinishChore) ?? .finishChore
        case nil: self = Self.withoutChore(task, place, finished)
        }
    }

    private static func withoutChore(
        _ task: QueueTask, _ place: Assembly.Standing, _ finished: FileStatus?
    ) -> Restoration {
        switch task.status.state {
        case .failed, .cancelled, .completed: return .leave
        case .running, .verifying, .waitingForNetwork, .waiting, .retrying:
            // The next run checks a file that is being published, and downloads nothing.
            if let finished, !place.namesDestination { return .complete(finished) }
            switch task.status.state {
            case .running, .verifying, .waitingForNetwork: return .runAgain
            default: return .leave
            }
        }
    }

    /// Returns the finished file that the record does not mention; `nil` if there is none.
    ///
    /// Only a verified part gets the name, and its manifest says `publishing` before, or is kept
    /// with the file.
    private static func missed(_ task: QueueTask, _ there: Assembly.Standing) -> FileStatus? {
        guard task.status.state != .completed, case .regular(let status) = there.destination,
            task.size == nil || task.size == status.size
        else { return nil }
        if there.namesDestination { return status }
        guard let mark = task.file, mark.inode == status.identity.inode else { return nil }
        guard case .ours(let record) = there.manifest else { return status }
        // A part that was renamed by hand has no such record.
        return record.finished == status.size ? status : nil
    }
}

/// The condition of the file of a completed task.
enum FinishedStanding: String, Sendable, Hashable {
    /// It exists unchanged.
    case there
    /// It does not exist.
    case missing
    /// It was replaced or changed.
    case changed
}

extension Assembly.Standing {
    /// Whether the manifest says that the existing file was being published.
    fileprivate var namesDestination: Bool {
        guard case .ours(let record) = manifest, case .regular(let status) = destination else {
            return false
        }
        return record.publishing?.isSame(as: status.identity) == true
    }
}
