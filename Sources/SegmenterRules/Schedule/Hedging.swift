/// Decides when to request the rest of a segment a second time.
///
/// This happens at the end of a file, when all bytes are assigned and a late connection delays the
/// rest. Pure: no I/O and no clock.
struct Hedging: Sendable, Hashable {
    /// The state of a connection that has work.
    struct Connection: Sendable, Hashable {
        /// The bytes of its segment that have not been received.
        var rest: Int64
        /// The rate in bytes per second; `nil` when unknown.
        var rate: Double?
        /// The seconds since the connection last received something.
        var quiet: Double
        /// Whether the head of its response was received.
        var isAnswered: Bool
        /// The longest time to first byte of its server, in seconds; `nil` before the first
        /// response.
        var longestTimeToFirstByte: Double?
    }

    /// The longest rest that is requested a second time, in bytes; memory holds its second body.
    static let longest: Int64 = 1 << 20
    /// The fraction of the file that may be requested a second time, or `least` bytes if that is
    /// more.
    static let budget = (part: 0.005, least: Int64(1 << 20))
    /// The least time by which a connection must be late: seconds or round trips, whichever is
    /// more.
    ///
    /// A second request takes about as long.
    static let lateness = (seconds: 0.25, trips: 4.0)
    /// The factor by which a response must exceed the longest time to first byte to be late.
    static let factor = 2.0

    /// The number of bytes that may still be requested.
    private(set) var left: Int64

    init(size: Int64) {
        left = max(Int64(Self.budget.part * Double(size)), Self.budget.least)
    }

    /// Chooses the segments whose rests are requested a second time.
    ///
    /// - Parameters:
    ///   - connections: The connections that have work and no second request yet, by number.
    ///   - free: The number of connections without work.
    ///   - roundTrip: The round trip in seconds; 0 when unknown.
    /// - Returns: The numbers of the connections; their rests are subtracted from the budget.
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

    /// Stops hedging, because a second request has failed.
    mutating func giveUp() { left = 0 }

    /// Returns the seconds by which a second request would probably be earlier.
    private static func lateness(of connection: Connection) -> Double {
        guard connection.isAnswered else {
            // Before the first response of a server, its time to first byte is unknown.
            return connection.longestTimeToFirstByte.map { connection.quiet - factor * $0 } ?? 0
        }
        let time = connection.rate.map { Double(connection.rest) / $0 } ?? 0
        return max(connection.quiet, time / 2)
    }
}
