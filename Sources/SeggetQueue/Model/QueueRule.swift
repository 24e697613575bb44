/// What holds for a queue while something is so, such as `metered=pause` or `battery=2M`.
///
/// In JSON it has `while`, which is `metered`, `battery` or a span such as `22:00-06:00`, and either `pause`, which is
/// `true`, or `rate`, in bytes per second.
public struct QueueRule: Sendable, Hashable {
    /// What has to be so.
    public enum Condition: Sendable, Hashable {
        /// The network costs by the byte: see ``QueueSettings/metered``.
        case metered
        /// The machine runs on its battery.
        case battery
        /// The local time of day is in it.
        case span(DaySpan)
    }

    /// What holds then.
    public enum Effect: Sendable, Hashable {
        /// Nothing is fetched.
        case pause
        /// All tasks together are at most so fast, in bytes per second.
        case rate(Double)
    }

    /// What has to be so.
    public var condition: Condition
    /// What holds then.
    public var effect: Effect

    /// Makes a rule.
    public init(while condition: Condition, _ effect: Effect) {
        (self.condition, self.effect) = (condition, effect)
    }

    /// Reads `CONDITION=pause` or `CONDITION=RATE`; `nil` for anything else, and for a rate of 0, which would be no rule.
    ///
    /// - Parameters:
    ///   - text: What was given.
    ///   - rate: Reads a rate, in bytes per second; `nil` for what is no rate.
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
    /// Reads `metered`, `battery` or a span such as `22:00-06:00`; `nil` for anything else.
    public init?(_ text: String) {
        switch text {
        case "metered": self = .metered
        case "battery": self = .battery
        default:
            guard let span = DaySpan(text) else { return nil }
            self = .span(span)
        }
    }

    /// The condition, as it is read.
    public var text: String {
        switch self {
        case .metered: "metered"
        case .battery: "battery"
        case .span(let span): span.text
        }
    }
}
