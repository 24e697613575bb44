/// A part of the day, such as `22:00-06:00`, in local time.
///
/// Times are in minutes from midnight. A span that ends before it begins continues after midnight.
public struct DaySpan: Sendable, Hashable {
    /// First minute, 0..<1440.
    public var start: Int
    /// The minute after the last, 0...1440.
    public var end: Int

    /// Creates a span.
    public init(start: Int, end: Int) { (self.start, self.end) = (start, end) }

    /// Reads `HH:MM-HH:MM`; `nil` for any other text.
    public init?(_ text: some StringProtocol) {
        let times = text.split(separator: "-", omittingEmptySubsequences: false)
        guard times.count == 2, let start = Self.minute(times[0]), let end = Self.minute(times[1])
        else { return nil }
        self.init(start: start, end: end)
        guard isValid else { return nil }
    }

    /// Whether both are times of a day, and differ.
    var isValid: Bool {
        (0..<1440).contains(start) && (0...1440).contains(end) && start != end
    }

    /// Whether the span contains a minute of the day.
    func contains(_ minute: Int) -> Bool {
        start <= end ? (start..<end).contains(minute) : minute >= start || minute < end
    }

    /// The span as text, in the form that ``init(_:)`` reads.
    public var text: String { "\(Self.text(ofMinute: start))-\(Self.text(ofMinute: end))" }

    /// Returns a time as `HH:MM`.
    static func text(ofMinute minute: Int) -> String {
        func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(digits(minute / 60)):\(digits(minute % 60))"
    }

    /// Returns the minutes from midnight to `HH:MM`; 24:00 is the end of the day.
    private static func minute(_ text: some StringProtocol) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...2).contains(parts[0].count), parts[1].count == 2,
            parts.joined().utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            ),
            let hour = Int(parts[0]), let minute = Int(parts[1]), (0...24).contains(hour),
            (0..<60).contains(minute), hour * 60 + minute <= 1440
        else { return nil }
        return hour * 60 + minute
    }
}
