/// When a failed request is tried again: exponential backoff with full jitter.
///
/// Pure.
struct RetryPolicy: Sendable {
    /// Attempts without progress before giving up.
    var retries: Int
    /// Upper bound of the first delay, in seconds.
    var base = 0.5
    /// Upper bound of every delay that the server did not ask for, in seconds.
    var cap = 30.0
    /// Longest wait that a server may ask for, in seconds.
    var longestRetryAfter = 3600.0
    /// Lower bound of every delay, in seconds.
    var least = 0.0

    /// Makes the policy with the usual delays, none of them shorter than `least` seconds.
    init(retries: Int, least: Double = 0) { (self.retries, self.least) = (retries, least) }

    /// Whether to try again after so many attempts in a row without progress.
    func allows(_ attemptsWithoutProgress: Int) -> Bool { attemptsWithoutProgress <= retries }

    /// How long to wait until the next attempt.
    ///
    /// - Parameters:
    ///   - failures: Failures in a row, 1 for the first.
    ///   - retryAfter: Seconds that the server asked for (RFC 9110 §10.2.3), kept in full.
    ///   - random: In 0..<1; decides where between nothing and the bound the delay falls.
    /// - Returns: Seconds.
    func delay(failures: Int, retryAfter: Double?, random: Double) -> Double {
        let bound = min(cap, base * Double(1 << min(max(failures, 1) - 1, 16)))
        // After the time that the server named, spread out, so that not all come back at once.
        if let retryAfter { return max(least, retryAfter + random * min(1, bound)) }
        return max(least, bound * random)
    }
}
