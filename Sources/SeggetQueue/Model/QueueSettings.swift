import SeggetReports

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
        if let option = QueueOption.table.first(where: { !$0.accepts(self) }) {
            throw QueueError(.setting(option.key, option.kind))
        }
        return self
    }
}
