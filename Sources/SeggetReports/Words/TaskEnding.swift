/// How the download of a task has ended, as its last event records it.
package enum TaskEnding: Sendable, Hashable {
    /// The file existed, and was not checked.
    case skipped
    /// The file is complete and verified; `isPage` says that it is an HTML page.
    case completed(size: Int64, isPage: Bool)
    /// The file was complete before an earlier process ended.
    case completedBefore
    /// The download was stopped.
    case stopped(startsOver: Bool)

    /// The ending in words.
    package var text: String {
        switch self {
        case .skipped: Summary.skipped
        case .completed(let size, let isPage):
            "complete and verified, \(Units.size(size))"
                + (isPage ? "; \(Summary.pageWarning)" : "")
        case .completedBefore: "complete and verified before segget was stopped"
        case .stopped(let startsOver):
            "stopped" + (startsOver ? "; the next start downloads the file from the beginning" : "")
        }
    }
}
