/// Detects a download that is too slow to continue.
///
/// Pure: the caller passes seconds and bytes.
///
/// A new span starts whenever the mean speed of the present one reaches the floor. If a span stays
/// below the floor for a whole period, the connections have to be replaced. If that happens again,
/// the download has failed. A download that keeps up for a period after the replacement gets
/// another one the next time.
struct RateFloor: Sendable, Hashable {
    /// The result of a measurement.
    enum Verdict: Sendable, Hashable {
        case goOn
        /// Close the connections and open new ones.
        case changeConnections
        /// Give up; the mean speed of the last period is in bytes per second.
        case giveUp(bytesPerSecond: Double)
    }

    /// The least speed, in bytes per second.
    let rate: Double
    /// The time for which the speed may be lower, in seconds.
    let period: Double

    private var seconds = 0.0
    private var bytes: Int64 = 0
    /// The seconds since the connections were replaced; `nil` if they were not.
    private var sinceChange: Double?

    /// Creates a floor of `rate` bytes per second.
    init(rate: Double, period: Double) {
        self.rate = rate
        self.period = period
    }

    /// The mean speed of the present span, in bytes per second.
    var measured: Double { seconds > 0 ? Double(bytes) / seconds : 0 }

    /// Adds the time and bytes since the last call.
    ///
    /// - Parameters:
    ///   - bytes: The number of received bytes.
    ///   - seconds: The time in which they arrived. Time that does not count is left out, with its
    ///     bytes.
    /// - Returns: The resulting verdict.
    mutating func note(bytes: Int64, seconds: Double) -> Verdict {
        guard seconds > 0 else { return .goOn }
        self.bytes += bytes
        self.seconds += seconds
        if let since = sinceChange { sinceChange = since + seconds }
        if Double(self.bytes) >= rate * self.seconds {
            startSpan()
            // The period after the replacement has ended, and the speed has recovered.
            if let since = sinceChange, since > period { sinceChange = nil }
            return .goOn
        }
        guard self.seconds >= period else { return .goOn }
        let measured = measured
        startSpan()
        guard sinceChange == nil else { return .giveUp(bytesPerSecond: measured) }
        sinceChange = 0
        return .changeConnections
    }

    private mutating func startSpan() {
        bytes = 0
        seconds = 0
    }
}
