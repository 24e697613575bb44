/// What is known of a server that counts requests: it turns one away although it serves no other at that moment.
///
/// Pure.
///
/// One that says that it has too much to do (429, 503) is asked less often, and for more at a time. One that forbids
/// (403) what it has just served may count for longer, and anew from each request that it refuses: it is sent nothing
/// for a while, then one request for much. `ServerLimit` is about servers that serve only so many at a time.
struct RequestQuota: Sendable, Hashable {
    /// What follows when a server forbids what it has served.
    enum Step: Sendable, Hashable {
        /// It is sent nothing for so many seconds.
        case rest(Double)
        /// It has refused the first request after each rest: it means it.
        case giveUp
    }

    /// Seconds that a server is sent nothing: after the first refusal, and after the first request behind each rest.
    static let rests = [10.0, 20, 40]
    /// Fewest bytes that such a server is asked for, where there are so many.
    static let leastRequest: Int64 = 16 << 20
    /// Seconds from one request to the next, and the most, after refusals.
    static let spacings = (first: 1.0, longest: 60.0)
    /// A spacing that is shorter, in seconds, is none.
    static let shortestSpacing = 0.03
    /// Requests in a row that are served before the spacing is halved; twice as many after each time that this was
    /// too bold.
    static let streaks = (first: 8, longest: 256)
    /// Seconds that the first request after a rest has for its answer before another may go out.
    static let patience = 10.0
    /// Seconds after which rests behind which nothing was asked are forgotten.
    static let memory = 600.0
    /// Least time that taking another connection's work has to save, in seconds: it costs a request.
    static let leastSaving = 2.0

    /// Seconds from one request to the next; 0 where they may go out in one go.
    private(set) var spacing = 0.0
    /// Until when nothing is sent.
    private(set) var restsUntil = -Double.infinity
    /// Rests in a row after which nothing was served yet.
    private(set) var rests = 0
    /// Whether it has forbidden what it had served: it is asked for all that is missing at once.
    private(set) var isStrict = false
    private var lastAsked = -Double.infinity
    /// When the first request after a rest went out, as long as it has no answer.
    private var trial: Double?
    private var streak = 0
    private var enough = Self.streaks.first

    /// Whether the server counts requests, as far as is known: few are to ask for much.
    var isKnown: Bool { spacing > 0 || rests > 0 }

    /// Seconds until the next request may go out; 0 when it may.
    func delay(now: Double) -> Double {
        max(
            0, restsUntil - now, lastAsked + spacing - now,
            trial.map { $0 + Self.patience - now } ?? 0)
    }

    /// Whether nothing is sent because the server is left alone.
    func isResting(now: Double) -> Bool { now < restsUntil }

    /// A request goes out.
    mutating func asked(now: Double) {
        lastAsked = now
        if rests > 0 { trial = now }
    }

    /// A request was answered; `isServed`: with bytes of a file.
    mutating func answered(isServed: Bool) {
        trial = nil
        guard isServed else { return }
        rests = 0
        guard spacing > 0 else { return }
        streak += 1
        guard streak >= enough else { return }
        (streak, spacing) = (0, spacing / 2)
        if spacing < Self.shortestSpacing { (spacing, isStrict) = (0, false) }
    }

    /// The server had too much to do for a request, though it served no other.
    ///
    /// - Parameter asked: When the request went out.
    mutating func refused(asked: Double) {
        trial = nil
        // Those that had gone out together are one refusal.
        guard asked >= lastAsked || spacing == 0 else { return }
        space(asked: asked)
    }

    /// The server forbids what it has served, and neither a new link nor anything else helps.
    ///
    /// - Parameter now: The present time.
    /// - Returns: What follows. While it rests already, that goes on.
    mutating func forbidden(now: Double) -> Step {
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
        // A server that counts would have refused one of so many before: this is trouble now and then.
        guard spacing == 0 || streak < Self.streaks.first else { return }
        if spacing > 0 { enough = min(Self.streaks.longest, 2 * enough) }
        spacing = min(Self.spacings.longest, max(Self.spacings.first, 2 * spacing))
    }
}
