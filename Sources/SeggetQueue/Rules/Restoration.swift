import Assembler

/// What a worker does about a task when it starts, by its record and by what stands on the disk.
///
/// Pure: the crash table. What ran, runs again, and first; what waited, waits, and what was held, stays held; a file
/// that has got its name is never lost, nor fetched again, whichever step of publishing was cut.
enum Restoration: Sendable, Hashable {
    /// Nothing: it is as the record says.
    case leave
    /// It ran, and waits now for a slot before all that did not; unless it is held.
    case runAgain
    /// The file is finished, and the record has missed it: this is the file. A manifest that is left beside it goes
    /// (`Assembly.discard`), unless it was kept.
    case complete(FileStatus)
    /// The chore is gone on with; what ran, runs again when it is done.
    case finishChore
    /// The file is finished, and the record has missed it; then the chore is gone on with.
    case completeAndFinishChore(FileStatus)

    /// Decides.
    ///
    /// - Parameters:
    ///   - task: The record.
    ///   - place: What stands where its file goes.
    ///   - origin: What stands where it is to be moved away from; `nil` when it is not.
    init(
        _ task: QueueTask, at place: Assembly.Standing, movingFrom origin: Assembly.Standing? = nil
    ) {
        let finished = Self.missed(task, place) ?? origin.flatMap { Self.missed(task, $0) }
        switch task.chore {
        case .discard:
            // It was finished before it was given up.
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
            // What `publishing` says is checked once more by the next run, which fetches nothing.
            if let finished, !place.namesDestination { return .complete(finished) }
            switch task.status.state {
            case .running, .verifying, .waitingForNetwork: return .runAgain
            default: return .leave
            }
        }
    }

    /// The finished file whose end the record of a task has missed; `nil` when there is none.
    ///
    /// Only a verified part gets the name, and the manifest says `publishing` before, or is kept for the file.
    private static func missed(_ task: QueueTask, _ there: Assembly.Standing) -> FileStatus? {
        guard task.status.state != .completed, case .regular(let status) = there.destination,
            task.size == nil || task.size == status.size
        else { return nil }
        if there.namesDestination { return status }
        guard let mark = task.file, mark.inode == status.identity.inode else { return nil }
        guard case .ours(let record) = there.manifest else { return status }
        // A part that somebody renamed by hand has no such record.
        return record.finished == status.size ? status : nil
    }
}

/// What became of the file of a completed task.
enum FinishedStanding: String, Sendable, Hashable {
    /// It is there as it was finished.
    case there
    /// Nothing is there.
    case missing
    /// Something else is there, or it was written to.
    case changed
}

extension Assembly.Standing {
    /// Whether the manifest says that just the file that stands there was about to get its name.
    fileprivate var namesDestination: Bool {
        guard case .ours(let record) = manifest, case .regular(let status) = destination else {
            return false
        }
        return record.publishing?.isSame(as: status.identity) == true
    }
}
