/// The decisions about stalled connections.
///
/// `Stalls` combines `StallDetector`, which knows no servers, with the canary. The canary is a
/// small request on a new connection, which tests whether a server can be reached.
package struct Stalls {
    /// A canary and its result.
    private struct Canary {
        /// The index of the server to which it is sent.
        var source: Int
        var isUnderWay = true
        /// The verdict on the head of its response.
        var end: StallDetector.CanaryEnd = .lost
        /// The wait that the server requested, in seconds.
        var retryAfter: Double?
    }

    /// The next step.
    package enum Action: Hashable {
        case nothing
        /// The canary is no longer needed.
        case dropCanary
        /// These connections have stalled while others receive bytes, and are reopened.
        case reopen([Int])
        /// A canary has to be sent to a server.
        ///
        /// `stalledFor`: the seconds since the last byte; `nil` unless the stall is new.
        case sendCanary(source: Int, stalledFor: Double?)
    }

    /// The consequence of a canary for its server.
    package struct News: Hashable {
        package var source: Int
        /// The time at which the server accepts requests again, if it sent `Retry-After`.
        package var due: Double?
        /// Whether to replace the stalled connections.
        package var replaces: Bool
    }

    private var detector = StallDetector()
    private var canary: Canary?
    /// The number of canaries in a row, in the present stall, that the network lost, and the last
    /// failure.
    private var losses = 0
    private var lastLoss: TransferFailure?

    /// Whether connections were replaced before, and no bytes arrived since.
    package var isInVain: Bool { detector.isInVain }

    /// Returns the last canary's failure if the network counts as lost; otherwise `nil`.
    ///
    /// For that, each server was sent at least one canary, and one of them two, all without an
    /// answer.
    package func loss(of servers: Int) -> TransferFailure? {
        losses >= max(Self.fewestLosses, servers + 1) ? lastLoss : nil
    }

    /// The minimum number of lost canaries in a row that shows that the network is lost.
    private static let fewestLosses = 3

    /// Decides about stalled connections.
    ///
    /// Called at each tick.
    ///
    /// - Parameters:
    ///   - connections: The connections with a request in flight, and those that wait to retry.
    ///   - slots: All connections.
    ///   - received: The number of bytes received so far.
    ///   - now: The time.
    /// - Returns: The next step.
    package mutating func step(
        _ connections: [Int: StallDetector.Connection], _ slots: Slots, received: Int64,
        now: Double
    ) -> Action {
        let wasNoticed = detector.noticed != nil
        switch detector.step(connections, received: received, now: now) {
        case .nothing: return .nothing
        case .endCanary: return .dropCanary
        case .rescue(let indices): return .reopen(indices)
        case .sendCanary:
            // The servers receive canaries in rotation.
            let candidates = Set(connections.keys.map { slots[$0].source }).sorted()
            let last = canary?.source ?? -1
            guard let source = candidates.first(where: { $0 > last }) ?? candidates.first else {
                return .nothing
            }
            canary = Canary(source: source)
            if !wasNoticed { losses = 0 }
            // Connections that had already failed are excluded.
            let quiet = connections.values.map(\.quiet).filter { $0 < .infinity }
            return .sendCanary(source: source, stalledFor: wasNoticed ? nil : quiet.min() ?? 0)
        }
    }

    /// Judges the head of the response to the canary.
    package mutating func judge(_ head: FetchMachine.Head) {
        if case .accept = head.check.verdict(on: head.reply) {
            canary?.end = .answered
        } else {
            canary?.end = .refused
            canary?.retryAfter = head.reply.retryAfter
        }
    }

    /// Handles the end of the canary.
    ///
    /// - Parameters:
    ///   - end: The result of the transfer.
    ///   - received: The number of bytes received so far.
    ///   - longestWait: The longest wait that a server may request, in seconds.
    ///   - now: The time.
    /// - Returns: The consequence; `nil` if there was no canary.
    package mutating func ended(
        _ end: TransferEnd, received: Int64, longestWait: Double, now: Double
    ) -> News? {
        if case .failed(.stalled) = end { canary?.end = .refused }
        guard let ended = canary else { return nil }
        if case .failed(let failure) = end, ended.end == .lost, failure.isNetworkLoss {
            (losses, lastLoss) = (losses + 1, failure)
        } else {
            losses = 0
        }
        // The canary is kept, because the next one is sent to another server.
        canary?.isUnderWay = false
        // The wait applies to every new request to the server.
        let due = ended.retryAfter.map { now + min($0, longestWait) }
        return News(
            source: ended.source, due: due,
            replaces: detector.canaryEnded(ended.end, received: received, due: due))
    }

    /// Ends a canary that is not sent, because its server is left alone.
    mutating func canaryWithheld(received: Int64, now: Double) {
        canary?.end = .refused
        _ = ended(.declined, received: received, longestWait: 0, now: now)
    }

    /// Forgets the canary.
    ///
    /// - Returns: Whether it is in flight and has to be cancelled.
    package mutating func dropCanary() -> Bool {
        defer { canary = nil }
        return canary?.isUnderWay == true
    }
}
