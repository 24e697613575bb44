/// Decides when the next request may be sent to a server whose number of requests is limited.
///
/// The user's bound and the quotas that the server states in its responses both apply. While much
/// of a quota remains, it delays nothing. When little remains, the remaining requests are spread
/// over the time until the quota is full again. With nothing left, none is sent before that.
///
/// After a refusal with `Retry-After`, none is sent before that time. If the server is sending
/// bodies, it may have refused one request too many. Then as many requests as it serves may be
/// active, until one of these is refused, too.
///
/// Pure: no I/O and no clock.
package struct RequestPace: Sendable, Hashable {
    /// The part of a quota below which requests are spread.
    static let scarcePart = 0.25
    /// The seconds between two requests from which on requests are few, so that each should ask for
    /// many bytes.
    static let scarceSpacing = 0.5
    /// The seconds that are added to a stated reset, which is in whole seconds; at most this part of
    /// the window.
    static let margin = (longest: 1.0, part: 0.1)
    /// The difference of two stated resets, in seconds, up to which they mean the same window; at
    /// most half of the window.
    static let tolerance = 2.0
    /// The longest wait for a quota, in seconds: the longest `Retry-After` that is accepted.
    package static let longestWait = 3600.0
    /// The longest wait for a quota that a served response stated, in seconds.
    ///
    /// A server that serves requests although it states that none remain must not stop everything.
    static let longestServedWait = 300.0

    /// The seconds after which the sender of a request asks again, if the end of another request
    /// may permit it.
    static let recheck = 1.0

    /// A quota that the server stated, as it is now.
    private struct Allowance: Sendable, Hashable {
        var name: String
        /// The number of requests in a window.
        var total: Double
        /// The number of requests that may still be sent in this window.
        var remaining: Double
        /// The end of the window.
        var reset: Double
        /// The length of a window in seconds.
        var length: Double
        /// Whether no response has described this window yet.
        var isGuessed = false

        var isScarce: Bool { remaining < 1 || remaining < total * RequestPace.scarcePart }

        /// Returns the earliest time of the next request after one at the time `last`.
        func due(after last: Double) -> Double {
            isScarce ? last + max(0, reset - last) / (remaining + 1) : last
        }
    }

    /// The time that a server demanded when it refused a request.
    private struct Pause: Sendable, Hashable {
        var since: Double
        var until: Double
        /// The number of requests that may be active nevertheless, because the server serves them.
        var most: Int
        /// Whether the server refused a request that `most` allowed.
        var isStrict = false

        /// Whether requests may be sent if few are active.
        var isOfLoad: Bool { most > 0 && !isStrict }

        /// Returns the seconds until a request may be sent beside `active` others, as far as known.
        func left(beside active: Int, now: Double) -> Double {
            isOfLoad && active < most ? 0 : max(0, until - now)
        }
    }

    private var bucket: TokenBucket?
    private var pause: Pause?
    private var allowances: [Allowance] = []
    private var lastAsked = -Double.infinity

    /// Creates a pace with the user's bound, if there is one.
    package init(_ rate: RequestRate? = nil) { limit(to: rate) }

    /// Sets or removes the user's bound.
    ///
    /// In no period are more requests sent than the rate has.
    package mutating func limit(to rate: RequestRate?) {
        // The bucket allows the requests of `burst` seconds and one more, above its rate.
        bucket = rate.map {
            TokenBucket(
                rate: Double($0.count) / ($0.period.seconds + TokenBucket.burst), now: -.infinity)
        }
    }

    /// Whether requests are so few that each should ask for many bytes.
    package var isScarce: Bool {
        if let bucket, bucket.rate * Self.scarceSpacing <= 1 { return true }
        return allowances.contains { $0.due(after: lastAsked) - lastAsked >= Self.scarceSpacing }
    }

    /// Returns the seconds until the next request may be sent; 0 if it may be sent now.
    ///
    /// - Parameters:
    ///   - now: The present time.
    ///   - active: The number of other requests that the server is serving or has not answered.
    /// - Returns: The seconds. If the end of an active request may permit another, they are at most
    ///   `recheck`.
    package func delay(now: Double, beside active: @autoclosure () -> Int = 0) -> Double {
        let left = pauseLeft(now: now, beside: active())
        let isOfLoad = left > 0 && pause?.isOfLoad ?? false
        return max(quotaDelay(now: now), isOfLoad ? min(left, Self.recheck) : left)
    }

    /// Returns the seconds for which a refusal with `Retry-After` forbids another request.
    package func pauseLeft(now: Double, beside active: @autoclosure () -> Int = 0) -> Double {
        guard let pause, now < pause.until else { return 0 }
        return pause.left(beside: active(), now: now)
    }

    private func quotaDelay(now: Double) -> Double {
        let last = max(lastAsked, -.greatestFiniteMagnitude)
        let due = allowances.reduce(0.0) { longest, allowance in
            guard now < allowance.reset else { return longest }
            return max(longest, allowance.due(after: last) - now)
        }
        return max(due, bucket?.delay(now: now) ?? 0)
    }

    /// Records that a request is sent.
    package mutating func asked(now: Double) {
        lastAsked = now
        bucket?.spend(now: now)
        for index in allowances.indices {
            if now >= allowances[index].reset {
                allowances[index].remaining = allowances[index].total
                allowances[index].reset = now + allowances[index].length
                allowances[index].isGuessed = true
            }
            allowances[index].remaining = max(0, allowances[index].remaining - 1)
        }
    }

    /// Records a refusal with `Retry-After`.
    ///
    /// - Parameters:
    ///   - seconds: The wait that the server demands; ignored if it is longer than a request waits.
    ///   - asked: The time at which the request was sent.
    ///   - served: The number of requests whose bodies the server is sending.
    ///   - now: The present time.
    package mutating func refused(for seconds: Double, asked: Double, served: Int, now: Double) {
        guard seconds > 0, seconds <= Self.longestWait else { return }
        guard var known = pause, now < known.until else {
            pause = Pause(since: now, until: now + seconds, most: served)
            return
        }
        known.isStrict = known.isStrict || asked >= known.since
        known.until = max(known.until, now + seconds)
        known.most = max(known.most, served)
        pause = known
    }

    /// Records that the server is sending the bodies of this number of requests.
    package mutating func serves(_ count: @autoclosure () -> Int, now: Double) {
        guard let known = pause, now < known.until else { return }
        pause?.most = max(known.most, count())
    }

    /// Records the quotas that a response states.
    ///
    /// - Parameters:
    ///   - quotas: The quotas; those of earlier responses no longer apply. Without any, nothing
    ///     changes.
    ///   - isServed: Whether the response is not a refusal.
    ///   - unanswered: The number of other requests to the server without a response, which the
    ///     server may not have counted yet.
    ///   - now: The present time.
    package mutating func stated(
        _ quotas: [StatedQuota], isServed: Bool, unanswered: Int, now: Double
    ) {
        guard !quotas.isEmpty else { return }
        if lastAsked == -.infinity { lastAsked = now }
        allowances = quotas.map { quota in
            let before = allowances.first { $0.name == quota.name }
            let longest = isServed ? Self.longestServedWait : Self.longestWait
            let length = quota.window ?? max(before?.length ?? 0, quota.reset, 1)
            let margin = min(Self.margin.longest, Self.margin.part * length)
            let reset = now + min(longest, quota.reset + margin)
            let used = Double(unanswered)
            var new = Allowance(
                name: quota.name,
                total: quota.total ?? max(before?.total ?? 0, quota.remaining + 1),
                remaining: max(0, quota.remaining - used), reset: reset, length: length)
            if let before, !before.isGuessed,
                abs(before.reset - reset) <= min(Self.tolerance, length / 2)
            {
                // Responses may arrive in another order than the server counted the requests.
                (new.remaining, new.reset) = (min(new.remaining, before.remaining), before.reset)
            }
            return new
        }
    }
}
