import SeggetReports
import SeggetQueue

/// What clients on a WebSocket are told of: that tasks start, pause, stop and end.
///
/// Pure.
struct RPCNotices: Sendable {
    /// Something that happened to a task.
    struct Notice: Sendable, Hashable {
        /// The word behind `aria2.onDownload`.
        var word: String
        var id: QueueTask.ID

        /// The message, which has no identifier.
        var value: JSONValue {
            [
                "jsonrpc": "2.0", "method": .string("aria2.onDownload\(word)"),
                "params": [["gid": .string(id.description)]],
            ]
        }
    }

    /// All words, as `system.listNotifications` has them.
    static let methods = ["Start", "Pause", "Stop", "Complete", "Error"].map {
        "aria2.onDownload\($0)"
    }

    /// aria2's words for the states of the tasks.
    private var words: [QueueTask.ID: String]

    /// Begins with the tasks that there are.
    init(_ tasks: [TaskReport]) {
        words = Dictionary(
            tasks.map { ($0.id, RPCStatus.word($0)) }, uniquingKeysWith: { $1 })
    }

    /// Takes what happened.
    ///
    /// - Returns: What is told, in order.
    mutating func take(_ event: QueueEvent) -> [Notice] {
        switch event {
        case .changed(let report): return take(report)
        case .removed(let id):
            // Its record went before its end was told.
            guard let word = words.removeValue(forKey: id) else { return [] }
            return ["complete", "error", "removed"].contains(word)
                ? [] : [Notice(word: "Stop", id: id)]
        default: return []
        }
    }

    private mutating func take(_ report: TaskReport) -> [Notice] {
        let (id, word) = (report.id, RPCStatus.word(report))
        let before = words.updateValue(word, forKey: id)
        guard word != before else { return [] }
        func notice(_ word: String) -> Notice { Notice(word: word, id: id) }
        // What ends before it was seen to begin is told to have begun, as aria2 does.
        let begin = before == "active" || before == nil ? [] : [notice("Start")]
        switch word {
        case "active": return [notice("Start")]
        case "paused": return before == nil ? [] : [notice("Pause")]
        case "complete": return begin + [notice("Complete")]
        case "error": return begin + [notice("Error")]
        case "removed": return [notice("Stop")]
        default: return []
        }
    }
}
