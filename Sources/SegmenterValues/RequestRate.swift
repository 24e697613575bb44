import SegmenterURLs

/// A number of requests in a period, such as 600 a minute.
public struct RequestRate: Sendable, Hashable, Codable, LosslessStringConvertible {
    /// A period of time, with the letter that it has in a text.
    public enum Period: String, Sendable, Hashable, CaseIterable {
        /// A second.
        case second = "s"
        /// A minute.
        case minute = "m"
        /// An hour.
        case hour = "h"

        /// The length in seconds.
        package var seconds: Double {
            switch self {
            case .second: 1
            case .minute: 60
            case .hour: 3600
            }
        }
    }

    /// The largest number of requests in a period.
    static let most = 1_000_000
    /// The texts that are accepted, to follow "takes" in a message.
    package static let expected =
        "1 to 1000000 requests per second, minute or hour, such as `10/s`, `600/m` or `5000/h`"

    /// The number of requests, 1...1,000,000.
    public let count: Int
    /// The period.
    public let period: Period

    /// Creates a rate.
    ///
    /// - Parameters:
    ///   - count: The number of requests; `nil` is returned unless it is in 1...1,000,000.
    ///   - period: The period.
    public init?(_ count: Int, per period: Period = .second) {
        guard (1...Self.most).contains(count) else { return nil }
        (self.count, self.period) = (count, period)
    }

    /// Returns the rate of each of several processes that together have this one.
    ///
    /// - Parameter count: The number of processes.
    /// - Returns: The rate, rounded down, but at least one request an hour.
    package func divided(by count: Int) -> RequestRate {
        let hourly = Double(self.count) * 3600 / period.seconds / Double(max(1, count))
        let each = period.seconds * hourly / 3600
        if each >= 1, let rate = RequestRate(Int(each), per: period) { return rate }
        return RequestRate(max(1, Int(hourly)), per: .hour) ?? self
    }

    /// Parses a text such as `10/s`, `600/m`, `5000/h` or `10`, which is a number per second.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let number = Int64(digits: parts[0]),
            let period = parts.count == 2 ? Period(rawValue: String(parts[1])) : .second
        else { return nil }
        self.init(Int(number), per: period)
    }

    /// Reads a rate from its text.
    ///
    /// - Throws: `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let rate = RequestRate(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "a rate is \(Self.expected)")
        }
        self = rate
    }

    /// Writes the rate as its text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    /// The rate as text, such as `600/m`.
    public var description: String { "\(count)/\(period.rawValue)" }
}
