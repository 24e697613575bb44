import Assembler

/// Decides which connection fetches which bytes.
///
/// Pure: no clock, no I/O.
///
/// Every byte of the file is, at any time, exactly one of: done, verifying (on disk from an earlier
/// run, CRC not yet checked), assigned to one connection, or unassigned.
struct SegmentScheduler {
    /// What one connection has to fetch: bytes `position..<end`, in order.
    struct Segment: Hashable {
        /// The next byte that is expected.
        var position: Int64
        /// Where the work ends; moves towards `position` when the tail is stolen.
        var end: Int64

        var rest: ByteRange { ByteRange(position, end) }
    }

    /// Work for a connection that was free.
    enum Assignment: Hashable {
        /// Bytes that nobody had.
        case fresh(ByteRange)
        /// The tail of another connection's segment, which now ends where this range begins.
        case stolen(ByteRange, from: Int)

        var range: ByteRange {
            switch self {
            case .fresh(let range), .stolen(let range, _): range
            }
        }
    }

    /// Longest segment that is handed out, in bytes: so that the front of contiguous data, which
    /// whole-file digests follow, is never far behind.
    static let longestSegment: Int64 = 64 << 20
    /// Shortest segment that is cut off a larger gap, in bytes.
    static let shortestSegment: Int64 = 256 << 10
    /// Shortest tail that is worth a request of its own, in bytes.
    static let shortestSteal: Int64 = 128 << 10
    /// Least time that a segment must have to go for its tail to be taken, in seconds: another
    /// request costs a round trip, and the connection whose tail is taken is closed.
    static let shortestStealTime = 0.25
    /// Time that a segment must have to go for all of it to be taken, however little that is, in
    /// seconds: its connection may never come back.
    static let wholeStealTime = 2.0
    /// Shortest segment that the share of a small window is rounded up to, in bytes.
    static let shortestShare: Int64 = 64 << 10

    /// Length of the file in bytes.
    let size: Int64
    private(set) var done = RangeSet()
    private(set) var verifying: RangeSet
    private(set) var unassigned: RangeSet
    /// By connection.
    private(set) var segments: [Int: Segment] = [:]

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

    // MARK: What happened

    /// Bytes up to `position` have been written by a connection.
    mutating func advance(_ connection: Int, to position: Int64) {
        guard var segment = segments[connection] else { return }
        let position = min(position, segment.end)
        guard position > segment.position else { return }
        done.insert(ByteRange(segment.position, position))
        segment.position = position
        segments[connection] = segment.rest.isEmpty ? nil : segment
    }

    /// A connection gives its work back.
    mutating func release(_ connection: Int) {
        guard let segment = segments.removeValue(forKey: connection) else { return }
        unassigned.insert(segment.rest)
    }

    /// Bytes from an earlier run were checked: they are done, or to be fetched again.
    mutating func verified(_ range: ByteRange, isIntact: Bool) {
        verifying.remove(range)
        if isIntact { done.insert(range) } else { unassigned.insert(range) }
    }

    // MARK: What to do

    /// Gives a free connection work.
    ///
    /// Unassigned bytes first: a share of all of them that fits the connection's part in the whole
    /// speed, halved, so that shares shrink towards the end and all finish together (guided
    /// self-scheduling). Then the tail, by time, of the segment that would finish last.
    ///
    /// - Parameters:
    ///   - connection: Has no work.
    ///   - rates: Measured speed of each connection in bytes per second; absent when unknown.
    ///   - connections: Number of connections that work on the file.
    ///   - maySteal: Whether another connection's work may be given.
    ///   - window: What the output can take; `nil` is everything. Nothing at its limit or behind it
    ///     is given, and segments are so short that each connection has its share of the window.
    /// - Returns: The work, or `nil` when there is none worth a request. With a window that is also
    ///   when too little of it is free; never when half of it is free behind the front of what is
    ///   done, and nobody works.
    mutating func assign(
        _ connection: Int, rates: [Int: Double], connections: Int, maySteal: Bool = true,
        window: OutputWindow? = nil
    ) -> Assignment? {
        precondition(segments[connection] == nil, "the connection has work already")
        let limit = window?.limit ?? .max
        guard let gap = unassigned.ranges.first, gap.start < limit else {
            return maySteal ? steal(connection, rates: rates) : nil
        }
        let part = part(of: connection, rates, connections)
        let longest = window.map {
            min(Self.longestSegment, max(Self.shortestShare, Int64(Double($0.size) * part / 2)))
        }
        let shortest = min(Self.shortestSegment, longest ?? .max)
        let share = Double(unassigned.count) * part / 2
        var length = min(max(Int64(share), shortest), longest ?? Self.longestSegment)
        // No crumbs: what would be left shorter than a segment goes along.
        if gap.count - length < shortest { length = gap.count }
        let range = ByteRange(gap.start, min(limit, gap.start + min(length, gap.count)))
        // Nor crumbs at the limit: it will move on.
        guard range.count >= shortest || range.end < limit || range.end == gap.end else {
            return maySteal ? steal(connection, rates: rates) : nil
        }
        take(range, for: connection)
        return .fresh(range)
    }

    /// The part of the whole speed that a connection contributes, in 0…1.
    private func part(of connection: Int, _ rates: [Int: Double], _ connections: Int) -> Double {
        let known = rates.values.filter { $0 > 0 }
        guard let mine = rates[connection], mine > 0, !known.isEmpty else {
            return 1 / Double(max(1, connections))
        }
        // Connections without a measurement count as average ones.
        let mean = known.reduce(0, +) / Double(known.count)
        return mine / (mean * Double(max(connections, known.count)))
    }

    private mutating func steal(_ thief: Int, rates: [Int: Double]) -> Assignment? {
        // A connection without a measurement has only begun: nobody knows that it is late.
        let timesLeft = segments.compactMap { connection, segment -> (Int, Double)? in
            guard let rate = rates[connection], rate > 0 else { return nil }
            return (connection, Double(segment.rest.count) / rate)
        }
        // Ties are broken by number, so that the same events give the same decisions.
        let last = timesLeft.max { ($0.1, -$0.0) < ($1.1, -$1.0) }
        guard let (victim, timeLeft) = last, timeLeft >= Self.shortestStealTime,
            let segment = segments[victim], let theirs = rates[victim]
        else { return nil }
        let known = rates.values.filter { $0 > 0 }
        let mine =
            rates[thief].flatMap { $0 > 0 ? $0 : nil } ?? known.reduce(0, +) / Double(known.count)
        let rest = segment.rest.count
        var tail = min(Int64(Double(rest) * mine / (mine + theirs)), rest - 1)
        if timeLeft >= Self.wholeStealTime {
            // Never all of an equal's: it would be free, and take all back.
            let isBetter = rates[thief].map { $0 <= 0 || $0 > 2 * theirs } ?? true
            if rest - tail < Self.shortestSteal, isBetter { tail = rest }
        } else if tail < Self.shortestSteal {
            return nil
        }
        guard tail > 0 else { return nil }
        let stolen = ByteRange(segment.end - tail, segment.end)
        segments[victim] =
            tail == rest ? nil : Segment(position: segment.position, end: stolen.start)
        segments[thief] = Segment(position: stolen.start, end: stolen.end)
        return .stolen(stolen, from: victim)
    }

    /// Gives a connection exactly this range, when all of it is unassigned: for a reply that is
    /// there already.
    ///
    /// - Returns: Whether it was given.
    mutating func adopt(_ range: ByteRange, by connection: Int) -> Bool {
        guard segments[connection] == nil, !range.isEmpty, unassigned.contains(range) else {
            return false
        }
        take(range, for: connection)
        return true
    }

    private mutating func take(_ range: ByteRange, for connection: Int) {
        unassigned.remove(range)
        segments[connection] = Segment(position: range.start, end: range.end)
    }
}
