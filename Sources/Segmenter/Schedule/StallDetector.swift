/// What is done about connections from which nothing comes any more.
///
/// Pure: time is an argument, and comes in ticks.
///
/// When all stall, nobody knows whether the server thinks or the network is gone. A *canary* finds
/// out: a small request on a new connection. One that is answered shows that the way is there, and
/// that the stalled connections are not on it: they are replaced. As long as none is answered,
/// nothing is given up; the limits of connecting and of stalls go on as always.
///
/// One that stalls while others bring bytes is rescued: a new connection takes its place.
///
/// Either costs a server that only thinks for long some work. So each time that nobody knows whether
/// it was needed, the next stall has to last twice as long.
struct StallDetector: Sendable {
    /// Longest time from one step to the next that counts, in seconds.
    ///
    /// It is about two ticks: in more the loop stood still.
    static let longestStep = 0.2
    /// Shortest time without a byte that is a stall, in seconds.
    static let patience = 1.0
    /// How much longer than the longest time to first byte of its server a stall has to last.
    static let factor = 4.0
    /// Seconds from one canary to the next.
    static let interval = 0.5
    /// Seconds from one to the next in the end.
    static let longestInterval = 8.0
    /// Canaries at the first interval, when none reaches the server.
    static let quickTries = 20
    /// Seconds of flow after which caution is halved again.
    static let forgetting = 30.0
    /// Most that patience is multiplied by.
    static let greatestCaution = 64.0

    /// What is known of one connection that has a request under way, or would have one had the
    /// network not failed.
    struct Connection: Hashable, Sendable {
        /// Seconds since something came from the server, or since the request went out; time in
        /// which nothing was asked for, or the loop stood still, is not in it.
        var quiet: Double
        /// Whether anything has come in answer to this request.
        var isAnswered = true
        /// Whether its connection is made.
        var isConnected = true
        /// Longest time to first byte of its server, in seconds.
        var longestTimeToFirstByte: Double?

        /// Time without a byte that is no stall yet, in seconds.
        func limit(_ caution: Double) -> Double {
            let patience = max(
                StallDetector.patience, StallDetector.factor * (longestTimeToFirstByte ?? 0))
            return patience * caution
        }
    }

    /// What is to be done now.
    enum Action: Hashable, Sendable {
        case nothing
        /// All stall: try a new connection.
        case sendCanary
        /// Something has come: the canary is not needed any more.
        case endCanary
        /// These have stalled while others have not: give them new connections.
        case rescue([Int])
    }

    /// How a canary ended.
    enum CanaryEnd: Hashable, Sendable {
        /// With the reply that was asked for.
        case answered
        /// With another reply, or none on a connection that was made: somebody is there, and has
        /// enough to do.
        case refused
        /// Without a connection.
        case lost
    }

    /// When the present stall was noticed; `nil` while there is none.
    private(set) var noticed: Double?
    /// Bytes that had come then: one more ends it, though whoever brought it may ask again already.
    private var receivedWhenNoticed: Int64 = 0
    /// What patience is multiplied by.
    private(set) var caution = 1.0
    private var hasCanary = false
    private var nextCanary = 0.0
    /// Canaries of this stall that were not answered.
    private var lost = 0
    /// Canaries of this stall that were refused.
    private var refused = 0
    private var lastStep: Double?
    /// Seconds of flow since caution was changed.
    private var flow = 0.0
    /// Bytes that had come when connections were last replaced.
    private var receivedAtReplacement: Int64?
    /// Whether nothing had come since the replacement before the last one: replacing does not help, and
    /// the stall of the old connections counts as that of the new ones.
    private(set) var isInVain = false

    /// Decides what to do.
    ///
    /// - Parameters:
    ///   - connections: By number; those that wait for something else than the network are left out.
    ///   - received: Bytes of the file that have come so far.
    ///   - now: In seconds.
    /// - Returns: The action; the caller has taken it when it calls again.
    mutating func step(
        _ connections: [Int: Connection], received: Int64 = 0, now: Double
    ) -> Action {
        let elapsed = min(now - (lastStep ?? now), Self.longestStep)
        lastStep = now
        let flows = connections.values.contains {
            $0.isAnswered && $0.quiet < Self.patience / 2
        }
        if flows { calmDown(elapsed) }
        if noticed != nil {
            let isOver =
                connections.isEmpty || received > receivedWhenNoticed
                || connections.values.contains { $0.isAnswered && $0.quiet < $0.limit(1) }
            guard isOver else { return canary(now) }
            noticed = nil
            defer { hasCanary = false }
            return hasCanary ? .endCanary : .nothing
        }
        let stalled = connections.filter { $0.value.quiet >= $0.value.limit(caution) }
        // Those that failed have been answered: that is no stall, though it may go on with them.
        guard stalled.values.contains(where: { $0.quiet < .infinity }) else { return .nothing }
        if stalled.count == connections.count {
            noticed = now
            receivedWhenNoticed = received
            (lost, refused, nextCanary) = (0, 0, now)
            return canary(now)
        }
        // Making a connection has a limit of its own.
        let lame = stalled.filter(\.value.isConnected).keys.sorted()
        guard flows, !lame.isEmpty else { return .nothing }
        strike()
        return .rescue(lame)
    }

    private mutating func canary(_ now: Double) -> Action {
        guard !hasCanary, now >= nextCanary else { return .nothing }
        hasCanary = true
        // Nobody is troubled by what does not reach him; who refuses is not asked often.
        let doublings = refused + max(0, lost - Self.quickTries)
        nextCanary =
            now + min(Self.longestInterval, Self.interval * Double(1 << min(doublings, 8)))
        return .sendCanary
    }

    /// A canary has ended by itself.
    ///
    /// - Parameters:
    ///   - end: How.
    ///   - received: Bytes of the file that have come so far.
    ///   - due: When the server wants to be asked again at the earliest (`Retry-After`).
    /// - Returns: Whether the stalled connections are to be replaced.
    mutating func canaryEnded(
        _ end: CanaryEnd, received: Int64, due: Double? = nil
    ) -> Bool {
        hasCanary = false
        guard noticed != nil else { return false }
        switch end {
        case .lost:
            lost += 1
            return false
        case .refused:
            refused += 1
            if let due { nextCanary = max(nextCanary, due) }
            return false
        case .answered:
            // The first is answered at once: perhaps the server had only thought. Nor does it help
            // where canaries are answered and nothing else is.
            isInVain = received == receivedAtReplacement
            if lost == 0 || isInVain { strike() }
            receivedAtReplacement = received
            noticed = nil
            return true
        }
    }

    private mutating func strike() {
        caution = min(Self.greatestCaution, 2 * caution)
        flow = 0
    }

    private mutating func calmDown(_ elapsed: Double) {
        guard caution > 1 else { return }
        flow += elapsed
        guard flow >= Self.forgetting else { return }
        caution /= 2
        flow = 0
    }
}
