/// The number of requests for small files that may be active at one origin, learned from refusals.
///
/// Pure: no I/O and no clock.
///
/// Responses for small files are too short to show how many requests a server serves at a time.
/// Instead, several refusals in quick succession halve the window, once for all requests that were
/// active. As time passes, the window widens in small steps, at growing intervals. A refusal of one
/// file alone does not change the window.
package struct RequestWindow: Sendable, Hashable {
    /// The number of refusals in quick succession that narrows the window.
    static let crowd = 3
    /// The seconds between two refusals from which on they count as unrelated.
    package static let memory = 1.0
    /// The seconds until a narrowed window widens: the first and the longest interval.
    static let intervals = (first: 1.0, longest: 60.0)
    /// The number of requests from which on the window no longer applies.
    package static let widest = 64
    /// The number of requests that may be sent in one burst, if requests are spaced.
    static let burst = 8.0

    /// The maximum number of active requests; `nil` while unknown.
    package private(set) var limit: Int?
    /// Whether the requests share one connection (HTTP/2); otherwise at most `widest` are active.
    package var isMultiplexed = false
    /// The mean number of seconds between two requests; 0 if they need not be spaced.
    ///
    /// The responses to a burst of requests arrive in one burst, and overflow the queues of the
    /// network.
    package var spacing = 0.0
    /// The number of active requests.
    package private(set) var underWay = 0
    /// The time of the last request, and by how many requests the sender was ahead of `spacing`.
    private var lastSent = -Double.infinity
    private var ahead = 0.0
    private var refusals = 0
    private var lastRefusal = -Double.infinity
    private var narrowed = -Double.infinity
    private var interval = Self.intervals.first
    private var nextRise = 0.0
    private var restsUntil = 0.0

    package init(isMultiplexed: Bool = false, spacing: Double = 0.0) {
        self.isMultiplexed = isMultiplexed
        self.spacing = spacing
    }

    /// The earliest time of the next request according to `spacing`.
    package var due: Double { lastSent + (ahead - Self.burst) * spacing }

    /// Returns whether another request may be sent.
    package func hasRoom(now: Double) -> Bool {
        now >= restsUntil && now >= due
            && underWay < (limit ?? (isMultiplexed ? .max : Self.widest))
    }

    /// Records that a request is sent.
    ///
    /// - Returns: The number of other active requests.
    package mutating func sent(now: Double) -> Int {
        defer { underWay += 1 }
        ahead = 1 + (spacing > 0 ? max(0, ahead - (now - lastSent) / spacing) : 0)
        lastSent = now
        return underWay
    }

    /// Records a response that says nothing about the number of requests that the server serves.
    package mutating func left() { underWay -= 1 }

    /// Records that a request was served.
    package mutating func served(now: Double) {
        underWay -= 1
        guard let limit, underWay + 1 >= limit, now >= nextRise else { return }
        self.limit = limit + max(1, limit / 8)
        nextRise = now + interval
        if limit >= Self.widest { self.limit = nil }
    }

    /// Records that a request was refused.
    ///
    /// - Parameters:
    ///   - others: The value that `sent` returned for this request.
    ///   - sent: The time at which the request was sent.
    ///   - retryAfter: The seconds that the server asks the client to wait; `nil` if they are too
    ///     many.
    ///   - now: The present time.
    /// - Returns: Whether the request was over the server's limit, so that it does not count as an
    ///   attempt.
    package mutating func refused(
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
