/// How many small files may be asked for at a time at one origin, learned from what it turns away.
///
/// Pure.
///
/// Their replies are over so soon that "being served" says nothing of how many a server serves. So it
/// is a crowd of refusals that narrows the window to half, once for all that were under way, and
/// time that widens it again, a little at a time and ever more rarely. One file's trouble is its own.
struct RequestWindow: Sendable, Hashable {
    /// Refusals, each less than a second after the one before, from which on they are a crowd.
    static let crowd = 3
    /// Seconds between two refusals from which on they have nothing to do with each other.
    static let memory = 1.0
    /// Seconds until a window that was narrowed is widened for the first time, and at most.
    static let intervals = (first: 1.0, longest: 60.0)
    /// A window that is as wide as this is none.
    static let widest = 64
    /// Requests that may go out in one go, where they are spaced.
    static let burst = 8.0

    /// Most requests under way; `nil` while nothing is known.
    private(set) var limit: Int?
    /// Whether they share one connection (HTTP/2): else no more go out than `widest`.
    var isMultiplexed = false
    /// Seconds from one request to the next, on average; 0 where they may go out in one go.
    ///
    /// Replies that were asked for in one go come in one go, and overflow the queues on the way.
    var spacing = 0.0
    /// Requests under way.
    private(set) var underWay = 0
    /// When the last one went out, and how many more had by then than one in each `spacing`.
    private var lastSent = -Double.infinity
    private var ahead = 0.0
    private var refusals = 0
    private var lastRefusal = -Double.infinity
    private var narrowed = -Double.infinity
    private var interval = Self.intervals.first
    private var nextRise = 0.0
    private var restsUntil = 0.0

    /// When the next request may go out, as far as `spacing` says.
    var due: Double { lastSent + (ahead - Self.burst) * spacing }

    /// Whether another request may go out.
    func hasRoom(now: Double) -> Bool {
        now >= restsUntil && now >= due
            && underWay < (limit ?? (isMultiplexed ? .max : Self.widest))
    }

    /// A request goes out.
    ///
    /// - Returns: How many others are under way.
    mutating func sent(now: Double) -> Int {
        defer { underWay += 1 }
        ahead = 1 + (spacing > 0 ? max(0, ahead - (now - lastSent) / spacing) : 0)
        lastSent = now
        return underWay
    }

    /// A request was answered in a way that says nothing of how many are.
    mutating func left() { underWay -= 1 }

    /// A request was served.
    mutating func served(now: Double) {
        underWay -= 1
        guard let limit, underWay + 1 >= limit, now >= nextRise else { return }
        self.limit = limit + max(1, limit / 8)
        nextRise = now + interval
        if limit >= Self.widest { self.limit = nil }
    }

    /// A request was turned away.
    ///
    /// - Parameters:
    ///   - others: What `sent` returned for it.
    ///   - sent: When it went out.
    ///   - retryAfter: Seconds that the server asks to wait for, unless that is too long.
    ///   - now: The present time.
    /// - Returns: Whether it was over the server's limit: then it is no attempt that counts.
    mutating func refused(
        beside others: Int, sent: Double, retryAfter: Double? = nil, now: Double
    ) -> Bool {
        let wide = underWay
        underWay -= 1
        refusals = now - lastRefusal < Self.memory ? refusals + 1 : 1
        lastRefusal = now
        guard others > 0 else { return false }
        guard refusals >= Self.crowd else { return sent < narrowed }
        if let retryAfter { restsUntil = max(restsUntil, now + retryAfter) }
        if sent >= narrowed {
            if limit != nil { interval = min(Self.intervals.longest, 2 * interval) }
            limit = max(1, min(limit ?? .max, wide) / 2)
            narrowed = now
        }
        nextRise = now + interval
        return true
    }
}
