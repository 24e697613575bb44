/// Tells when a download is too slow to go on with.
///
/// Pure: it sees seconds and bytes go by.
///
/// A span begins when the mean speed of the span before it was reached. Once a span has lasted for a
/// period below the least speed, the connections are to be changed; once more, and it is over. A
/// download that has kept up for a period after the change gets another change when it falls again.
struct RateFloor: Sendable, Hashable {
    /// What is to be done.
    enum Verdict: Sendable, Hashable {
        case goOn
        /// Give up the connections and make new ones.
        case changeConnections
        /// Give up: this was the mean speed of the period, in bytes per second.
        case giveUp(bytesPerSecond: Double)
    }

    /// Least speed, in bytes per second.
    let rate: Double
    /// How long it may be missed, in seconds.
    let period: Double

    private var seconds = 0.0
    private var bytes: Int64 = 0
    /// Seconds since the connections were changed, `nil` when they were not.
    private var sinceChange: Double?

    /// Makes a floor at `rate` bytes per second.
    init(rate: Double, period: Double) {
        self.rate = rate
        self.period = period
    }

    /// The mean speed of the present span, in bytes per second.
    var measured: Double { seconds > 0 ? Double(bytes) / seconds : 0 }

    /// Takes what has gone by since the last call.
    ///
    /// - Parameters:
    ///   - bytes: What arrived.
    ///   - seconds: How long it took; time that does not count is left out, with its bytes.
    /// - Returns: What is to be done.
    mutating func note(bytes: Int64, seconds: Double) -> Verdict {
        guard seconds > 0 else { return .goOn }
        self.bytes += bytes
        self.seconds += seconds
        if let since = sinceChange { sinceChange = since + seconds }
        if Double(self.bytes) >= rate * self.seconds {
            startSpan()
            // The period after the change is over, and this is not it: all is well again.
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
