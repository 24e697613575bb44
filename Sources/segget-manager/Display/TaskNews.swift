import SeggetQueue
import SeggetReports

extension TaskEvent {
    /// Whether the network of a task is back that had waited for it.
    var isNetworkBack: Bool { event == "network_is_back" }
}

/// What is said of a task whose state has changed.
///
/// Pure.
struct TaskNews {
    /// The file's path, or what it is called before it has one.
    let name: String
    /// The line; `nil` where nothing is said.
    let text: String?

    init(_ task: TaskReport, now: Double = secondsSinceEpoch()) {
        name = task.path ?? TaskText.name(task)
        switch task.state {
        case "completed" where task.skipped == true:
            text = "\(name): skipped, the file exists"
        case "completed":
            text =
                "\(name): completed, \(Units.size(task.size ?? task.bytesDone))"
                + (task.html == true ? "; \(Summary.pageWarning)" : "")
        case "failed": text = task.error?.message ?? "\(name) failed"
        case "retrying":
            guard let problem = task.error, let retry = task.retryAt else {
                text = nil
                return
            }
            let when = Units.duration(.seconds(max(0, retry - now))).map {
                "; retrying in \($0)"
            }
            text = problem.message + (when ?? "")
        case "waiting_for_network": text = "\(name): waiting for network"
        default: text = nil
        }
    }
}
