package import SeggetFormats
import Segmenter

/// A setting of a queue as a whole: its names, and the values that it takes.
package struct QueueOption: Sendable {
    /// The key in JSON.
    package let key: String
    /// The values that it takes.
    package let kind: OptionKind
    /// The long option on the command line, without dashes; `nil` if it has none.
    package let commandLine: String?
    /// The name in aria2's global options; `nil` if it has none.
    package let aria2: String?
    /// The help: one sentence.
    package let help: String
    /// Returns whether settings have a value that it takes.
    package let accepts: @Sendable (QueueSettings) -> Bool

    /// All settings.
    package static let table: [QueueOption] = [
        QueueOption(
            key: "max_running", kind: .integer(1...64), commandLine: "max-running",
            aria2: "max-concurrent-downloads", help: "Maximum number of tasks that run at a time.",
            accepts: { (1...64).contains($0.maxRunning) }),
        QueueOption(
            key: "rate_limit", kind: .rate, commandLine: "limit-rate",
            aria2: "max-overall-download-limit",
            help: "Limit the total rate, in bytes per second; 0 removes the limit.",
            accepts: { isRate($0.rateLimit ?? 0) }),
        QueueOption(
            key: "rate_schedule",
            kind: .text("spans of a day and rates, such as `08:00-18:00=2M,else=0`"),
            commandLine: "limit-schedule", aria2: nil,
            help: "Limit the rate by time of day, in place of the general limit.",
            accepts: { settings in
                let schedule = settings.rateSchedule
                return isRate(schedule?.otherwise ?? 0)
                    && schedule?.spans.allSatisfy { $0.times.isValid && isRate($0.rate) } ?? true
            }),
        QueueOption(
            key: "max_requests",
            kind: .text(RequestRate.expected), commandLine: "max-requests", aria2: nil,
            help: "Most requests to each server, such as `10/s` or `600/m`; 0 removes the limit.",
            accepts: { _ in true }),
        QueueOption(
            key: "retry_delays", kind: .texts("0 to 86400 seconds, at most 100 times"),
            commandLine: nil, aria2: nil,
            help: "Seconds to wait before each retry of a failed task, in order.",
            accepts: { settings in
                settings.retryDelays.count <= 100
                    && settings.retryDelays.allSatisfy { (0.0...86_400).contains($0) }
            }),
        QueueOption(
            key: "rules",
            kind: .texts(
                "`metered`, `battery` or a span such as `22:00-06:00`, then `=pause` or a rate above 0 such as `=2M`; at most 100"
            ),
            commandLine: "rule", aria2: nil,
            help: "Pause the queue, or limit its rate, under a condition; repeatable.",
            accepts: { $0.rules.count <= 100 && $0.rules.allSatisfy(\.isValid) }),
        QueueOption(
            key: "metered", kind: .choice(["auto", "yes", "no"]), commandLine: "metered",
            aria2: nil,
            help: "Whether the network is metered: `yes`, `no`, or `auto` to ask NetworkManager.",
            accepts: { _ in true }),
    ]

    /// Returns the setting with a long option.
    package static func typed(_ name: String) -> QueueOption? {
        table.first { $0.commandLine == name }
    }

    private static func isRate(_ rate: Double) -> Bool { (0..<0x1p62).contains(rate) }
}

extension QueueRule {
    /// Whether the rule has a valid rate and span.
    fileprivate var isValid: Bool {
        if case .rate(let rate) = effect, !rate.isFinite || rate <= 0 { return false }
        if case .span(let span) = condition { return span.isValid }
        return true
    }
}
