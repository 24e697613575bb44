/// Decides what to do about connections that receive no more bytes.
///
/// Pure: no I/O and no clock. The caller passes the time, and calls `step` at every tick.
///
/// If all connections stall, either the server is busy or the network is gone. A *canary*
/// distinguishes these: a small request on a new connection. If the canary is answered, the network
/// works, and the stalled connections are replaced. As long as no canary is answered, no connection
/// is given up. The connect timeout and the stall timeout still apply.
///
/// If one connection stalls while others receive bytes, it is rescued: a new connection replaces
/// it.
///
/// Both cost work if the server was only slow to respond. So whenever it is unknown whether a
/// replacement was needed, the next stall must last twice as long.
package struct StallDetector: Sendable {
    /// The longest time between two steps that counts, in seconds.
    ///
    /// This is about two ticks. If more time passes, the loop was blocked.
    static let longestStep = 0.2
    /// The shortest time without a byte that counts as a stall, in seconds.
    package static let patience = 1.0
    /// The factor by which a stall must exceed the longest time to first byte of its server.
    package static let factor = 4.0
    /// The seconds between two canaries.
    package static let interval = 0.5
    /// The upper bound of the interval between two canaries, in seconds.
    static let longestInterval = 8.0
    /// The number of lost canaries after which the interval starts to double.
    static let quickTries = 20
    /// The seconds of flow after which `caution` is halved.
    static let forgetting = 30.0
    /// The upper bound of `caution`.
    static let greatestCaution = 64.0

    /// The state of one connection that has an active request, or that waits to retry because the
    /// network failed.
    package struct Connection: Hashable, Sendable {
        /// The seconds since the server last sent something, or since the request was sent.
        ///
        /// Excludes times in which the connection was paused and in which the loop was blocked.
        package var quiet: Double
        /// Whether anything was received in response to this request.
        package var isAnswered = true
        /// Whether its connection is established.
        package var isConnected = true
        /// The longest time to first byte of its server, in seconds.
        var longestTimeToFirstByte: Double?

        package init(
            quiet: Double, isAnswered: Bool = true, isConnected: Bool = true,
            longestTimeToFirstByte: Double? = nil
        ) {
            self.quiet = quiet
            self.isAnswered = isAnswered
            self.isConnected = isConnected
            self.longestTimeToFirstByte = longestTimeToFirstByte
        }

        /// Returns the time without a byte after which the connection counts as stalled, in
        /// seconds.
        package func limit(_ caution: Double) -> Double {
            let patience = max(
                StallDetector.patience, StallDetector.factor * (longestTimeToFirstByte ?? 0))
            return patience * caution
        }
    }

    /// The action that the caller has to take.
    package enum Action: Hashable, Sendable {
        case nothing
        /// All connections stall: try a new connection.
        case sendCanary
        /// Something was received: cancel the canary.
        case endCanary
        /// These connections stall while others receive bytes: replace them.
        case rescue([Int])
    }

    /// The result of a canary.
    package enum CanaryEnd: Hashable, Sendable {
        /// The server sent the requested response.
        case answered
        /// The server sent another response, or accepted the connection and did not respond.
        ///
        /// The server is reachable, and may be busy.
        case refused
        /// No connection was established.
        case lost
    }

    /// The time at which the present stall was noticed; `nil` if there is none.
    package private(set) var noticed: Double?
    /// The number of bytes that had been received when the stall was noticed.
    ///
    /// One more byte ends the stall, even if the connection that received it has sent a new request
    /// since.
    private var receivedWhenNoticed: Int64 = 0
    /// The factor by which the patience is multiplied.
    private(set) var caution = 1.0
    private var hasCanary = false
    private var nextCanary = 0.0
    /// The number of canaries of this stall that reached no server.
    private var lost = 0
    /// The number of canaries of this stall that were refused.
    private var refused = 0
    private var lastStep: Double?
    /// The seconds of flow since `caution` was last changed.
    private var flow = 0.0
    /// The number of bytes that had been received when connections were last replaced.
    private var receivedAtReplacement: Int64?
    /// Whether no byte was received between the last two replacements.
    ///
    /// Replacing does not help then. The time for which the old connections stalled counts as stall
    /// time of the new ones.
    package private(set) var isInVain = false

    /// Returns the action for the present state of the connections.
    ///
    /// The caller must have carried out the action when it calls this method again.
    ///
    /// - Parameters:
    ///   - connections: The connections by number, without those that wait for something other than
    ///     the network.
    ///   - received: The number of bytes of the file that have been received so far.
    ///   - now: The time in seconds.
    /// - Returns: The action to take.
    package mutating func step(
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
        // An infinite time marks a connection whose request has failed. A failure is a response, so
        // failed connections alone are not a stall. A stall of others includes them.
        guard stalled.values.contains(where: { $0.quiet < .infinity }) else { return .nothing }
        if stalled.count == connections.count {
            noticed = now
            receivedWhenNoticed = received
            (lost, refused, nextCanary) = (0, 0, now)
            return canary(now)
        }
        // The connect timeout limits connections that are not established yet.
        let lame = stalled.filter(\.value.isConnected).keys.sorted()
        guard flows, !lame.isEmpty else { return .nothing }
        strike()
        return .rescue(lame)
    }

    private mutating func canary(_ now: Double) -> Action {
        guard !hasCanary, now >= nextCanary else { return .nothing }
        hasCanary = true
        // A lost canary costs no server anything. A refused one does, so refusals make canaries
        // rarer from the first one on.
        let doublings = refused + max(0, lost - Self.quickTries)
        nextCanary =
            now + min(Self.longestInterval, Self.interval * Double(1 << min(doublings, 8)))
        return .sendCanary
    }

    /// Processes the result of a canary that was not cancelled.
    ///
    /// - Parameters:
    ///   - end: The result of the canary.
    ///   - received: The number of bytes of the file that have been received so far.
    ///   - due: The earliest time at which the server permits another request (`Retry-After`).
    /// - Returns: Whether the stalled connections have to be replaced.
    package mutating func canaryEnded(
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
            // If the first canary is answered, the server may only have been slow to respond. If
            // canaries are answered and nothing else is, replacing connections does not help.
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
