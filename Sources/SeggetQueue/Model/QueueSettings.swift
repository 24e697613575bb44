/// What holds for a queue as a whole.
///
/// In JSON what is missing has its default.
public struct QueueSettings: Sendable, Hashable {
    /// Most tasks that run at a time, 1...64.
    public var maxRunning = 3
    /// Limit of rate of all tasks together, in bytes per second; `nil` for none.
    public var rateLimit: Double?
    /// Limits of rate by the time of day, which go before ``rateLimit``.
    public var rateSchedule: RateSchedule?
    /// Seconds after which a task that failed in a way that passes is tried again, one after the other; behind
    /// the last one it fails.
    public var retryDelays: [Double] = [60, 300, 900, 3600]
    /// What holds while something is so; the strictest of all limits and rules counts.
    public var rules: [QueueRule] = []
    /// Whether the network costs by the byte.
    public var metered = Metered.auto

    /// Whether a network costs by the byte.
    public enum Metered: String, Sendable, Hashable, Codable, CaseIterable {
        /// NetworkManager is asked; where it does not know, or is not there, the network does not.
        case auto
        /// It does.
        case yes
        /// It does not.
        case no
    }

    /// Makes the default settings.
    public init() {}

    /// The limit of rate at a time of day, in bytes per second; `nil` for none.
    func rate(atMinute minute: Int) -> Double? {
        guard let rateSchedule else { return rateLimit.flatMap { $0 > 0 ? $0 : nil } }
        return rateSchedule.rate(atMinute: minute, own: rateLimit)
    }

    /// The settings, if they can be used.
    ///
    /// - Throws: `invalid`.
    func checked() throws(QueueError) -> QueueSettings {
        func refuse(_ what: String) -> QueueError {
            QueueError(.invalid, what, hint: "the settings stay as they were")
        }
        guard (1...64).contains(maxRunning) else {
            throw refuse("1 to 64 tasks can run at a time, not \(maxRunning)")
        }
        guard retryDelays.count <= 100, retryDelays.allSatisfy({ (0.0...86_400).contains($0) })
        else {
            throw refuse("a task is tried again after 0 to 86400 seconds, at most 100 times")
        }
        let rates =
            [rateLimit, rateSchedule?.otherwise].compactMap { $0 }
            + (rateSchedule?.spans.map(\.rate) ?? [])
        guard rates.allSatisfy({ $0.isFinite && $0 >= 0 }) else {
            throw refuse("a limit of rate is a number of bytes per second from 0 on")
        }
        guard rateSchedule?.spans.allSatisfy(\.times.isValid) ?? true else {
            throw refuse("a span of the schedule is within a day: from minute 0 to 1440")
        }
        guard rules.count <= 100, rules.allSatisfy(\.isValid) else {
            throw refuse(
                "a rule has a span within a day and `pause` or a rate above 0, and there are at most 100"
            )
        }
        return self
    }
}

extension QueueRule {
    /// Whether it can be used.
    fileprivate var isValid: Bool {
        if case .rate(let rate) = effect, !rate.isFinite || rate <= 0 { return false }
        if case .span(let span) = condition { return span.isValid }
        return true
    }
}
