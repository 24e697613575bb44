/// What has come over the network as a whole, when it was looked at, and whether that is fast enough.
struct Account {
    /// When the last tick was; 0 before the first.
    private(set) var lastTick = 0.0
    /// Seconds between the last tick and the one before; 0 for the first.
    private(set) var elapsed = 0.0
    /// Bytes that had been received when any last came, and since when at the latest.
    private var arrival = (received: Int64(0), since: -Double.infinity)
    /// Bytes that had been received when the speed was last watched.
    private var receivedAtWatch: Int64 = 0
    /// The least speed that is put up with.
    private var floor: RateFloor?

    /// - Parameter limits: The least speed is one of them.
    init(_ limits: LimitOptions) {
        floor = limits.minRate.map { RateFloor(rate: $0, period: limits.minRatePeriod.inSeconds) }
    }

    /// When something came last, at the earliest.
    var arrivedSince: Double { arrival.since }

    /// A tick has come.
    ///
    /// - Parameters:
    ///   - received: Bytes that have come by now.
    ///   - now: The time.
    mutating func tick(_ received: Int64, now: Double) {
        if received > arrival.received { arrival = (received, lastTick) }
        elapsed = lastTick > 0 ? now - lastTick : 0
        lastTick = now
    }

    /// Watches the speed since the last call, of a tick that was noted.
    ///
    /// - Parameters:
    ///   - received: Bytes that have come by now.
    ///   - counts: Whether it is the server's doing; if not, neither that time counts nor what came in it.
    /// - Returns: What is to be done about it.
    mutating func watch(_ received: Int64, counts: Bool) -> RateFloor.Verdict {
        let fresh = received - receivedAtWatch
        receivedAtWatch = received
        // Nor does time in which the loop did not run.
        let seconds = min(elapsed, StallDetector.longestStep)
        return counts ? floor?.note(bytes: fresh, seconds: seconds) ?? .goOn : .goOn
    }
}
