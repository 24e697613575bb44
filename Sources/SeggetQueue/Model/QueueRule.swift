/// A rule that pauses or limits a queue under a condition, such as `metered=pause` or `battery=2M`.
///
/// In JSON it has `while`, which is `metered`, `battery` or a span such as `22:00-06:00`, and
/// either `pause`, which is `true`, or `rate`, in bytes per second.
public struct QueueRule: Sendable, Hashable {
    /// The condition of the rule.
    public enum Condition: Sendable, Hashable {
        /// The network is metered: see ``QueueSettings/metered``.
        case metered
        /// The machine runs on battery.
        case battery
        /// The local time of day is in the span.
        case span(DaySpan)
    }

    /// The effect of the rule.
    public enum Effect: Sendable, Hashable {
        /// No task runs.
        case pause
        /// All tasks together have a rate limit, in bytes per second.
        case rate(Double)
    }

    /// The condition of the rule.
    public var condition: Condition
    /// The effect of the rule.
    public var effect: Effect

    /// Creates a rule.
    public init(while condition: Condition, _ effect: Effect) {
        (self.condition, self.effect) = (condition, effect)
    }

    /// Reads `CONDITION=pause` or `CONDITION=RATE`; `nil` for any other text, and for a rate of 0.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - rate: Reads a rate, in bytes per second; `nil` for any other text.
    public init?(_ text: String, rate: (String) throws -> Double?) rethrows {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let condition = Condition(String(parts[0])) else { return nil }
        if parts[1] == "pause" {
            self.init(while: condition, .pause)
        } else {
            guard let rate = try rate(String(parts[1])), rate > 0 else { return nil }
            self.init(while: condition, .rate(rate))
        }
    }
}

extension QueueRule.Condition {
    /// Reads `metered`, `battery` or a span such as `22:00-06:00`; `nil` for any other text.
    public init?(_ text: String) {
        switch text {
        case "metered": self = .metered
        case "battery": self = .battery
        default:
            guard let span = DaySpan(text) else { return nil }
            self = .span(span)
        }
    }

    /// The condition as text, in the form that ``init(_:)`` reads.
    public var text: String {
        switch self {
        case .metered: "metered"
        case .battery: "battery"
        case .span(let span): span.text
        }
    }
}
