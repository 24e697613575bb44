/// How many requests at a time a server serves, learned from those that it turns away.
///
/// Pure.
///
/// A request that is turned away while others are being served is over the server's limit, or had
/// bad luck: the limit is believed when it happens again, and nothing above that number was served
/// in between. From then on whatever is above the limit rests. From time to time, and ever more
/// rarely, one request above it finds out whether the server serves more by now. When it is served,
/// so many are asked for; when they are still served after a while, the limit is higher. (For a
/// moment there is always one more: what the server has finished is still arriving here.)
struct ServerLimit: Sendable, Hashable {
    /// What a request that was turned away means.
    enum Verdict: Sendable, Hashable {
        /// A failure like any other: nothing else is being served.
        case failure
        /// To be tried again soon; no failure, since others are served.
        case again
        /// Over the server's limit: nothing to be done until there is room.
        case rest
    }

    /// The other requests to the server.
    struct Load: Sendable, Hashable {
        /// Their bodies arrive.
        var served = 0
        /// They have no reply yet.
        var asking = 0
        /// They have failed, and wait for their next attempts.
        var waiting = 0

        static func + (one: Load, other: Load) -> Load {
            Load(
                served: one.served + other.served, asking: one.asking + other.asking,
                waiting: one.waiting + other.waiting)
        }
    }

    /// What is to be reported: how many requests are served at a time, and why no more.
    struct News: Sendable, Hashable {
        var limit: Int
        /// How the server turned one away; `nil` when it serves more than before.
        var cause: TransferFailure?
    }

    /// Requests in a row that are turned away before a limit is believed in.
    static let doubt = 3
    /// The same when the limit seems to have come down.
    static let doubtOfFall = 2
    /// Seconds until one request above the limit is tried; twice as many after each that is turned
    /// away, so that no minute sees more than three of them.
    static let firstProbe = 5.0
    /// Most seconds until the next one is tried.
    static let longestProbe = 240.0
    /// Seconds for which one more than the limit must be served to lift it.
    static let settling = 1.0
    /// Seconds after which that has not come about.
    static let patience = 5.0

    /// The limit; `nil` while none is known.
    private(set) var limit: Int?
    private var interval = Self.firstProbe
    private var nextProbe = 0.0
    /// When one was last turned away at the limit: what was asked before shows nothing new.
    private var judged = -Double.infinity
    /// When the limit last came down.
    private var learned = -Double.infinity
    /// Turned away in a row without being above the limit, when the first of them was, and how many
    /// were served meanwhile.
    private var refusals = 0
    private var refusedSince = 0.0
    private var mostServed = 0
    /// Since when one more than the limit is tried, after a request above it was served.
    private var liftedSince: Double?
    private var cause: TransferFailure?
    private var reported: Int?
    private var changed = 0.0
    /// Whether the limit is of this session, and not what an earlier one learned.
    private(set) var isNews = false

    init() {}

    /// What an earlier session learned; whether it still holds is tried soon.
    init(remembered limit: Int, now: Double) {
        self.limit = limit
        nextProbe = now + Self.firstProbe
    }

    /// Whether a request may go out beside others.
    func allows(beside load: Load, now: Double) -> Bool {
        guard let limit else { return true }
        // Where nothing is under way, those that wait have the room: their delays are to be kept.
        let busy = load.served + load.asking
        if (busy > 0 ? busy : load.waiting) < limit { return true }
        guard liftedSince == nil else { return load.served > 0 && busy <= limit }
        return load.served > 0 && now >= nextProbe
    }

    /// A request has gone out.
    mutating func asked(beside load: Load, now: Double) {
        guard let limit, load.served + load.asking >= limit else { return }
        nextProbe = now + interval
    }

    /// A request is served.
    ///
    /// - Parameters:
    ///   - load: All requests, this one included.
    ///   - asked: When it went out.
    ///   - now: The present time.
    mutating func served(_ load: Load, asked: Double, now: Double) {
        if load.served > mostServed {
            if asked < refusedSince {
                mostServed = load.served
            } else {
                refusals = 0
            }
        }
        guard let limit, load.served > limit else { return }
        if asked < learned {
            // It had gone out when the limit was learned: it was not counted yet.
            set(load.served, now)
        } else if asked >= judged, liftedSince == nil {
            liftedSince = now
        }
    }

    /// A request was turned away.
    ///
    /// - Parameters:
    ///   - load: All other requests.
    ///   - asked: When it went out.
    ///   - isFirst: Whether the one before it, in its place, did not fail.
    ///   - retryAfter: Seconds that the server asks to wait for.
    ///   - failure: How it was turned away.
    ///   - now: The present time.
    /// - Returns: What that means.
    mutating func refused(
        beside load: Load, asked: Double, isFirst: Bool, retryAfter: Double? = nil,
        failure: TransferFailure, now: Double
    ) -> Verdict {
        guard load.served > 0 else {
            // Those that went out together may be about to be served.
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

    /// Looks at what is being served, about every 100 ms.
    mutating func watch(_ load: Load, now: Double) {
        guard let limit, let since = liftedSince, now - since >= Self.settling else { return }
        guard load.served > limit else {
            if now - since >= Self.patience { liftedSince = nil }
            return
        }
        set(limit + 1, now)
        interval = max(Self.firstProbe, interval / 2)
        nextProbe = now
    }

    /// What has changed since this was last asked, when it has settled.
    mutating func takeNews(now: Double) -> News? {
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
    /// Whether a server that has too many connections may fail a request in this way.
    ///
    /// - Parameter hadReply: Whether the head of a reply had come.
    /// - Returns: Whether it may; where others are being served, that is.
    func mayTurnAway(hadReply: Bool) -> Bool {
        switch self {
        case .status(let status): mayBeOverload(status)
        case .network(let code, _): !hadReply && isConnectionFailure(code)
        case .stalled: !hadReply
        default: false
        }
    }
}
