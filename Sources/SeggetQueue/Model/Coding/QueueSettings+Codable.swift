/// Settings in JSON: `max_running`, `rate_limit`, `rate_schedule` and `retry_delays`.
extension QueueSettings: Codable {
    /// Reads settings.
    ///
    /// - Throws: `DecodingError`, for keys that are not known too: a setting that is misspelt would be another's
    ///   default.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: WireKey.self)
        try fields.refuseOthers(than: [
            "max_running", "rate_limit", "rate_schedule", "retry_delays",
        ])
        self.init()
        maxRunning = try fields.decode("max_running", else: maxRunning)
        rateLimit = try fields.decodeIfPresent(Double.self, forKey: "rate_limit")
        rateSchedule = try fields.decodeIfPresent(RateSchedule.self, forKey: "rate_schedule")
        retryDelays = try fields.decode("retry_delays", else: retryDelays)
    }

    /// Writes the settings.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: WireKey.self)
        try fields.encode(maxRunning, forKey: "max_running")
        try fields.encodeIfPresent(rateLimit, forKey: "rate_limit")
        try fields.encodeIfPresent(rateSchedule, forKey: "rate_schedule")
        try fields.encode(retryDelays, forKey: "retry_delays")
    }
}
