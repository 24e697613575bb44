import Assembler

/// What is done about connections from which nothing comes any more.
///
/// It composes `StallDetector`, which knows no server, with the canary: a small request on a new
/// connection, to learn whether a server can be reached.
struct Stalls {
    /// A canary, and what came of it.
    private struct Canary {
        /// The server that it goes to, or went to.
        var source: Int
        var isUnderWay = true
        /// What was made of the head of its reply.
        var end: StallDetector.CanaryEnd = .lost
        /// Seconds that the server asks to wait for.
        var retryAfter: Double?
    }

    /// What is to be done.
    enum Step: Hashable {
        case nothing
        /// The canary is not needed any more.
        case dropCanary
        /// These connections are lost, while others flow.
        case reopen([Int])
        /// A canary is due to a server.
        ///
        /// `stalledFor`: seconds for which nothing has come, when that is noticed for the first
        /// time.
        case sendCanary(source: Int, stalledFor: Double?)
    }

    /// What a canary has shown of its server.
    struct News: Hashable {
        var source: Int
        /// When the server may be asked again, if it has said so.
        var due: Double?
        /// Whether the stalled connections are to be replaced.
        var replaces: Bool
    }

    private var detector = StallDetector()
    private var canary: Canary?
    /// Canaries in a row, of the present stall, to which nobody has answered, and what became of the last.
    private var losses = 0
    private var lastLoss: TransferFailure?

    /// Whether connections were replaced before, and nothing has come since.
    var isInVain: Bool { detector.isInVain }

    /// Why the network counts as away, when each server was asked at least once, and one twice, and
    /// nobody has answered; `nil` as long as it does not.
    func loss(of servers: Int) -> TransferFailure? {
        losses >= max(Self.fewestLosses, servers + 1) ? lastLoss : nil
    }

    /// Canaries in a row that are lost with the network.
    private static let fewestLosses = 3

    /// Once a tick: decides about stalled connections.
    ///
    /// - Parameters:
    ///   - connections: Those that have a request under way, or wait to try again.
    ///   - slots: All connections.
    ///   - received: Bytes that have come by now.
    ///   - now: The time.
    /// - Returns: What is to be done.
    mutating func step(
        _ connections: [Int: StallDetector.Connection], _ slots: Slots, received: Int64,
        now: Double
    ) -> Step {
        let wasNoticed = detector.noticed != nil
        switch detector.step(connections, received: received, now: now) {
        case .nothing: return .nothing
        case .endCanary: return .dropCanary
        case .rescue(let indices): return .reopen(indices)
        case .sendCanary:
            // To one server after the other.
            let candidates = Set(connections.keys.map { slots[$0].source }).sorted()
            let last = canary?.source ?? -1
            guard let source = candidates.first(where: { $0 > last }) ?? candidates.first else {
                return .nothing
            }
            canary = Canary(source: source)
            if !wasNoticed { losses = 0 }
            // Not those that had failed before.
            let quiet = connections.values.map(\.quiet).filter { $0 < .infinity }
            return .sendCanary(source: source, stalledFor: wasNoticed ? nil : quiet.min() ?? 0)
        }
    }

    /// Judges the head of the reply to the canary.
    mutating func judge(_ head: FetchMachine.Head) {
        if case .accept = head.check.verdict(on: head.reply) {
            canary?.end = .answered
        } else {
            canary?.end = .refused
            canary?.retryAfter = head.reply.retryAfter
        }
    }

    /// The canary has ended.
    ///
    /// - Parameters:
    ///   - end: How.
    ///   - received: Bytes that have come by now.
    ///   - longestWait: Seconds that a server may ask to wait for, at the most.
    ///   - now: The time.
    /// - Returns: What it has shown; `nil` if there was none.
    mutating func ended(
        _ end: TransferEnd, received: Int64, longestWait: Double, now: Double
    ) -> News? {
        if case .failed(.stalled) = end { canary?.end = .refused }
        guard let ended = canary else { return nil }
        if case .failed(let failure) = end, ended.end == .lost, failure.isNetworkLoss {
            (losses, lastLoss) = (losses + 1, failure)
        } else {
            losses = 0
        }
        // The next one may go to another server.
        canary?.isUnderWay = false
        // It holds for all that would ask the server anew.
        let due = ended.retryAfter.map { now + min($0, longestWait) }
        return News(
            source: ended.source, due: due,
            replaces: detector.canaryEnded(ended.end, received: received, due: due))
    }

    /// The canary that is due is not sent: its server is left alone.
    mutating func canaryWithheld(received: Int64, now: Double) {
        canary?.end = .refused
        _ = ended(.declined, received: received, longestWait: 0, now: now)
    }

    /// Forgets the canary.
    ///
    /// - Returns: Whether it is under way, and to be dropped.
    mutating func dropCanary() -> Bool {
        defer { canary = nil }
        return canary?.isUnderWay == true
    }
}
