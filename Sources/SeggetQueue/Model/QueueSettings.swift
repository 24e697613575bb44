import SeggetReports
public import Segmenter

/// The settings of a queue as a whole.
///
/// In JSON, missing keys have their defaults.
public struct QueueSettings: Sendable, Hashable {
    /// Maximum number of tasks that run at a time, 1...64.
    public var maxRunning = 3
    /// Rate limit of all tasks together, in bytes per second; `nil` for none.
    public var rateLimit: Double?
    /// Rate limits by time of day, which replace ``rateLimit``.
    public var rateSchedule: RateSchedule?
    /// Most requests of all tasks together to each server; `nil` for no limit.
    public var maxRequests: RequestRate?
    /// Seconds before each retry of a task after a transient failure, in order; after the last
    /// retry it fails.
    public var retryDelays: [Double] = [60, 300, 900, 3600]
    /// The rules; the strictest of all limits and rules counts.
    public var rules: [QueueRule] = []
    /// Whether the network is metered.
    public var metered = Metered.auto

    /// Whether a network is metered.
    public enum Metered: String, Sendable, Hashable, Codable, CaseIterable {
        /// NetworkManager decides; without its answer, the network is not metered.
        case auto
        /// It is metered.
        case yes
        /// It is not metered.
        case no
    }

    /// Creates the default settings.
    public init() {}

    /// Returns the rate limit at a time of day, in bytes per second; `nil` for none.
    func rate(atMinute minute: Int) -> Double? {
        guard let rateSchedule else { return rateLimit.flatMap { $0 > 0 ? $0 : nil } }
        return rateSchedule.rate(atMinute: minute, own: rateLimit)
    }

    /// Returns the settings if all values are valid.
    ///
    /// - Throws: `invalid`.
    func checked() throws(QueueError) -> QueueSettings {
        if let option = QueueOption.table.first(where: { !$0.accepts(self) }) {
            throw QueueError(.setting(option.key, option.kind))
        }
        return self
    }
}
