import Assembler

/// Decides when the rest of a segment is asked for a second time: when everything else is given out,
/// and one connection lets all others wait.
///
/// Pure.
struct Hedging: Sendable, Hashable {
    /// A connection that is at work.
    struct Connection: Sendable, Hashable {
        /// Bytes of its segment that are still to come.
        var rest: Int64
        /// Bytes per second; `nil` when unknown.
        var rate: Double?
        /// Seconds since anything came from it.
        var quiet: Double
        /// Whether the head of its reply has come.
        var isAnswered: Bool
        /// Longest time that its server has taken to answer, in seconds; `nil` before it ever has.
        var longestTimeToFirstByte: Double?
    }

    /// Longest rest that is asked for a second time, in bytes: it is kept in memory.
    static let longest: Int64 = 1 << 20
    /// Part of the file that may be asked for a second time in all, and the bytes that always may.
    static let budget = (part: 0.005, least: Int64(1 << 20))
    /// Least time that a connection is late by, in seconds, and in round trips: a second request takes
    /// about as long.
    static let lateness = (seconds: 0.25, trips: 4.0)
    /// How much longer than ever before a reply may take.
    static let factor = 2.0

    /// Bytes that may still be asked for.
    private(set) var left: Int64

    init(size: Int64) {
        left = max(Int64(Self.budget.part * Double(size)), Self.budget.least)
    }

    /// Chooses the segments that are asked for once more.
    ///
    /// - Parameters:
    ///   - connections: Those at work for which nothing was sent yet, by number.
    ///   - free: How many connections have nothing to do.
    ///   - roundTrip: In seconds; 0 when unknown.
    /// - Returns: Their numbers; their rests are taken off the budget.
    mutating func choose(
        _ connections: [Int: Connection], free: Int, roundTrip: Double
    ) -> [Int] {
        let least = max(Self.lateness.seconds, Self.lateness.trips * roundTrip)
        let late = connections.compactMapValues { connection -> Double? in
            let lateness = Self.lateness(of: connection)
            return lateness >= least ? lateness : nil
        }
        var chosen: [Int] = []
        for (number, _) in late.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            guard chosen.count < free, let rest = connections[number]?.rest, rest > 0,
                rest <= min(left, Self.longest)
            else { continue }
            left -= rest
            chosen.append(number)
        }
        return chosen
    }

    /// Asks for nothing more: the server did not take it well.
    mutating func giveUp() { left = 0 }

    /// By how many seconds another request would probably be earlier.
    private static func lateness(of connection: Connection) -> Double {
        guard connection.isAnswered else {
            // Before its first reply, nobody knows how long a server thinks.
            return connection.longestTimeToFirstByte.map { connection.quiet - factor * $0 } ?? 0
        }
        let time = connection.rate.map { Double(connection.rest) / $0 } ?? 0
        return max(connection.quiet, time / 2)
    }
}
