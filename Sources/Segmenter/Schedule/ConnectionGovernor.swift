/// Finds by goodput how many connections to one file pay.
///
/// Pure.
///
/// It begins with few, or with most of those that the user allows, and doubles them as long as the goodput
/// follows, or takes four times as many where much speaks for it. Of a step that does not bring a fair part
/// of what it promised only as many stay as could have brought what came; from time to time, ever more
/// rarely, and at once when the goodput has changed, the next step is tried again.
///
/// A server that limits each connection often sends a second's worth at once and then nothing until the
/// next second (nginx: `limit_rate`). Where nothing at all comes for a tick, neither the path nor we are
/// full, and goodput is counted by whole seconds.
struct ConnectionGovernor: Sendable, Hashable {
    /// What is known at a tick.
    struct Sample: Sendable, Hashable {
        /// Bytes of the file that have come over the network in all.
        var received: Int64
        /// Time to connect to the server, in seconds; `nil` when unknown.
        var roundTrip: Double?
        /// Segments with data that have come, and those of them that came out of order (`TCP_INFO`).
        var segments: Int64 = 0
        var disordered: Int64 = 0
        /// Shortest round trip of the connections at present, in seconds; `nil` when unknown.
        var presentRoundTrip: Double?
        /// Bytes of the file that are still to come; `nil` when unknown.
        var remaining: Int64?
        /// Whether more connections cannot bring more: a limit of rate, a full window, or a processor
        /// that has no time left.
        var isHeldBack = false
        /// Most requests that the server is known to serve at a time.
        var cap = Int.max
        /// Connections that have a request under way: those above the number end what they have begun.
        var used = 0
    }

    /// Part of what a step promised that it must bring.
    static let leastGain = 0.15
    /// Part of it from which on the next step is four times as many.
    static let fullGain = 0.9
    /// Growth of the goodput, as a factor, below which a step brought nothing.
    static let noise = 1.1
    /// Seconds that a tick may come early.
    private static let slack = 0.03
    /// Least length of a step, in seconds.
    static let shortestStep = 0.2
    /// Seconds until a step that did not pay is tried again; twice as many after each.
    static let firstPatience = 2.0
    /// Seconds until more are tried where the first ones have filled the path.
    static let fullPatience = 30.0
    /// Most seconds until then.
    static let longestPatience = 60.0
    /// Seconds over which the goodput is measured while the number rests.
    static let memory = 1.0
    /// Change of the goodput, as a factor, after which other numbers are tried.
    static let change = 1.4
    /// Seconds within which a server that pauses sends each connection its share.
    static let period = 1.0
    /// Length of a tick in which nothing comes, in round trips, that shows a pause.
    static let pause = 2.0
    /// Round trips from this on, in seconds, are those of a network, where a connection has to find
    /// its speed first, and several are begun with.
    static let longRoundTrip = 0.002
    /// Round trips from which on many connections are begun with: each that passes without is lost.
    static let veryLongRoundTrip = 0.01
    /// Growth of the goodput from one look to the next, as a factor, that shows that connections are
    /// still finding their speed.
    static let warmth = 1.25
    /// Looks in a row without such a growth after which they have found it, where there is a queue.
    static let warmLooks = 2
    /// Part of the segments out of order that shows that packets get lost.
    static let loss = 0.01
    /// Fewest segments that show anything of loss.
    static let leastSegments: Int64 = 200
    /// Segments out of order for each connection and round trip from which on the path is full, whatever
    /// the round trip is at present: a queue has run over, or whoever sends does not heed what gets lost.
    ///
    /// A sender that does has a window of about 1.2 over the root of the loss (Mathis et al., CCR 27(3),
    /// 1997). What gets lost puts the rest of its window out of order, which makes 1.5; more at the start.
    static let overflow = 10.0
    /// Present round trip over that of connecting, as a factor, that shows a queue.
    ///
    /// Then the path is full, and what is lost is lost because of that. Without one, each connection
    /// has a limit of its own.
    static let queue = 1.5
    /// Connections from which on a queue is believed at once, and shares are not made smaller for those
    /// that may still come.
    static let many = 16

    /// A number of connections that is being tried.
    private struct Step: Hashable {
        /// The number before; 0 for the first step.
        var before: Int
        /// Goodput with that, in bytes per second.
        var rateBefore: Double
        /// Best goodput of the looks so far; 0 before the first.
        var lastRate = 0.0
        /// Looks in a row at which it was hardly better.
        var warmLooks = 0
        /// When the present look began, and what was known then.
        var begun: Double
        var start: Sample
        /// Seconds until the goodput is looked at.
        var length: Double
        /// Times that it was looked at, and had not followed.
        var doubts = 0
        /// Whether nothing came in some tick.
        var sawPause = false
        /// Whether there was a queue at any tick.
        var sawQueue = false

        /// Looks once more.
        mutating func lookAgain(_ rate: Double, _ sample: Sample, now: Double) {
            (begun, start, lastRate) = (now, sample, max(rate, lastRate))
        }
    }

    /// Most connections.
    let most: Int
    /// The number of connections to be used.
    private(set) var target: Int
    /// The goodput that the last decision rests on, in bytes per second; `nil` before the first.
    private(set) var measured: Double?
    private var hasBegun = false
    private var step: Step?
    private var patience = Self.firstPatience
    private var nextTrial = 0.0
    /// Until when not even a change of the goodput has other numbers tried.
    private var restsUntil = 0.0
    /// The goodput that the present number was found good with, in bytes per second.
    private var reference = 0.0
    /// What had come at the last ticks.
    private var past: [Mark] = []
    /// When nothing had come in a tick for the last time.
    private var lastPause = -Double.infinity

    private struct Mark: Hashable {
        var time: Double
        var received: Int64
    }

    /// - Parameters:
    ///   - most: Most connections, at least 1.
    ///   - isGiven: Whether the user gave that number: so many are begun with, or `many` where that is
    ///     less than half.
    ///   - roundTrip: Time to connect, in seconds; `nil` when unknown.
    init(most: Int, isGiven: Bool = false, roundTrip: Double? = nil) {
        self.most = most
        let first =
            switch roundTrip ?? Self.longRoundTrip {
            case _ where isGiven: most < 2 * Self.many ? most : Self.many
            case ..<Self.longRoundTrip: 1
            case ..<Self.veryLongRoundTrip: 4
            default: Self.many
            }
        target = min(most, first)
    }

    /// Whether the first number that pays is still being looked for.
    var isSearching: Bool { !hasBegun || step != nil && reference == 0 }

    /// Looks at what has come, about every 100 ms.
    ///
    /// - Returns: The number of connections to be used from now on.
    mutating func step(_ sample: Sample, now: Double) -> Int {
        let roundTrip = sample.roundTrip ?? 0.05
        if let last = past.last, sample.received > 0, sample.received == last.received,
            now - last.time >= Self.pause * roundTrip
        {
            step?.sawPause = true
            lastPause = now
        }
        past.append(Mark(time: now, received: sample.received))
        if let late = past.firstIndex(where: { $0.time > now - Self.memory }), late > 1 {
            past.removeFirst(late - 1)
        }
        if target > sample.cap { settle(at: max(1, sample.cap), now: now) }
        if step != nil {
            judge(sample, roundTrip, now: now)
        } else if hasBegun {
            watch(sample, roundTrip, now: now)
        } else {
            hasBegun = true
            step = Step(
                before: 0, rateBefore: 0, begun: now, start: sample, length: length(roundTrip))
        }
        return target
    }

    private func length(_ roundTrip: Double) -> Double { max(2 * roundTrip, Self.shortestStep) }

    /// Judges the step that is being tried, when its time is over.
    private mutating func judge(_ sample: Sample, _ roundTrip: Double, now: Double) {
        guard var step else { return }
        defer { if self.step != nil { self.step = step } }
        let isQueued = (sample.presentRoundTrip ?? roundTrip) >= Self.queue * roundTrip
        step.sawQueue = step.sawQueue || isQueued
        guard now - step.begun >= step.length - Self.slack else { return }
        let elapsed = now - step.begun
        let came = Double(sample.received - step.start.received)
        let rate = came / (step.sawPause ? max(elapsed, Self.period) : elapsed)
        measured = rate
        guard !sample.isHeldBack else {
            settle(at: max(1, step.before), rate: rate, now: now)
            return
        }
        guard rate > 0 || step.before > 0 || step.sawPause && sample.received > 0 else {
            step.lookAgain(0, sample, now: now)
            return
        }
        let isLong = roundTrip >= Self.longRoundTrip
        let disordered = Double(sample.disordered - step.start.disordered)
        step.sawQueue =
            step.sawQueue
            || disordered * roundTrip >= Self.overflow * elapsed * Double(target)
        // What gets lost on a path that is not full keeps each connection slow: more of them do not.
        let isLossy = isLong && !step.sawQueue && isLossy(since: step.start, sample)
        if isLong, !isLossy, !step.sawPause {
            let isWarm = rate < Self.warmth * step.lastRate
            step.warmLooks = isWarm ? step.warmLooks + 1 : 0
            guard step.warmLooks >= (step.sawQueue ? Self.warmLooks : 1) else {
                step.lookAgain(rate, sample, now: now)
                return
            }
        }
        let promised = step.before > 0 ? Double(target) / Double(step.before) - 1 : 0
        if rate >= step.rateBefore * (1 + Self.leastGain * promised) {
            patience = Self.firstPatience
            let isFull =
                step.sawQueue && !step.sawPause && step.before == 0 && target >= Self.many
            guard !isFull, mayGrow(sample, rate, roundTrip) else {
                if isFull { patience = Self.fullPatience }
                settle(at: target, rate: rate, now: now)
                if isFull { restsUntil = nextTrial }
                return
            }
            let follows =
                promised > 0 && rate >= step.rateBefore * (1 + Self.fullGain * promised)
            let isUnused = step.sawPause || isLong && !step.sawQueue
            step = grow(
                by: follows || isUnused ? 4 : 2, rate, sample,
                length: max(length(roundTrip), 4 * roundTrip), now: now)
            return
        }
        step.doubts += 1
        guard !step.sawPause else {
            // What comes in a whole period counts.
            guard elapsed >= Self.period + length(roundTrip) - Self.slack else { return }
            settle(after: step, rate, now: now)
            return
        }
        // One look may be unlucky, and on a long way what a new connection brings is seen late.
        guard step.doubts > 1 else {
            step.lookAgain(rate, sample, now: now)
            return
        }
        settle(after: step, max(rate, step.lastRate), now: now)
    }

    /// Keeps as many connections as could have brought what came in a step that did not pay.
    private mutating func settle(after step: Step, _ rate: Double, now: Double) {
        let gain = rate / max(1, step.rateBefore)
        let enough = Int((Double(step.before) * gain).rounded(.up))
        settle(
            at: max(1, gain < Self.noise ? step.before : min(target, enough)),
            rate: max(rate, step.rateBefore), now: now)
    }

    /// Whether packets get lost.
    private func isLossy(since start: Sample, _ sample: Sample) -> Bool {
        let segments = sample.segments - start.segments
        let disordered = sample.disordered - start.disordered
        return segments >= Self.leastSegments
            && Double(disordered) >= Self.loss * Double(segments)
    }

    /// Watches the goodput while the number rests.
    private mutating func watch(_ sample: Sample, _ roundTrip: Double, now: Double) {
        guard let first = past.first, now - first.time >= Self.memory, !sample.isHeldBack else {
            return
        }
        let rate = Double(sample.received - first.received) / (now - first.time)
        measured = rate
        // What stands still is for others to look at; and with others at work, nothing is seen of one more.
        guard rate > 0, sample.used <= target else { return }
        let hasChanged = rate > reference * Self.change || rate * Self.change < reference
        guard now >= nextTrial || hasChanged && now >= restsUntil else { return }
        guard mayGrow(sample, rate, roundTrip) else {
            reference = rate
            nextTrial = now + patience
            return
        }
        let isPaused = now - lastPause < Self.memory
        step = grow(
            by: isPaused ? 4 : 2, rate, sample,
            length: max(2 * length(roundTrip), 4 * roundTrip, 0.5), now: now)
    }

    /// Whether more connections are possible, and could still pay.
    private func mayGrow(_ sample: Sample, _ rate: Double, _ roundTrip: Double) -> Bool {
        guard target < min(most, sample.cap), !sample.isHeldBack else { return false }
        guard let remaining = sample.remaining else { return true }
        return Double(remaining) > rate * 2 * length(roundTrip)
    }

    private mutating func grow(
        by factor: Int, _ rate: Double, _ sample: Sample, length: Double, now: Double
    ) -> Step {
        let step = Step(
            before: target, rateBefore: rate, lastRate: rate, begun: now, start: sample,
            length: length)
        target = min(factor * target, most, sample.cap)
        return step
    }

    private mutating func settle(at number: Int, rate: Double? = nil, now: Double) {
        target = number
        step = nil
        reference = rate ?? reference
        nextTrial = now + patience
        restsUntil = now + Self.firstPatience
        patience = min(Self.longestPatience, 2 * patience)
    }
}
