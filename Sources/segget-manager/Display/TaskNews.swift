import SeggetQueue
import SeggetReports

extension TaskEvent {
    /// Whether the event reports that a task's network is back.
    var isNetworkBack: Bool { event == "network_is_back" }
}

/// The message about the new state of a task.
///
/// Pure.
struct TaskNews {
    /// The path of the file; before it is known, the name of the task.
    let name: String
    /// The line; `nil` if the state is not reported.
    let text: String?

    init(_ task: TaskReport, now: Double = secondsSinceEpoch()) {
        name = task.path ?? TaskText.name(task)
        switch task.state {
        case .completed where task.skipped == true:
            text = "\(name): \(Summary.skipped)"
        case .completed:
            text =
                "\(name): completed, \(Units.size(task.size ?? task.bytesDone))"
                + (task.html == true ? "; \(Summary.pageWarning)" : "")
        case .failed: text = task.error?.message ?? "\(name) failed"
        case .retrying:
            guard let problem = task.error, let retry = task.retryAt else {
                text = nil
                return
            }
            let when = Units.duration(.seconds(max(0, retry - now))).map {
                "; retrying in \($0)"
            }
            text = problem.message + (when ?? "")
        case .waitingForNetwork: text = "\(name): waiting for network"
        default: text = nil
        }
    }
}
