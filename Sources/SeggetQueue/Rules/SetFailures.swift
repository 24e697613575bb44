import Segmenter
import SeggetReports

/// The failed files of a set in one run, and what they mean for its task.
///
/// Pure. The task is retried only if each of its failed files may succeed later; otherwise it fails
/// by the worst of those that cannot.
struct SetFailures: Sendable {
    /// The number of failed files.
    private(set) var count = 0
    /// Whether all of them failed because the network was lost.
    private(set) var areNetworkLosses = true
    /// The worst failure that is permanent.
    private var final: (error: DownloadError, status: ExitStatus)?
    /// The rule for the task if no failure is permanent, and the failure that set it.
    private var hopeful: (error: DownloadError, rule: FailureRule)?

    /// Whether no further file of the set should be started: the disk is full, or the server is to
    /// be left alone.
    private(set) var endsRun = false

    /// Adds the failure of a file.
    mutating func add(_ error: DownloadError) {
        count += 1
        areNetworkLosses = areNetworkLosses && error.reason.isNetworkLoss
        let rule = FailureRule(error)
        switch rule {
        case .stopped: count -= 1
        case .final:
            let status = Diagnostic(error).status
            if final.map({ $0.status != status && status.worse($0.status) == status }) ?? true {
                final = (error, status)
            }
        case .space, .rests, .passes:
            if case .passes = rule {} else { endsRun = true }
            if hopeful.map({ rule.isStricter(than: $0.rule) }) ?? true { hopeful = (error, rule) }
        }
    }

    /// The failure of the task and its rule; `nil` if no file has failed.
    var ending: (error: DownloadError, rule: FailureRule)? {
        final.map { ($0.error, .final) } ?? hopeful
    }
}

extension FailureRule {
    /// Whether this rule forbids the next try for longer than another one: a full disk before a
    /// server that rests, before a time.
    fileprivate func isStricter(than other: FailureRule) -> Bool {
        switch (self, other) {
        case (.space, .space): false
        case (.space, _): true
        case (_, .space): false
        case (.rests(let one), .rests(let other)): one > other
        case (.rests, _): true
        case (_, .rests): false
        case (.passes(let one), .passes(let other)): one ?? 0 > other ?? 0
        default: false
        }
    }
}
