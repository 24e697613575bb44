/// The bytes received over all connections, the time of the last tick, and the check of the minimum
/// speed.
struct Account {
    /// The time of the last tick; 0 before the first.
    private(set) var lastTick = 0.0
    /// The seconds between the last tick and the one before; 0 for the first.
    private(set) var elapsed = 0.0
    /// The number of bytes after the last arrival, and the earliest time at which they may have
    /// arrived.
    private var arrival = (received: Int64(0), since: -Double.infinity)
    /// The number of bytes received when the speed was last checked.
    private var receivedAtWatch: Int64 = 0
    /// The minimum speed; `nil` for none.
    private var floor: RateFloor?

    /// - Parameter limits: The limits, which include the minimum speed.
    init(_ limits: LimitOptions) {
        floor = limits.minRate.map { RateFloor(rate: $0, period: limits.minRatePeriod.inSeconds) }
    }

    /// The earliest time at which the last byte may have arrived.
    var arrivedSince: Double { arrival.since }

    /// Records a tick.
    ///
    /// - Parameters:
    ///   - received: The number of bytes received so far.
    ///   - now: The time.
    mutating func tick(_ received: Int64, now: Double) {
        if received > arrival.received { arrival = (received, lastTick) }
        elapsed = lastTick > 0 ? now - lastTick : 0
        lastTick = now
    }

    /// Checks the speed since the last call.
    ///
    /// Called after `tick`.
    ///
    /// - Parameters:
    ///   - received: The number of bytes received so far.
    ///   - counts: Whether the server is responsible for the speed. If not, neither the time nor
    ///     the bytes count.
    /// - Returns: The verdict.
    mutating func watch(_ received: Int64, counts: Bool) -> RateFloor.Verdict {
        let fresh = received - receivedAtWatch
        receivedAtWatch = received
        // Time in which the loop did not run does not count either.
        let seconds = min(elapsed, StallDetector.longestStep)
        return counts ? floor?.note(bytes: fresh, seconds: seconds) ?? .goOn : .goOn
    }
}
