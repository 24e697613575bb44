import SeggetReports
import SeggetQueue

/// Derives the notifications for WebSockets from the changes of tasks: start, pause, stop,
/// complete, error.
///
/// Pure.
struct RPCNotices: Sendable {
    /// A notification about a task.
    struct Notice: Sendable, Hashable {
        /// The word after `aria2.onDownload`.
        var word: String
        var id: QueueTask.ID

        /// The message, which has no id.
        var value: JSONValue {
            [
                "jsonrpc": "2.0", "method": .string("aria2.onDownload\(word)"),
                "params": [["gid": .string(id.description)]],
            ]
        }
    }

    /// All methods, in the form of `system.listNotifications`.
    static let methods = ["Start", "Pause", "Stop", "Complete", "Error"].map {
        "aria2.onDownload\($0)"
    }

    /// The tasks' states, in aria2's words.
    private var words: [QueueTask.ID: RPCStatus.Word]

    /// Records the states of the existing tasks.
    init(_ tasks: [TaskReport]) {
        words = Dictionary(
            tasks.map { ($0.id, RPCStatus.Word($0)) }, uniquingKeysWith: { $1 })
    }

    /// Records an event.
    ///
    /// - Returns: The notifications, in order.
    mutating func take(_ event: QueueEvent) -> [Notice] {
        switch event {
        case .changed(let report): return take(report)
        case .removed(let id):
            // The task was removed before its result was reported.
            guard let word = words.removeValue(forKey: id) else { return [] }
            return word.isEnded ? [] : [Notice(word: "Stop", id: id)]
        default: return []
        }
    }

    private mutating func take(_ report: TaskReport) -> [Notice] {
        let (id, word) = (report.id, RPCStatus.Word(report))
        let before = words.updateValue(word, forKey: id)
        guard word != before else { return [] }
        func notice(_ word: String) -> Notice { Notice(word: word, id: id) }
        // Like aria2, report the start of a task that ended before it was seen to be active.
        let begin = before == .active || before == nil ? [] : [notice("Start")]
        switch word {
        case .active: return [notice("Start")]
        case .paused: return before == nil ? [] : [notice("Pause")]
        case .complete: return begin + [notice("Complete")]
        case .error: return begin + [notice("Error")]
        case .removed: return [notice("Stop")]
        case .waiting: return []
        }
    }
}
