/// A token bucket for a rate limit: one token is one byte, or one request.
///
/// Pure: time is an argument. In any interval of `t` seconds, at most `(t + burst)` times the rate
/// and one byte are taken. Over five seconds, that is two percent above the rate.
package struct TokenBucket: Sendable, Hashable {
    /// The capacity, as seconds of the rate; a loop that runs late can catch up by this time.
    static let burst = 0.1

    /// The rate in bytes per second; above 0.
    package private(set) var rate: Double
    private var tokens = 0.0
    private var last: Double

    /// Creates an empty bucket.
    ///
    /// - Parameters:
    ///   - rate: The rate in bytes per second, above 0.
    ///   - now: The time in seconds, on the same clock as in later calls.
    package init(rate: Double, now: Double) {
        self.rate = rate
        last = now
    }

    /// The number of whole tokens, in bytes.
    package var available: Int64 { Int64(min(tokens, 0x1p50)) }

    /// The most tokens: one more than the burst.
    ///
    /// Without that one, the bucket of a very low rate would never hold a whole token.
    private var capacity: Double { 1 + rate * Self.burst }

    /// Adds the tokens that have accumulated since the last call.
    package mutating func refill(now: Double) {
        guard now > last else { return }
        tokens = min(capacity, tokens + (now - last) * rate)
        last = now
    }

    /// Removes up to `count` tokens, limited to `available`, which a `Double` represents exactly.
    package mutating func take(upTo count: Int64) { tokens -= Double(min(count, available)) }

    /// Returns the seconds until there is a whole token; 0 if there is one.
    package func delay(now: Double) -> Double { max(0, (1 - tokens) / rate - (now - last)) }

    /// Removes one token, even if there is none.
    package mutating func spend(now: Double) {
        refill(now: now)
        tokens -= 1
    }

    /// Returns unused tokens to the bucket.
    package mutating func giveBack(_ count: Int64) {
        tokens = min(capacity, tokens + Double(count))
    }

    /// Changes the rate from now on.
    ///
    /// Accumulated tokens are kept up to the capacity of the new rate.
    package mutating func change(to rate: Double, now: Double) {
        refill(now: now)
        self.rate = rate
        tokens = min(capacity, tokens)
    }
}
