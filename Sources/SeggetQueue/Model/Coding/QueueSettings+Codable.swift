import SeggetFormats
import SeggetReports
import Segmenter

/// Settings in JSON, with the keys of ``QueueOption``.
extension QueueSettings: Codable {
    /// Decodes settings.
    ///
    /// - Throws: `DecodingError`, also for unknown keys: a misspelt setting would silently have its
    ///   default.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: WireKey.self)
        try fields.refuseOthers(than: Set(QueueOption.table.map(\.key)))
        self.init()
        maxRunning = try fields.decode("max_running", else: maxRunning)
        rateLimit = try fields.decodeIfPresent(Double.self, forKey: "rate_limit")
        rateSchedule = try fields.decodeIfPresent(RateSchedule.self, forKey: "rate_schedule")
        if let text = try fields.decodeIfPresent(String.self, forKey: "max_requests") {
            guard let rate = RequestRate(text) else {
                throw fields.wrong("max_requests", .value(.text(RequestRate.expected)))
            }
            maxRequests = rate
        }
        retryDelays = try fields.decode("retry_delays", else: retryDelays)
        rules = try fields.decode("rules", else: rules)
        guard let metered = Metered(rawValue: try fields.decode("metered", else: "auto")) else {
            throw fields.wrong("metered", .metered)
        }
        self.metered = metered
    }

    /// Encodes the settings.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: WireKey.self)
        try fields.encode(maxRunning, forKey: "max_running")
        try fields.encodeIfPresent(rateLimit, forKey: "rate_limit")
        try fields.encodeIfPresent(rateSchedule, forKey: "rate_schedule")
        try fields.encodeIfPresent(maxRequests?.description, forKey: "max_requests")
        try fields.encode(retryDelays, forKey: "retry_delays")
        try fields.encode(rules, forKey: "rules")
        try fields.encode(metered, forKey: "metered")
    }
}
