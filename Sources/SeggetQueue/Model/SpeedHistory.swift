/// How fast all of a queue's tasks were in the last ten minutes, a value for each second.
///
/// Pure: the time is an argument, in seconds since 1970.
package struct SpeedHistory: Sendable {
    /// Seconds that are remembered.
    package static let length = 600

    /// The second from which on the speed is known.
    private let begin: Int
    private var samples: [(second: Int, bytesPerSecond: Double)] = []

    /// Begins at a time.
    package init(at now: Double) { begin = Int(now) }

    /// Notes how fast all tasks are; without a note, a second had none.
    package mutating func note(_ bytesPerSecond: Double, at now: Double) {
        let second = Int(now)
        // The clock was set back: what it had measured then is not known any more.
        samples.removeAll { $0.second >= second || $0.second <= second - Self.length }
        samples.append((second, bytesPerSecond))
    }

    /// The speeds up to now.
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

/// What `GET /v2/speeds` tells.
package struct SpeedReport: Sendable, Hashable, Codable {
    /// The second of the first value, since 1970.
    package var start: Int
    /// A value for each second, in bytes per second; the last is of the second before now.
    package var bytesPerSecond: [Int64]

    enum CodingKeys: String, CodingKey {
        case start
        case bytesPerSecond = "bytes_per_second"
    }

    /// Makes a report.
    package init(start: Int, bytesPerSecond: [Int64]) {
        (self.start, self.bytesPerSecond) = (start, bytesPerSecond)
    }
}
