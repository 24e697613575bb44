/// Rate limits by time of day, such as `08:00-18:00=2M,else=0`.
///
/// Pure. Times are local times of day in minutes from midnight; a span that ends before it begins
/// continues after midnight. The first span that contains a time counts.
public struct RateSchedule: Sendable, Hashable, Codable {
    /// A part of the day and its limit.
    public struct Span: Sendable, Hashable, Codable {
        /// First minute, 0..<1440.
        public var start: Int
        /// The minute after the last, 0...1440.
        public var end: Int
        /// Bytes per second; 0 for no limit.
        public var rate: Double

        /// Creates a span.
        public init(start: Int, end: Int, rate: Double) {
            (self.start, self.end, self.rate) = (start, end, rate)
        }

        /// Its times.
        public var times: DaySpan { DaySpan(start: start, end: end) }
    }

    /// The parts of the day, in order of precedence.
    public var spans: [Span]
    /// The limit at all other times, in bytes per second; 0 for none, `nil` for the queue's limit.
    public var otherwise: Double?

    /// Creates a schedule.
    public init(spans: [Span], otherwise: Double? = nil) {
        (self.spans, self.otherwise) = (spans, otherwise)
    }

    /// Reads several `HH:MM-HH:MM=RATE` and an `else=RATE`, separated by commas; `nil` for any
    /// other text.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - rate: Reads a rate, in bytes per second; 0 for none, `nil` for any other text.
    public init?(_ text: String, rate: (String) throws -> Double?) rethrows {
        self.init(spans: [])
        for piece in text.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = piece.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let rate = try rate(String(parts[1])), rate >= 0 else {
                return nil
            }
            if parts[0] == "else" {
                guard otherwise == nil else { return nil }
                otherwise = rate
                continue
            }
            guard let times = DaySpan(parts[0]) else { return nil }
            spans.append(Span(start: times.start, end: times.end, rate: rate))
        }
    }

    /// Returns the limit at a minute of the day.
    ///
    /// - Parameters:
    ///   - minute: Minutes from midnight, 0..<1440.
    ///   - own: The limit without a schedule, in bytes per second; `nil` for none.
    /// - Returns: Bytes per second; `nil` for none.
    public func rate(atMinute minute: Int, own: Double?) -> Double? {
        let rate = spans.first { $0.times.contains(minute) }?.rate ?? otherwise ?? own
        return rate.flatMap { $0 > 0 ? $0 : nil }
    }
}
