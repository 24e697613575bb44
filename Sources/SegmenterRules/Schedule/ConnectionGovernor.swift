/// Finds the number of connections to one file that maximizes its goodput.
///
/// Pure: no I/O and no clock.
///
/// The governor starts with few connections, or with most of those that the user allows. It doubles
/// them as long as the goodput follows, or multiplies them by four if several signs favour it. If a
/// step yields less than a fair part of the promised gain, the governor keeps only as many
/// connections as could have carried the measured goodput. It tries the next step again after
/// growing intervals, and immediately when the goodput has changed.
///
/// A server that limits each connection often sends the bytes of a second at once, and then nothing
/// until the next second (nginx: `limit_rate`). If nothing arrives for a whole tick, neither the
/// path nor the client is at its limit. Then goodput is measured over whole seconds.
package struct ConnectionGovernor: Sendable, Hashable {
    /// The state at a tick.
    package struct Sample: Sendable, Hashable {
        /// The number of bytes of the file that have been received over the network.
        package var received: Int64
        /// The time to connect to the server in seconds; `nil` when unknown.
        package var roundTrip: Double?
        /// The number of received TCP segments with data, and of those that were out of order
        /// (`TCP_INFO`).
        package var segments: Int64 = 0
        package var disordered: Int64 = 0
        /// The shortest present round trip of the connections in seconds; `nil` when unknown.
        package var presentRoundTrip: Double?
        /// The number of bytes of the file that are missing; `nil` when unknown.
        package var remaining: Int64?
        /// Whether more connections cannot help: a rate limit, a full window, or no processor time
        /// left.
        var isHeldBack = false
        /// The known maximum of requests that the server serves at a time.
        var cap = Int.max
        /// The number of connections with an active request, including surplus ones.
        package var used = 0

        package init(
            received: Int64, roundTrip: Double? = nil, segments: Int64 = 0, disordered: Int64 = 0,
            presentRoundTrip: Double? = nil, remaining: Int64? = nil, isHeldBack: Bool = false,
            cap: Int = Int.max, used: Int = 0
        ) {
            self.received = received
            self.roundTrip = roundTrip
            self.segments = segments
            self.disordered = disordered
            self.presentRoundTrip = presentRoundTrip
            self.remaining = remaining
            self.isHeldBack = isHeldBack
            self.cap = cap
            self.used = used
        }
    }

    /// The fraction of the promised gain that a step must yield.
    static let leastGain = 0.15
    /// The fraction of the promised gain from which on the next step multiplies by four.
    static let fullGain = 0.9
    /// The growth of the goodput, as a factor, below which a step has yielded nothing.
    static let noise = 1.1
    /// The seconds by which a tick may be early.
    private static let slack = 0.03
    /// The least duration of a step, in seconds.
    static let shortestStep = 0.2
    /// The seconds until a failed step is tried again; doubles each time.
    static let firstPatience = 2.0
    /// The seconds until more connections are tried, if the first ones have filled the path.
    static let fullPatience = 30.0
    /// The longest time until more connections are tried, in seconds.
    static let longestPatience = 60.0
    /// The seconds over which goodput is measured while the number of connections is stable.
    package static let memory = 1.0
    /// The change of the goodput, as a factor, after which other numbers are tried.
    package static let change = 1.4
    /// The seconds in which a server that sends in bursts serves each connection its share.
    package static let period = 1.0
    /// The duration of a tick without bytes that shows a pause of the server, in round trips.
    package static let pause = 2.0
    /// The shortest round trip of a network, in seconds; below it, the server is local.
    ///
    /// In a network, connections have to reach their speed first, and the governor starts with
    /// several.
    static let longRoundTrip = 0.002
    /// The round trip from which on the governor starts with many connections, in seconds.
    ///
    /// Every such round trip with too few connections is lost.
    static let veryLongRoundTrip = 0.01
    /// The growth of the goodput between two checks, as a factor, that shows connections in slow
    /// start.
    static let warmth = 1.25
    /// The number of checks in a row below `warmth` that ends slow start, if there is a queue.
    static let warmLooks = 2
    /// The fraction of segments out of order that shows packet loss.
    package static let loss = 0.01
    /// The least number of segments from which loss is derived.
    static let leastSegments: Int64 = 200
    /// The segments out of order, per connection and round trip, from which on the path is full.
    ///
    /// This holds whatever the present round trip is: a queue has overflowed, or the sender does not
    /// react to loss. A sender that reacts has a window of about 1.2 divided by the square root of
    /// the loss rate (Mathis et al., CCR 27(3), 1997). A lost segment puts the rest of its window
    /// out of order: about 1.5 segments per round trip, and more at the start.
    package static let overflow = 10.0
    /// The ratio of the present round trip to the time to connect that shows a queue.
    ///
    /// A queue means a full path, which also explains losses. Without one, each connection has its
    /// own limit.
    package static let queue = 1.5
    /// The number of connections from which on a queue is trusted immediately.
    ///
    /// From this number on, shares are not made smaller for connections that may follow, either.
    package static let many = 16

    /// A number of connections that is being tried.
    private struct Trial: Hashable {
        /// The number before this step; 0 for the first step.
        var before: Int
        /// The goodput with that number, in bytes per second.
        var rateBefore: Double
        /// The best goodput of the checks so far; 0 before the first.
        var lastRate = 0.0
        /// The number of checks in a row without `warmth`.
        var warmLooks = 0
        /// The start of the present check, and the sample at that time.
        var begun: Double
        var start: Sample
        /// The seconds until the goodput is checked.
        var length: Double
        /// The number of checks at which the goodput had not followed.
        var doubts = 0
        /// Whether nothing arrived during some tick.
        var sawPause = false
        /// Whether a queue was seen at some tick.
        var sawQueue = false

        /// Starts another check.
        mutating func lookAgain(_ rate: Double, _ sample: Sample, now: Double) {
            (begun, start, lastRate) = (now, sample, max(rate, lastRate))
        }
    }

    /// The maximum number of connections.
    package let most: Int
    /// The number of connections to use.
    package private(set) var target: Int
    /// The goodput of the last decision, in bytes per second; `nil` before the first.
    package private(set) var measured: Double?
    private var hasBegun = false
    private var step: Trial?
    private var patience = Self.firstPatience
    private var nextTrial = 0.0
    /// The time until which the number does not change, even if the goodput does.
    private var restsUntil = 0.0
    /// The goodput at which the present number was chosen, in bytes per second.
    private var reference = 0.0
    /// The bytes received at the last ticks.
    private var past: [Mark] = []
    /// The time of the last tick in which nothing arrived.
    private var lastPause = -Double.infinity

    private struct Mark: Hashable {
        var time: Double
        var received: Int64
    }

    /// Creates a governor.
    ///
    /// - Parameters:
    ///   - most: The maximum number of connections, at least 1.
    ///   - isGiven: Whether the user gave that number. The governor then starts with it, or with
    ///     `many` if it is at least twice as large.
    ///   - least: The number to start with, even if it would start with fewer.
    ///   - roundTrip: The time to connect in seconds; `nil` when unknown.
    init(most: Int, isGiven: Bool = false, atLeast least: Int = 1, roundTrip: Double? = nil) {
        self.most = most
        let first =
            switch roundTrip ?? Self.longRoundTrip {
            case _ where isGiven: most < 2 * Self.many ? most : Self.many
            case ..<Self.longRoundTrip: 1
            case ..<Self.veryLongRoundTrip: 4
            default: Self.many
            }
        target = min(most, max(first, least))
    }

    /// Whether the governor still searches for its first number.
    var isSearching: Bool { !hasBegun || step != nil && reference == 0 }

    /// Updates the number of connections; called about every 100 ms.
    ///
    /// - Returns: The number of connections to use from now on.
    package mutating func step(_ sample: Sample, now: Double) -> Int {
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
            step = Trial(
                before: 0, rateBefore: 0, begun: now, start: sample, length: length(roundTrip))
        }
        return target
    }

    /// Continues with at least this number of connections, which are in use in any case.
    package mutating func raise(to number: Int) {
        guard number > target else { return }
        (target, step) = (min(number, most), nil)
    }

    private func length(_ roundTrip: Double) -> Double { max(2 * roundTrip, Self.shortestStep) }

    /// Checks the step that is being tried, once its time is over.
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
        // Losses on a path that is not full slow each connection down; more connections compensate.
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
            // Only whole periods count.
            guard elapsed >= Self.period + length(roundTrip) - Self.slack else { return }
            settle(after: step, rate, now: now)
            return
        }
        // One check may be misleading, and with long round trips, gains are seen late.
        guard step.doubts > 1 else {
            step.lookAgain(rate, sample, now: now)
            return
        }
        settle(after: step, max(rate, step.lastRate), now: now)
    }

    /// Keeps as many connections as could have carried the goodput of a step that yielded too
    /// little.
    private mutating func settle(after step: Trial, _ rate: Double, now: Double) {
        let gain = rate / max(1, step.rateBefore)
        let enough = Int((Double(step.before) * gain).rounded(.up))
        settle(
            at: max(1, gain < Self.noise ? step.before : min(target, enough)),
            rate: max(rate, step.rateBefore), now: now)
    }

    /// Returns whether packets are being lost.
    private func isLossy(since start: Sample, _ sample: Sample) -> Bool {
        let segments = sample.segments - start.segments
        let disordered = sample.disordered - start.disordered
        return segments >= Self.leastSegments
            && Double(disordered) >= Self.loss * Double(segments)
    }

    /// Checks the goodput while the number of connections is stable.
    private mutating func watch(_ sample: Sample, _ roundTrip: Double, now: Double) {
        guard let first = past.first, now - first.time >= Self.memory, !sample.isHeldBack else {
            return
        }
        let rate = Double(sample.received - first.received) / (now - first.time)
        measured = rate
        // `StallDetector` handles stalls. While surplus connections are active, the effect of one
        // more connection cannot be measured.
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

    /// Returns whether more connections are possible and could still pay off.
    private func mayGrow(_ sample: Sample, _ rate: Double, _ roundTrip: Double) -> Bool {
        guard target < min(most, sample.cap), !sample.isHeldBack else { return false }
        guard let remaining = sample.remaining else { return true }
        return Double(remaining) > rate * 2 * length(roundTrip)
    }

    private mutating func grow(
        by factor: Int, _ rate: Double, _ sample: Sample, length: Double, now: Double
    ) -> Trial {
        let step = Trial(
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
