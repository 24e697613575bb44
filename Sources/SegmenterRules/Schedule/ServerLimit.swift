/// The number of requests that a server serves at a time, learned from the requests that it
/// refuses.
///
/// Pure: no I/O and no clock.
///
/// If a server refuses a request while it serves others, the request may have been over the server's
/// limit. After several refusals in a row, the limit is the largest number of requests that were
/// served at a time in between. From then on, surplus connections idle.
///
/// At growing intervals, segget sends one request above the limit. If the server serves it, and
/// still serves as many requests after `settling` seconds, the limit rises by one. Before that, one
/// request too many may only seem to be served: a response that the server has finished arrives
/// for a moment longer.
package struct ServerLimit: Sendable, Hashable {
    /// The meaning of a request that was refused.
    package enum Verdict: Sendable, Hashable {
        /// An ordinary failure: nothing else is being served.
        case failure
        /// Retry soon. This is not a failure, because other requests are being served.
        case again
        /// The request was over the server's limit: wait until the limit permits another request.
        case rest
    }

    /// The other requests to the server.
    package struct Load: Sendable, Hashable {
        /// The number of requests whose bodies are being received.
        package var served = 0
        /// The number of requests without a response.
        package var asking = 0
        /// The number of requests that have failed and wait to be retried.
        package var waiting = 0

        package init(served: Int = 0, asking: Int = 0, waiting: Int = 0) {
            self.served = served
            self.asking = asking
            self.waiting = waiting
        }

        /// The number of requests that are served or have no response.
        package var active: Int { served + asking }

        package static func + (one: Load, other: Load) -> Load {
            Load(
                served: one.served + other.served, asking: one.asking + other.asking,
                waiting: one.waiting + other.waiting)
        }
    }

    /// A change of the limit to report, and its cause.
    package struct News: Sendable, Hashable {
        package var limit: Int
        /// The refusal that lowered the limit; `nil` if the limit has risen.
        package var cause: TransferFailure?
    }

    /// The number of refusals in a row from which a first limit is derived.
    package static let doubt = 3
    /// The number of refusals in a row that lower a known limit.
    static let doubtOfFall = 2
    /// The seconds until one request above the limit is sent.
    ///
    /// The interval doubles after each refusal, so that no minute has more than three of them.
    static let firstProbe = 5.0
    /// The longest interval between two requests above the limit, in seconds.
    static let longestProbe = 240.0
    /// The seconds after which the limit rises, if one request more than the limit is still served.
    static let settling = 1.0
    /// The seconds after which an attempt to raise the limit ends without success.
    package static let patience = 5.0

    /// The limit; `nil` while it is unknown.
    package private(set) var limit: Int?
    private var interval = Self.firstProbe
    private var nextProbe = 0.0
    /// The time of the last refusal at the limit.
    ///
    /// Requests that were sent before it give no new information.
    private var judged = -Double.infinity
    /// The time at which the limit was last lowered.
    private var learned = -Double.infinity
    /// The number of refusals in a row below the limit, the time of the first of them, and the most
    /// requests that were served in the meantime.
    private var refusals = 0
    private var refusedSince = 0.0
    private var mostServed = 0
    /// The time at which a request above the limit was served, while segget tests a higher limit.
    private var liftedSince: Double?
    private var cause: TransferFailure?
    private var reported: Int?
    private var changed = 0.0
    /// Whether the limit was learned in this session, not in an earlier one.
    package private(set) var isNews = false

    package init() {}

    /// Creates a limit that an earlier session learned.
    ///
    /// A request above the limit tests it after `firstProbe` seconds.
    package init(remembered limit: Int, now: Double) {
        self.limit = limit
        nextProbe = now + Self.firstProbe
    }

    /// Returns whether another request may be sent.
    package func allows(beside load: Load, now: Double) -> Bool {
        guard let limit else { return true }
        // If nothing is active, waiting requests count, so that a new request does not evade their
        // delays.
        let busy = load.served + load.asking
        if (busy > 0 ? busy : load.waiting) < limit { return true }
        guard liftedSince == nil else { return load.served > 0 && busy <= limit }
        return load.served > 0 && now >= nextProbe
    }

    /// Records that a request was sent.
    package mutating func asked(beside load: Load, now: Double) {
        guard let limit, load.served + load.asking >= limit else { return }
        nextProbe = now + interval
    }

    /// Records that a request is being served.
    ///
    /// - Parameters:
    ///   - load: All requests, this one included.
    ///   - asked: The time at which the request was sent.
    ///   - now: The present time.
    package mutating func served(_ load: Load, asked: Double, now: Double) {
        if load.served > mostServed {
            if asked < refusedSince {
                mostServed = load.served
            } else {
                refusals = 0
            }
        }
        guard let limit, load.served > limit else { return }
        if asked < learned {
            // The request was sent before the limit was learned, and was not counted then.
            set(load.served, now)
        } else if asked >= judged, liftedSince == nil {
            liftedSince = now
        }
    }

    /// Records a refusal and returns its meaning.
    ///
    /// - Parameters:
    ///   - load: All other requests.
    ///   - asked: The time at which the request was sent.
    ///   - isFirst: Whether the previous request in its slot did not fail.
    ///   - retryAfter: The seconds that the server asks the client to wait.
    ///   - failure: The refusal.
    ///   - now: The present time.
    /// - Returns: The meaning of the refusal.
    package mutating func refused(
        beside load: Load, asked: Double, isFirst: Bool, retryAfter: Double? = nil,
        failure: TransferFailure, now: Double
    ) -> Verdict {
        guard load.served > 0 else {
            // Requests that were sent at the same time may still be served.
            return isFirst && load.asking > 0 ? .again : .failure
        }
        if let retryAfter { nextProbe = max(nextProbe, now + retryAfter) }
        if let limit, load.served + load.asking >= limit {
            if asked >= judged {
                cause = failure
                interval = min(Self.longestProbe, 2 * interval)
                nextProbe = max(nextProbe, now + interval)
                judged = now
                liftedSince = nil
            }
            return .rest
        }
        if refusals == 0 { (refusedSince, mostServed) = (now, 0) }
        refusals += 1
        mostServed = max(mostServed, load.served)
        guard refusals >= (limit == nil ? Self.doubt : Self.doubtOfFall) else { return .again }
        cause = failure
        refusals = 0
        set(mostServed, now)
        (learned, judged) = (now, now)
        nextProbe = max(nextProbe, now + interval)
        return .rest
    }

    /// Checks the requests that are being served; called about every 100 ms.
    package mutating func watch(_ load: Load, now: Double) {
        guard let limit, let since = liftedSince, now - since >= Self.settling else { return }
        guard load.served > limit else {
            if now - since >= Self.patience { liftedSince = nil }
            return
        }
        set(limit + 1, now)
        interval = max(Self.firstProbe, interval / 2)
        nextProbe = now
    }

    /// Returns the limit if it has changed since the last call and is stable; otherwise `nil`.
    package mutating func takeNews(now: Double) -> News? {
        guard let limit, limit != reported, now - changed >= Self.settling else { return nil }
        let isRise = limit > reported ?? .max
        reported = limit
        return News(limit: limit, cause: isRise ? nil : cause)
    }

    private mutating func set(_ limit: Int, _ now: Double) {
        liftedSince = nil
        isNews = true
        if limit != self.limit { changed = now }
        self.limit = limit
    }
}

extension TransferFailure {
    /// Returns whether a server with too many connections may fail a request in this way.
    ///
    /// The failure has this meaning only if other requests are being served.
    ///
    /// - Parameter hadReply: Whether the head of a response was received.
    /// - Returns: Whether the failure may mean that the server has too many connections.
    package func mayTurnAway(hadReply: Bool) -> Bool {
        switch self {
        case .status(let status): mayBeOverload(status)
        case .network(let code, _): !hadReply && isConnectionFailure(code)
        case .stalled: !hadReply
        default: false
        }
    }
}
