/// What may be transferred by now under a limit of rate: a token is a byte.
///
/// Pure: time is an argument.
///
/// Over any time of `t` seconds no more than `(t + burst)` times the rate and one are handed out: over five
/// seconds, two percent more than the rate.
struct TokenBucket: Sendable, Hashable {
    /// Seconds' worth of tokens that are kept: what a loop that comes late may make up for.
    static let burst = 0.1

    /// Bytes per second; more than 0.
    private(set) var rate: Double
    private var tokens = 0.0
    private var last: Double

    /// Makes an empty bucket.
    ///
    /// - Parameters:
    ///   - rate: Bytes per second, more than 0.
    ///   - now: Seconds, as in every later call.
    init(rate: Double, now: Double) {
        self.rate = rate
        last = now
    }

    /// Whole tokens that are there, in bytes.
    var available: Int64 { Int64(min(tokens, 0x1p50)) }

    /// Tokens that fit in; one more than the burst, or the slowest rates would never have a whole one.
    private var capacity: Double { 1 + rate * Self.burst }

    /// Puts in what has come since the last call.
    mutating func refill(now: Double) {
        guard now > last else { return }
        tokens = min(capacity, tokens + (now - last) * rate)
        last = now
    }

    /// Takes out so many, or all that are there: of very many, a `Double` counts only some.
    mutating func take(upTo count: Int64) { tokens -= Double(min(count, available)) }

    /// Puts back what was taken and not used.
    mutating func giveBack(_ count: Int64) { tokens = min(capacity, tokens + Double(count)) }

    /// Another rate from now on: what had gathered under the old one is kept as far as the new one
    /// would have let it gather.
    mutating func change(to rate: Double, now: Double) {
        refill(now: now)
        self.rate = rate
        tokens = min(capacity, tokens)
    }
}
