/// The state of a server that counts requests: it refuses one although it serves no other at that
/// moment.
///
/// Pure: no I/O and no clock.
///
/// If a server reports overload (429, 503), segget sends fewer and larger requests. If a server
/// forbids (403) a URL that it has served before, it may restart its timer with each request that
/// it refuses. Such a server gets no requests for a while, and then one large request.
/// `ServerLimit` is for servers that limit the number of simultaneous requests. `pace` has what is
/// known before a refusal: the user's bound, and the quotas that responses state. It also has the
/// wait that a refusal demands (`Retry-After`).
package struct RequestQuota: Sendable, Hashable {
    /// The step that follows when a server forbids a URL that it has served.
    package enum Decision: Sendable, Hashable {
        /// Send the server nothing for this number of seconds.
        case rest(Double)
        /// Give up: the server has refused the first request after each pause.
        case giveUp
    }

    /// The seconds without requests after the first refusal, and after each first request that is
    /// refused after a pause.
    package static let rests = [10.0, 20, 40]
    /// The shortest range that is requested from such a server, in bytes, if that many are missing.
    static let leastRequest: Int64 = 16 << 20
    /// The first and the longest spacing of requests after refusals, in seconds.
    static let spacings = (first: 1.0, longest: 60.0)
    /// The spacing below which requests are no longer spaced, in seconds.
    static let shortestSpacing = 0.03
    /// The number of requests in a row that must be served before the spacing is halved.
    ///
    /// The number doubles after each further refusal.
    static let streaks = (first: 8, longest: 256)
    /// The seconds that the first request after a pause has for its response before another is
    /// sent.
    package static let patience = 10.0
    /// The seconds after which pauses without a later request are forgotten.
    package static let memory = 600.0
    /// The least time that stealing work from another connection must save, in seconds, since it
    /// costs a request.
    static let leastSaving = 2.0

    /// The seconds for which others may take a request's turn before a list of small files does.
    ///
    /// A fetch asks for a turn at each tick of the loop.
    static let courtesy = 0.15

    /// The seconds of a demanded wait from which on a queue gives the task's slot to another.
    static let shortWait = 5.0

    /// The user's bound, and the quotas and waits that responses state.
    package var pace: RequestPace
    /// The seconds between two requests; 0 if they need not be spaced.
    package private(set) var spacing = 0.0
    /// The end of the pause in which nothing is sent.
    private(set) var restsUntil = -Double.infinity
    /// The number of pauses since a request was last served.
    package private(set) var rests = 0
    /// Whether the server has forbidden what it had served; then all missing bytes are requested at
    /// once.
    private(set) var isStrict = false
    private var lastAsked = -Double.infinity
    /// The time at which the first request after a pause was sent, until it has a response.
    private var trial: Double?
    private var streak = 0
    private var enough = Self.streaks.first
    /// The time until which the sender of a request that had to wait is expected to ask again.
    private var soughtUntil = -Double.infinity

    package init(_ pace: RequestPace = RequestPace()) { self.pace = pace }

    /// Whether the server is known to count requests; then few requests cover large ranges.
    package var isKnown: Bool { spacing > 0 || rests > 0 || pace.isScarce }

    /// Returns the seconds until the next request may be sent; 0 if it may be sent now.
    ///
    /// - Parameters:
    ///   - now: The present time.
    ///   - active: The number of other requests that the server is serving or has not answered.
    /// - Returns: The seconds.
    package func delay(now: Double, beside active: @autoclosure () -> Int = 0) -> Double {
        max(
            0, restsUntil - now, lastAsked + spacing - now,
            trial.map { $0 + Self.patience - now } ?? 0, pace.delay(now: now, beside: active()))
    }

    /// Returns the delay for a sender that always has more requests, such as a list of small files.
    ///
    /// It lets a waiting sender go first, which would otherwise never get a turn.
    package func politeDelay(now: Double, beside active: @autoclosure () -> Int = 0) -> Double {
        delay(now: now < soughtUntil ? now - Self.courtesy : now, beside: active())
    }

    /// Records that the sender of one request has to wait this number of seconds for its turn.
    package mutating func waits(for delay: Double, now: Double) {
        soughtUntil = max(soughtUntil, now + delay + 2 * Self.courtesy)
    }

    /// Returns whether the server is in a pause in which nothing is sent.
    package func isResting(now: Double) -> Bool { now < restsUntil }

    /// Returns the seconds of a pause during which a queue gives the task's slot to another; `nil`
    /// if the wait is short.
    package func longRest(now: Double, beside active: @autoclosure () -> Int = 0) -> Double? {
        let isLong =
            isResting(now: now) || pace.pauseLeft(now: now, beside: active()) > Self.shortWait
        return isLong ? delay(now: now, beside: active()) : nil
    }

    /// Records that a request is sent.
    package mutating func asked(now: Double) {
        lastAsked = now
        soughtUntil = -.infinity
        pace.asked(now: now)
        if rests > 0 { trial = now }
    }

    /// Records a response; `isServed` is whether it has bytes of a file.
    package mutating func answered(isServed: Bool) {
        trial = nil
        guard isServed else { return }
        rests = 0
        guard spacing > 0 else { return }
        streak += 1
        guard streak >= enough else { return }
        (streak, spacing) = (0, spacing / 2)
        if spacing < Self.shortestSpacing { (spacing, isStrict) = (0, false) }
    }

    /// Records that an overloaded server has refused a request while it served no other.
    ///
    /// - Parameter asked: The time at which the request was sent.
    package mutating func refused(asked: Double) {
        trial = nil
        // Requests that were sent together count as one refusal.
        guard asked >= lastAsked || spacing == 0 else { return }
        space(asked: asked)
    }

    /// Records that the server forbids what it has served, after all remedies such as a new link
    /// have failed.
    ///
    /// - Parameter now: The present time.
    /// - Returns: The step that follows. If the server is in a pause, this is the rest of that
    ///   pause.
    package mutating func forbidden(now: Double) -> Decision {
        trial = nil
        if isResting(now: now) { return .rest(restsUntil - now) }
        if now - restsUntil > Self.memory { rests = 0 }
        guard rests < Self.rests.count else {
            (rests, restsUntil) = (0, now)
            return .giveUp
        }
        let rest = Self.rests[rests]
        rests += 1
        (isStrict, restsUntil) = (true, now + rest)
        space(asked: now)
        return .rest(rest)
    }

    private mutating func space(asked: Double) {
        lastAsked = max(lastAsked, asked)
        defer { streak = 0 }
        // A server that counts requests would have refused one of these earlier. This is an
        // occasional failure.
        guard spacing == 0 || streak < Self.streaks.first else { return }
        if spacing > 0 { enough = min(Self.streaks.longest, 2 * enough) }
        spacing = min(Self.spacings.longest, max(Self.spacings.first, 2 * spacing))
    }
}
