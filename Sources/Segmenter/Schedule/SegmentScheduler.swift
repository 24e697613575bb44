// Schedule: who fetches which bytes, over how many connections, and when a request is repeated or replaced.
// Pure; times are arguments. It knows rates, failures and what is missing, never a reply, a transfer or a file.

import Assembler
import Glibc

/// Decides which connection fetches which bytes.
///
/// Times are in seconds, of one clock. Every byte of the file is, at any time, exactly one of: done, verifying
/// (on disk from an earlier run, CRC not yet checked), assigned to one connection, or unassigned. A connection
/// owns a segment, and asks for one window of it after the other: what another takes of it is, wherever
/// possible, not yet requested. An event costs a number of steps that grows with the logarithm of the number
/// of connections and ranges.
struct SegmentScheduler {
    /// Longest segment that is handed out, in bytes, where it does not last less than 100 round trips.
    ///
    /// So the front of contiguous data, which whole-file digests follow, is never far behind.
    static let longestSegment: Int64 = 64 << 20
    /// Shortest segment that is cut off a larger gap, in bytes; one that lasts long may be shorter.
    static let shortestSegment: Int64 = 256 << 10
    /// Shortest tail that is worth a request of its own, in bytes; one that lasts long may be shorter.
    static let shortestSteal: Int64 = 128 << 10
    /// Shortest of all that is worth a request, in bytes.
    static let shortestRequest: Int64 = 8 << 10
    /// Least time that taking a tail has to save, in seconds, and at least a round trip: of the
    /// connection whose tail is taken, what is on its way is lost.
    static let shortestSaving = 0.06
    /// What a new connection sends in the first round trip, in bytes (RFC 6928); it doubles in each.
    private static let firstWindow = 14_600.0
    /// Round trips that making a connection takes, with TLS.
    private static let handshakeTrips = 2.0
    /// Time that a segment must have to go for all of it to be taken, however little that is, in
    /// seconds: its connection may never come back.
    static let wholeStealTime = 2.0
    /// Shortest segment that the share of a small window is rounded up to, in bytes.
    static let shortestShare: Int64 = 64 << 10
    /// Shortest segment while nothing is known of any connection, in bytes.
    static let shortestFirst: Int64 = 128 << 10
    /// Round trips that a share lasts at the least, where there is so much: between two requests
    /// nothing comes for one.
    static let shareTrips = 50.0
    /// Seconds that a share lasts at the least, where there is so much.
    static let shareTime = 0.005
    /// Seconds that a share lasts while the number of connections is looked for, where those that there are would
    /// have so much: that is about how long it takes until there are more.
    static let searchTime = 0.2
    /// Round trips that a window lasts, where the segment does.
    static let windowTrips = 100.0
    /// Seconds that a window lasts at the least, where the segment does.
    static let windowTime = 2.0
    /// Connections that are looked at for the one that would finish last.
    private static let looks = 4

    /// Length of the file in bytes.
    let size: Int64
    private(set) var done = RangeSet()
    private(set) var verifying: RangeSet
    private(set) var unassigned: RangeSet
    /// By connection.
    private(set) var segments: [Int: Segment] = [:]
    /// Seconds from a request to its first byte on a connection that is made; 0 when unknown.
    var roundTrip = 0.0
    /// When `advance` last heard how far all connections are, in seconds.
    var asOf = 0.0
    /// Bytes per second of each connection, as far as they are known.
    private(set) var rates: [Int: Double] = [:]
    /// The sum of those.
    private var knownRate = 0.0
    /// Connections whose rate has risen by a quarter or more when it was last measured: slow start.
    private var rising: Set<Int> = []
    /// The last shares of connections of which nothing was measured yet, in bytes.
    private var unmeasured: [Int: Int64] = [:]
    /// Connections that have work and whose rate is known.
    private var queue = FinishQueue<Double>()

    /// Makes a scheduler for a file of `size` bytes of which `verifying` are on the disk already, and
    /// `done` are there and checked.
    init(size: Int64, verifying: [ByteRange] = [], done: RangeSet = RangeSet()) {
        self.size = size
        self.verifying = verifying.reduce(into: RangeSet()) { $0.insert($1) }
        self.done = done
        unassigned = self.verifying.gaps(in: ByteRange(0, size))
        for range in done.ranges { unassigned.remove(range) }
    }

    /// Whether every byte is done.
    var isComplete: Bool { done.count == size }

    /// Bytes that are to be fetched, as far as is known.
    private func remaining(_ connections: Int, _ now: Double) -> Double {
        let come = speed(ofAll: connections) * max(0, now - asOf)
        return max(Double(unassigned.count), Double(size - done.count - verifying.count) - come)
    }

    // MARK: What happened

    /// Bytes up to `position` have been written by a connection.
    mutating func advance(_ connection: Int, to position: Int64) {
        guard var segment = segments[connection] else { return }
        let position = min(position, segment.end)
        guard position > segment.position else { return }
        done.insert(ByteRange(segment.position, position))
        segment.position = position
        segment.asked = max(position, segment.asked)
        set(segment.rest.isEmpty ? nil : segment, for: connection)
    }

    /// A connection's rate was measured.
    ///
    /// - Parameters:
    ///   - connection: With or without work.
    ///   - rate: In bytes per second; `nil` or 0 when nobody knows it.
    ///   - now: The time.
    mutating func measured(_ connection: Int, rate: Double?, now: Double) {
        let rate = rate.flatMap { $0 > 0 ? $0 : nil }
        let old = rates[connection] ?? 0
        if rate != nil { unmeasured[connection] = nil }
        let isRising = old > 0 && (rate ?? 0) > 1.25 * old
        if isRising { rising.insert(connection) } else { rising.remove(connection) }
        knownRate += (rate ?? 0) - old
        rates[connection] = rate
        if rates.isEmpty { knownRate = 0 }
        requeue(connection, now)
    }

    /// A connection gives its work back.
    mutating func release(_ connection: Int) {
        guard let segment = segments[connection] else { return }
        unassigned.insert(segment.rest)
        set(nil, for: connection)
    }

    /// Bytes from an earlier run were checked: they are done, or to be fetched again.
    mutating func verified(_ range: ByteRange, isIntact: Bool) {
        verifying.remove(range)
        if isIntact { done.insert(range) } else { unassigned.insert(range) }
    }

    /// Bytes that were written are not what they should be: they are to be fetched again.
    mutating func takeBack(_ range: ByteRange) {
        done.remove(range)
        unassigned.insert(range)
    }

    // MARK: What to do

    /// The bytes that a connection asks for next: a window of its segment, or all of it when it is
    /// not much longer, or nothing is known of its rate.
    ///
    /// - Parameters:
    ///   - connection: With or without work.
    ///   - isWhole: Whether all of it is asked for in any case.
    ///   - most: The most that is.
    /// - Returns: `nil` when it has no work.
    mutating func ask(
        _ connection: Int, isWhole: Bool = false, most: Int64 = .max
    ) -> ByteRange? {
        guard var segment = segments[connection] else { return nil }
        var length = segment.rest.count
        if let rate = rates[connection], !isWhole {
            let time = max(Self.windowTime, Self.windowTrips * roundTrip)
            let window = max(Self.shortestSegment, bytes(rate * time))
            if length - window > window / 2 { length = window }
        }
        segment.asked = segment.position + min(length, most)
        set(segment, for: connection)
        return ByteRange(segment.position, segment.asked)
    }

    /// Gives a free connection work, of which `ask` gives the first window.
    ///
    /// Unassigned bytes first: half of what the connection has to bring if all are to finish together,
    /// so that shares shrink towards the end (guided self-scheduling), or all of it when the half
    /// would last few round trips. Then the tail of the segment that would finish last: as much as
    /// makes the thief finish together with all others.
    ///
    /// - Parameters:
    ///   - connection: Has no work.
    ///   - connections: Number of connections that work on the file, or soon may.
    ///   - present: Number of those that do, where more are being looked for.
    ///   - isMade: Whether its next request goes out on a connection that has been used before.
    ///   - now: The time.
    ///   - maySteal: Whether another connection's work may be given.
    ///   - leastSaving: Seconds that this has to save at the least.
    ///   - sharers: Connections among which all unassigned bytes are shared now, in equal parts;
    ///     `nil` where shares are cut one after the other.
    ///   - window: What the output can take; `nil` is everything. Nothing at its limit or behind it
    ///     is given, and segments are so short that each connection has its share of the window.
    ///   - position: How far another connection has written; `nil` is where `advance` saw it last.
    /// - Returns: The work, or `nil` when there is none worth a request. With a window that is also
    ///   when too little of it is free; never when half of it is free behind the front of what is
    ///   done, and nobody works.
    mutating func assign(
        _ connection: Int, connections: Int, present: Int? = nil, isMade: Bool = true, now: Double,
        maySteal: Bool = true, leastSaving: Double = Self.shortestSaving, sharers: Int? = nil,
        window: OutputWindow? = nil, position: (Int) -> Int64? = { _ in nil }
    ) -> Assignment? {
        precondition(segments[connection] == nil, "the connection has work already")
        let limit = window?.limit ?? .max
        guard let gap = unassigned.ranges.first, gap.start < limit else {
            return maySteal
                ? steal(connection, connections, isMade, leastSaving, now, position) : nil
        }
        let part = part(of: connection, connections)
        let longest =
            window.map {
                min(Self.longestSegment, max(Self.shortestShare, bytes(Double($0.size) * part / 2)))
            } ?? longest(connection, connections)
        let shortest = min(worth(connection, Self.shortestSegment), longest)
        let all = remaining(connections, now) * part
        var length = share(of: connection, all)
        if let present { length = max(length, early(connection, present, length, now)) }
        length = min(max(length, shortest), longest)
        if let sharers {
            let all = unassigned.count + Int64(sharers) - 1
            length = max(all / Int64(max(1, sharers)), Self.shortestFirst)
        }
        // No crumbs: what would be left shorter than a segment goes along.
        if gap.count - length < shortest { length = gap.count }
        let range = ByteRange(gap.start, min(limit, gap.start + min(length, gap.count)))
        // Nor crumbs at the limit: it will move on.
        guard range.count >= shortest || range.end < limit || range.end == gap.end else {
            return maySteal
                ? steal(connection, connections, isMade, leastSaving, now, position) : nil
        }
        if rates[connection] == nil { unmeasured[connection] = range.count }
        take(range, for: connection, now)
        return .fresh(range)
    }

    /// Speed of a connection, in bytes per second; those that are not known count as average.
    ///
    /// - Returns: `nil` when none is known.
    private func speed(of connection: Int) -> Double? {
        guard !rates.isEmpty else { return nil }
        return rates[connection] ?? knownRate / Double(rates.count)
    }

    /// Speed of all connections together, in bytes per second; 0 when none is known.
    private func speed(ofAll connections: Int) -> Double {
        guard !rates.isEmpty else { return 0 }
        return knownRate / Double(rates.count) * Double(max(connections, rates.count))
    }

    /// The part of the whole speed that a connection contributes, in 0…1.
    private func part(of connection: Int, _ connections: Int) -> Double {
        guard let mine = rates[connection] else { return 1 / Double(max(1, connections)) }
        return min(1, mine / speed(ofAll: connections))
    }

    /// Bytes of a connection's next share, of `all` that it is to bring.
    private func share(of connection: Int, _ all: Double) -> Int64 {
        guard let rate = rates[connection] else { return bytes(all / 2) }
        let least = rate * max(Self.shareTime, Self.shareTrips * roundTrip)
        let isShort = all < 2 * least && !rising.contains(connection)
        // Who waits for a first byte meanwhile brings less: a second round would cost all of them more.
        return bytes(isShort ? 1.01 * all + rate * roundTrip : max(all / 2, min(all, least)))
    }

    /// Bytes of a connection's share while more connections are being looked for: those that come find enough.
    ///
    /// One that is back so soon that nothing could be measured gets twice as much each time.
    private func early(
        _ connection: Int, _ present: Int, _ share: Int64, _ now: Double
    ) -> Int64 {
        let most = bytes(remaining(present, now) * part(of: connection, present) / 2)
        guard let rate = rates[connection] else {
            return min(most, 2 * (unmeasured[connection] ?? share / 2))
        }
        return min(most, bytes(rate * Self.searchTime))
    }

    private func longest(_ connection: Int, _ connections: Int) -> Int64 {
        // Alone, it fetches from the front anyway.
        guard connections > 1 else { return .max }
        let trips = (rates[connection] ?? 0) * Self.windowTrips * roundTrip
        return max(Self.longestSegment, bytes(trips))
    }

    /// Fewest bytes that a connection is asked for: so many, or what takes it long.
    private func worth(_ connection: Int, _ most: Int64) -> Int64 {
        guard let rate = speed(of: connection) else { return min(most, Self.shortestFirst) }
        let time = max(Self.shortestSaving, roundTrip)
        return min(most, max(Self.shortestRequest, bytes(rate * time)))
    }

    private func bytes(_ count: Double) -> Int64 { Int64(min(count, Double(1 << 62)).rounded()) }

    // MARK: Stealing

    private mutating func steal(
        _ thief: Int, _ connections: Int, _ isMade: Bool, _ leastSaving: Double, _ now: Double,
        _ position: (Int) -> Int64?
    ) -> Assignment? {
        // A connection without a measurement has only begun: nobody knows that it is late.
        guard let victim = latest(now, position), let segment = segments[victim],
            let theirs = rates[victim], let mine = speed(of: thief)
        else { return nil }
        let rest = Double(segment.rest.count)
        let delay = isMade ? roundTrip : delay(ofNew: mine)
        // Then both would finish: the thief begins later.
        let both = (rest + mine * delay) / (mine + theirs)
        let saving = max(leastSaving, roundTrip)
        guard rest / theirs - both >= saving else { return nil }
        // Then all could. Whoever takes more now would have to give it away again.
        let assigned = remaining(connections, now) - Double(unassigned.count)
        let all = assigned / speed(ofAll: connections)
        // Nor less than is worth a request.
        let time = max(all, min(both, delay + 1.01 * saving))
        var tail = bytes(max(0, min(mine * (time - delay), rest - theirs * time)))
        tail = min(tail, segment.rest.count - 1)
        if rest / theirs >= Self.wholeStealTime {
            // Never all of an equal's: it would be free, and take all back.
            let isBetter = rates[thief].map { $0 > 2 * theirs } ?? true
            if segment.rest.count - tail < Self.shortestSteal, isBetter {
                tail = segment.rest.count
            }
        } else if tail < worth(thief, Self.shortestSteal) {
            return nil
        }
        guard tail > 0 else { return nil }
        let stolen = ByteRange(cut(segment, tail), segment.end)
        var left = segment
        left.end = stolen.start
        left.asked = min(left.asked, left.end)
        set(left.rest.isEmpty ? nil : left, for: victim)
        requeue(victim, now)
        set(Segment(stolen), for: thief)
        requeue(thief, now)
        return .stolen(stolen, from: victim)
    }

    /// What a new connection brings later than one that has reached its rate, in seconds.
    private func delay(ofNew rate: Double) -> Double {
        let doublings = max(0, log2(rate * roundTrip / Self.firstWindow))
        return roundTrip * (1 + Self.handshakeTrips + doublings)
    }

    /// Where a tail begins: not in what is requested, if there is about as much behind it.
    private func cut(_ segment: Segment, _ tail: Int64) -> Int64 {
        let start = segment.end - tail
        let isFree = segment.end - segment.asked >= (tail + 1) / 2
        return isFree ? max(start, segment.asked) : start
    }

    /// The connection that would finish last, of those whose rate is known.
    private mutating func latest(_ now: Double, _ position: (Int) -> Int64?) -> Int? {
        // What stands in the queue is of the last measurement: the first few are looked at again.
        var seen: Int?
        for _ in 0..<Self.looks {
            guard let last = queue.last?.connection, last != seen else { break }
            position(last).map { advance(last, to: $0) }
            requeue(last, now)
            seen = last
        }
        return seen == queue.last?.connection ? seen : nil
    }

    // MARK: Keeping

    private mutating func set(_ segment: Segment?, for connection: Int) {
        segments[connection] = segment
        if segment == nil { queue.remove(connection) }
    }

    private mutating func requeue(_ connection: Int, _ now: Double) {
        if let segment = segments[connection], let rate = rates[connection] {
            queue.set(connection, to: now + Double(segment.rest.count) / rate)
        } else {
            queue.remove(connection)
        }
    }

    /// Gives a connection exactly this range, when all of it is unassigned: for a reply that is
    /// there already.
    ///
    /// - Returns: Whether it was given.
    mutating func adopt(_ range: ByteRange, by connection: Int) -> Bool {
        guard segments[connection] == nil, !range.isEmpty, unassigned.contains(range) else {
            return false
        }
        unassigned.remove(range)
        var segment = Segment(range)
        segment.asked = range.end
        set(segment, for: connection)
        return true
    }

    private mutating func take(_ range: ByteRange, for connection: Int, _ now: Double) {
        unassigned.remove(range)
        set(Segment(range), for: connection)
        requeue(connection, now)
    }
}
