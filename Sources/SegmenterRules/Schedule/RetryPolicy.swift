/// The delays between the retries of a failed request: exponential backoff with full jitter.
///
/// Pure: no I/O and no clock.
package struct RetryPolicy: Sendable {
    /// The number of attempts in a row without progress that are retried.
    package var retries: Int
    /// The upper bound of the first delay, in seconds.
    package var base = 0.5
    /// The upper bound of each delay without `Retry-After`, in seconds.
    var cap = 30.0
    /// The longest accepted `Retry-After`, in seconds.
    package var longestRetryAfter = 3600.0
    /// The lower bound of each delay, in seconds.
    package var least = 0.0

    /// Creates a policy with the default delays and a lower bound of `least` seconds.
    package init(retries: Int, least: Double = 0) { (self.retries, self.least) = (retries, least) }

    /// Returns whether to retry after this number of attempts in a row without progress.
    package func allows(_ attemptsWithoutProgress: Int) -> Bool {
        attemptsWithoutProgress <= retries
    }

    /// Returns the delay before the next attempt, in seconds.
    ///
    /// - Parameters:
    ///   - failures: The number of failures in a row; 1 for the first.
    ///   - retryAfter: The seconds from `Retry-After` (RFC 9110 §10.2.3), which are waited in full.
    ///   - random: A number in 0..<1 that determines the delay within its bounds.
    /// - Returns: The delay in seconds.
    package func delay(failures: Int, retryAfter: Double?, random: Double) -> Double {
        let bound = min(cap, base * Double(1 << min(max(failures, 1) - 1, 16)))
        // Spread the retries after the requested time, so that clients do not return
        // simultaneously.
        if let retryAfter { return max(least, retryAfter + random * min(1, bound)) }
        return max(least, bound * random)
    }
}
