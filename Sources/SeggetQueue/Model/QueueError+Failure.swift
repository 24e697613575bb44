package import SeggetReports

extension QueueError {
    /// Creates the error for a failure, in words.
    package init(_ failure: QueueFailure) {
        self.init(Code(failure), failure.message, hint: failure.hint)
    }
}

extension QueueError.Code {
    fileprivate init(_ failure: QueueFailure) {
        self =
            switch failure {
            case .noQueue: .noQueue
            case .damaged: .damaged
            case .laterFormat: .laterVersion
            case .diskFull: .diskFull
            case .earlierFormat, .readOnly, .noWriteAheadLog, .noLocks, .system, .unusable,
                .unreadableFolder, .planLost:
                .unavailable
            case .locked, .heldByCommand: .busy
            case .hasWorker, .hasOldWorker: .hasWorker
            case .noTask, .taskGone, .taskRemoved, .noTaskLike, .ambiguous: .noTask
            case .foreign, .idStored, .notAdded, .tooManyWords, .longText, .setting, .needsWorker:
                .invalid
            case .shutDown, .waitCancelled: .worker
            }
    }
}
