/// The total speed of a queue's tasks in the last ten minutes, one value for each second.
///
/// Pure: the time is an argument, in seconds since 1970.
package struct SpeedHistory: Sendable {
    /// The number of seconds that are kept.
    package static let length = 600

    /// The first second with a known speed.
    private let begin: Int
    private var samples: [(second: Int, bytesPerSecond: Double)] = []

    /// Creates a history that begins at a time.
    package init(at now: Double) { begin = Int(now) }

    /// Adds the present speed; a second without a speed counts as 0.
    package mutating func note(_ bytesPerSecond: Double, at now: Double) {
        let second = Int(now)
        // The clock may have been set back: later samples are dropped.
        samples.removeAll { $0.second >= second || $0.second <= second - Self.length }
        samples.append((second, bytesPerSecond))
    }

    /// Returns the speeds until now.
    package func speeds(at now: Double) -> SpeedReport {
        let end = Int(now)
        let start = max(begin, end - Self.length)
        guard start < end else { return SpeedReport(start: end, bytesPerSecond: []) }
        var values = [Int64](repeating: 0, count: end - start)
        for (second, speed) in samples where second >= start && second < end {
            values[second - start] = Int64(speed.isFinite ? max(0, min(speed, 1e15)) : 0)
        }
        return SpeedReport(start: start, bytesPerSecond: values)
    }
}

/// The reply to `GET /v2/speeds`.
package struct SpeedReport: Sendable, Hashable, Codable {
    /// The second of the first value, since 1970.
    package var start: Int
    /// One value for each second, in bytes per second; the last one is for the previous second.
    package var bytesPerSecond: [Int64]

    enum CodingKeys: String, CodingKey {
        case start
        case bytesPerSecond = "bytes_per_second"
    }

    /// Creates a report.
    package init(start: Int, bytesPerSecond: [Int64]) {
        (self.start, self.bytesPerSecond) = (start, bytesPerSecond)
    }
}
