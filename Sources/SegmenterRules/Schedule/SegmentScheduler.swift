// Schedule: which connection requests which bytes, and when a request is repeated or replaced. All
// types are pure, and times are arguments. None of them knows responses, transfers or files.

import func Glibc.log2

/// Decides which connection downloads which bytes.
///
/// Times are in seconds, from one clock. At any time, every byte is exactly one of: done, verifying
/// (on disk from an earlier run, CRC not checked yet), assigned to one connection, or unassigned. A
/// connection owns a segment, and requests it one window after the other. So other connections
/// usually steal bytes that are not requested yet. An event takes a number of steps that grows with
/// the logarithm of the number of connections and ranges.
package struct SegmentScheduler {
    /// The longest segment in bytes, unless it lasts less than 100 round trips.
    ///
    /// It keeps the contiguous data, which whole-file digests follow, from lagging behind.
    static let longestSegment: Int64 = 64 << 20
    /// The shortest segment that is cut off a larger gap, in bytes; slow connections may get less.
    static let shortestSegment: Int64 = 256 << 10
    /// The shortest tail that is worth a request, in bytes; slow connections may take less.
    static let shortestSteal: Int64 = 128 << 10
    /// The lower bound of all request lengths, in bytes.
    static let shortestRequest: Int64 = 8 << 10
    /// The least time that stealing must save, in seconds, and at least a round trip.
    ///
    /// The bytes that are in flight to the victim are lost.
    static let shortestSaving = 0.06
    /// The bytes that a new connection sends in its first round trip (RFC 6928); doubles in each.
    private static let firstWindow = 14_600.0
    /// The number of round trips that establishing a connection takes, with TLS.
    private static let handshakeTrips = 2.0
    /// The remaining seconds of a segment from which on a thief leaves no short rest of it.
    ///
    /// The segment's connection may have failed.
    static let wholeStealTime = 2.0
    /// The shortest segment if the output has a small window, in bytes.
    static let shortestShare: Int64 = 64 << 10
    /// The shortest segment while no connection has been measured, in bytes.
    static let shortestFirst: Int64 = 128 << 10
    /// The least duration of a share in round trips, as the next request costs one.
    static let shareTrips = 50.0
    /// The least duration of a share, in seconds.
    static let shareTime = 0.005
    /// The duration of a share while the governor searches for more connections, in seconds.
    ///
    /// There are more connections after about this time.
    static let searchTime = 0.2
    /// The duration of a window, in round trips, if the segment is long enough.
    static let windowTrips = 100.0
    /// The least duration of a window, in seconds, if the segment is long enough.
    static let windowTime = 2.0
    /// The least length of a window of a large file of a set, in bytes.
    ///
    /// The connections of a set are divided among its files, so that few requests keep them busy.
    package static let longWindow: Int64 = 16 << 20
    /// The number of connections whose finish times are updated to find the last one.
    private static let looks = 4

    /// The length of the file in bytes.
    package let size: Int64
    package private(set) var done = RangeSet()
    package private(set) var verifying: RangeSet
    private(set) var unassigned: RangeSet
    /// The segments by connection.
    package private(set) var segments: [Int: Segment] = [:]
    /// The seconds from a request to its first byte on an established connection; 0 when unknown.
    package var roundTrip = 0.0
    /// The time of the last `advance` for all connections, in seconds.
    var asOf = 0.0
    /// The known rates of connections, in bytes per second.
    package private(set) var rates: [Int: Double] = [:]
    /// The sum of `rates`.
    private var knownRate = 0.0
    /// The connections whose rate rose by more than a quarter at the last measurement: slow start.
    private var rising: Set<Int> = []
    /// The lengths of the last shares of connections that have not been measured yet, in bytes.
    private var unmeasured: [Int: Int64] = [:]
    /// The connections that have work and a known rate.
    private var queue = FinishQueue<Double>()

    /// Creates a scheduler for a file of `size` bytes.
    ///
    /// The `verifying` ranges are on disk and not checked yet; the `done` ranges are checked.
    init(size: Int64, verifying: [ByteRange] = [], done: RangeSet = RangeSet()) {
        self.size = size
        self.verifying = verifying.reduce(into: RangeSet()) { $0.insert($1) }
        self.done = done
        unassigned = self.verifying.gaps(in: ByteRange(0, size))
        for range in done.ranges { unassigned.remove(range) }
    }

    package var isComplete: Bool { done.count == size }

    /// Returns an estimate of the bytes that still have to be downloaded.
    private func remaining(_ connections: Int, _ now: Double) -> Double {
        let come = speed(ofAll: connections) * max(0, now - asOf)
        return max(Double(unassigned.count), Double(size - done.count - verifying.count) - come)
    }

    // MARK: Events

    /// Records that a connection has written the bytes up to `position`.
    package mutating func advance(_ connection: Int, to position: Int64) {
        guard var segment = segments[connection] else { return }
        let position = min(position, segment.end)
        guard position > segment.position else { return }
        done.insert(ByteRange(segment.position, position))
        segment.position = position
        segment.asked = max(position, segment.asked)
        set(segment.rest.isEmpty ? nil : segment, for: connection)
    }

    /// Records the measured rate of a connection.
    ///
    /// - Parameters:
    ///   - connection: A connection with or without work.
    ///   - rate: The rate in bytes per second; `nil` or 0 when unknown.
    ///   - now: The time.
    package mutating func measured(_ connection: Int, rate: Double?, now: Double) {
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

    /// Makes the rest of a connection's segment unassigned again.
    package mutating func release(_ connection: Int) {
        guard let segment = segments[connection] else { return }
        unassigned.insert(segment.rest)
        set(nil, for: connection)
    }

    /// Records the check of bytes from an earlier run: done, or to be downloaded again.
    package mutating func verified(_ range: ByteRange, isIntact: Bool) {
        verifying.remove(range)
        if isIntact { done.insert(range) } else { unassigned.insert(range) }
    }

    /// Marks written bytes as wrong, so that they are downloaded again.
    package mutating func takeBack(_ range: ByteRange) {
        done.remove(range)
        unassigned.insert(range)
    }

    // MARK: Assigning work

    /// Returns the next range that a connection has to request.
    ///
    /// The range is a window of its segment. It is the whole segment if that is little longer than
    /// a window, or if the connection's rate is unknown.
    ///
    /// - Parameters:
    ///   - connection: A connection with or without work.
    ///   - isWhole: Whether to request the whole segment in any case.
    ///   - least: The least length of a window, in bytes, if the segment is long enough.
    ///   - most: The maximum length of the range, in bytes.
    /// - Returns: The range; `nil` if the connection has no work.
    package mutating func ask(
        _ connection: Int, isWhole: Bool = false, least: Int64 = 0, most: Int64 = .max
    ) -> ByteRange? {
        guard var segment = segments[connection] else { return nil }
        var length = segment.rest.count
        if !isWhole, rates[connection] != nil || least > 0 {
            let time = max(Self.windowTime, Self.windowTrips * roundTrip)
            let rate = rates[connection] ?? 0
            let window = max(Self.shortestSegment, least, bytes(rate * time))
            if length - window > window / 2 { length = window }
        }
        segment.asked = segment.position + min(length, most)
        set(segment, for: connection)
        return ByteRange(segment.position, segment.asked)
    }

    /// Assigns work to a free connection; `ask` returns the first window of it.
    ///
    /// Unassigned bytes come first. The connection gets half of what it would download if all
    /// finished together, so that shares shrink towards the end (guided self-scheduling). It gets
    /// all of that if the half would last only a few round trips. If nothing is unassigned, it
    /// steals the tail of the segment that would finish last. That tail lets the thief finish
    /// together with all others.
    ///
    /// - Parameters:
    ///   - connection: A connection that has no work.
    ///   - connections: The number of connections that work on the file, or soon may.
    ///   - present: The number that already work, while the governor searches for more.
    ///   - isMade: Whether the connection's next request uses an established connection.
    ///   - now: The time.
    ///   - maySteal: Whether work of another connection may be assigned.
    ///   - leastSaving: The least time that stealing must save, in seconds.
    ///   - sharers: The number of connections that now share all unassigned bytes in equal parts;
    ///     `nil` if shares are cut one after the other.
    ///   - least: The least length of a share in bytes, while it is at most what the connection
    ///     would download if all finished together.
    ///   - window: The bytes that the output can take; `nil` if it takes all. Nothing at or behind
    ///     its limit is assigned. Segments are short enough for each connection to share it.
    ///   - position: Returns the position up to which another connection has written; `nil` stands
    ///     for the position that `advance` last recorded.
    /// - Returns: The work, or `nil` if there is none worth a request. With a window, this includes
    ///   too little free space, unless half of the window is free and no connection works.
    mutating func assign(
        _ connection: Int, connections: Int, present: Int? = nil, isMade: Bool = true, now: Double,
        maySteal: Bool = true, leastSaving: Double = Self.shortestSaving, sharers: Int? = nil,
        least: Int64 = 0, window: OutputWindow? = nil, position: (Int) -> Int64? = { _ in nil }
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
        length = max(length, min(least, bytes(all)))
        length = min(max(length, shortest), longest)
        if let sharers {
            let all = unassigned.count + Int64(sharers) - 1
            length = max(all / Int64(max(1, sharers)), Self.shortestFirst)
        }
        // Do not leave a rest that is shorter than a segment.
        if gap.count - length < shortest { length = gap.count }
        let range = ByteRange(gap.start, min(limit, gap.start + min(length, gap.count)))
        // Do not assign a short piece at the limit either: the limit will move on.
        guard range.count >= shortest || range.end < limit || range.end == gap.end else {
            return maySteal
                ? steal(connection, connections, isMade, leastSaving, now, position) : nil
        }
        if rates[connection] == nil { unmeasured[connection] = range.count }
        take(range, for: connection, now)
        return .fresh(range)
    }

    /// Returns a connection's rate in bytes per second; if unknown, the average of all (or `nil`).
    private func speed(of connection: Int) -> Double? {
        guard !rates.isEmpty else { return nil }
        return rates[connection] ?? knownRate / Double(rates.count)
    }

    /// Returns the total rate of all connections in bytes per second; 0 if no rate is known.
    private func speed(ofAll connections: Int) -> Double {
        guard !rates.isEmpty else { return 0 }
        return knownRate / Double(rates.count) * Double(max(connections, rates.count))
    }

    /// Returns a connection's part of the total rate, in 0…1.
    private func part(of connection: Int, _ connections: Int) -> Double {
        guard let mine = rates[connection] else { return 1 / Double(max(1, connections)) }
        return min(1, mine / speed(ofAll: connections))
    }

    /// Returns the length of a connection's next share; `all` is its part of the remaining bytes.
    private func share(of connection: Int, _ all: Double) -> Int64 {
        guard let rate = rates[connection] else { return bytes(all / 2) }
        let least = rate * max(Self.shareTime, Self.shareTrips * roundTrip)
        let isShort = all < 2 * least && !rising.contains(connection)
        // Connections that wait for a first byte download less than estimated, so the share is
        // slightly longer. A second round would cost all connections more.
        return bytes(isShort ? 1.01 * all + rate * roundTrip : max(all / 2, min(all, least)))
    }

    /// Returns the length of a share while the governor searches for more connections.
    ///
    /// A connection that finishes before it could be measured gets twice as much each time.
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
        // A single connection downloads from the start of the file to its end anyway.
        guard connections > 1 else { return .max }
        let trips = (rates[connection] ?? 0) * Self.windowTrips * roundTrip
        return max(Self.longestSegment, bytes(trips))
    }

    /// Returns the least bytes worth a request: `most`, or fewer if they take the connection long.
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
        // A connection that has not been measured has just started, and does not count as late.
        guard let victim = latest(now, position), let segment = segments[victim],
            let theirs = rates[victim], let mine = speed(of: thief)
        else { return nil }
        let rest = Double(segment.rest.count)
        let delay = isMade ? roundTrip : delay(ofNew: mine)
        // The time after which both would finish; the thief starts after `delay`.
        let both = (rest + mine * delay) / (mine + theirs)
        let saving = max(leastSaving, roundTrip)
        guard rest / theirs - both >= saving else { return nil }
        // The time after which all could finish. To take more would mean to lose it again.
        let assigned = remaining(connections, now) - Double(unassigned.count)
        let all = assigned / speed(ofAll: connections)
        // Take enough to be worth a request.
        let time = max(all, min(both, delay + 1.01 * saving))
        var tail = bytes(max(0, min(mine * (time - delay), rest - theirs * time)))
        tail = min(tail, segment.rest.count - 1)
        if rest / theirs >= Self.wholeStealTime {
            // A connection of equal speed would be free, and would steal everything back.
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

    /// Returns the seconds by which a new connection is behind one that has reached its rate.
    private func delay(ofNew rate: Double) -> Double {
        let doublings = max(0, log2(rate * roundTrip / Self.firstWindow))
        return roundTrip * (1 + Self.handshakeTrips + doublings)
    }

    /// Returns the start of a tail: behind the requested bytes, if about as much follows them.
    private func cut(_ segment: Segment, _ tail: Int64) -> Int64 {
        let start = segment.end - tail
        let isFree = segment.end - segment.asked >= (tail + 1) / 2
        return isFree ? max(start, segment.asked) : start
    }

    /// Returns the connection with a known rate that would finish last.
    private mutating func latest(_ now: Double, _ position: (Int) -> Int64?) -> Int? {
        // The finish times date from the last measurement. Update the first few of them.
        var seen: Int?
        for _ in 0..<Self.looks {
            guard let last = queue.last?.connection, last != seen else { break }
            position(last).map { advance(last, to: $0) }
            requeue(last, now)
            seen = last
        }
        return seen == queue.last?.connection ? seen : nil
    }

    // MARK: Bookkeeping

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

    /// Assigns exactly this range, whose response has already arrived, if all of it is unassigned.
    ///
    /// - Returns: Whether the range was assigned.
    package mutating func adopt(_ range: ByteRange, by connection: Int) -> Bool {
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
