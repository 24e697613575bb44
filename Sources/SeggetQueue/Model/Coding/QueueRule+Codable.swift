import SeggetReports

extension QueueRule: Codable {
    /// Decodes a rule.
    ///
    /// - Throws: `DecodingError`, also for unknown keys.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: WireKey.self)
        try fields.refuseOthers(than: ["while", "pause", "rate"])
        guard let condition = Condition(try fields.decode(String.self, forKey: "while")) else {
            throw fields.wrong("while", .condition)
        }
        let rate = try fields.decodeIfPresent(Double.self, forKey: "rate")
        switch (try fields.decode("pause", else: false), rate) {
        case (true, nil): self.init(while: condition, .pause)
        case (false, let rate?): self.init(while: condition, .rate(rate))
        default: throw fields.wrong(nil, .effect)
        }
    }

    /// Encodes the rule.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: WireKey.self)
        try fields.encode(condition.text, forKey: "while")
        switch effect {
        case .pause: try fields.encode(true, forKey: "pause")
        case .rate(let rate): try fields.encode(rate, forKey: "rate")
        }
    }
}
