/// Finds connections that are far slower than their peers.
///
/// A new connection may use another path, or reach another server behind a load balancer.
///
/// Pure: the caller passes the time, and calls `step` at every tick. `StallDetector` handles
/// connections that receive nothing at all.
struct Rescue: Sendable {
    /// The factor by which a slow connection is below the median of its peers.
    static let factor = 8.0
    /// The time after the first byte that slow start may take: seconds, plus this number of round
    /// trips.
    static let warmUp = (seconds: 0.2, trips: 10.0)
    /// The time for which a connection must be slow: seconds, plus this number of round trips.
    static let patience = (seconds: 0.3, trips: 5.0)
    /// The number of times that a connection is reopened; the patience doubles each time.
    static let most = 4
    /// The seconds at normal speed after which one reopening is forgotten.
    static let forgetting = 30.0

    /// The state of a connection that receives a body and that segget does not slow down.
    struct Connection: Hashable, Sendable {
        /// The server of the connection; only connections of one server are compared.
        var source = 0
        /// The address of the connection, if its server has several.
        ///
        /// Connections of different addresses are not compared; `AddressBook` does that.
        var address: String?
        /// The smoothed rate in bytes per second.
        var rate: Double
        /// The seconds since the first byte was received on the connection.
        var age: Double

        fileprivate var server: Server { Server(source: source, address: address) }
    }

    fileprivate struct Server: Hashable {
        var source: Int
        var address: String?
    }

    /// A connection that has to be replaced.
    struct Laggard: Hashable, Sendable {
        var connection: Int
        /// Its rate, in bytes per second.
        var rate: Double
        /// The median of its peers' rates, in bytes per second.
        var peers: Double
    }

    private struct History {
        /// The time since which the connection has been slow.
        var slowSince: Double?
        /// The time since which it has kept up, or at which a reopening was last forgotten.
        var steadySince: Double?
        var times = 0
    }

    private var histories: [Int: History] = [:]

    /// Returns the connections that have to be reopened.
    ///
    /// A connection is slow if it is far below the median of the others. So these are never all
    /// connections, and never one without peers.
    ///
    /// - Parameters:
    ///   - connections: The connections by number.
    ///   - roundTrip: The seconds from a request to its first byte.
    ///   - now: The time in seconds.
    /// - Returns: The connections; the caller reopens them.
    mutating func step(_ connections: [Int: Connection], roundTrip: Double, now: Double)
        -> [Laggard]
    {
        let warmUp = Self.warmUp.seconds + Self.warmUp.trips * roundTrip
        let warm = connections.filter { $0.value.age >= warmUp }
        for index in histories.keys where warm[index] == nil {
            histories[index]?.slowSince = nil
            histories[index]?.steadySince = nil
        }
        let rates = Dictionary(grouping: warm.values, by: \.server)
            .mapValues { $0.map(\.rate).sorted() }
        var laggards: [Laggard] = []
        for (index, connection) in warm.sorted(by: { $0.key < $1.key }) {
            let peers = rates[connection.server] ?? []
            // For a connection below it, the upper median of all is the median of the others.
            guard peers.count > 1 else { continue }
            let median = peers[peers.count / 2]
            let isSlow = connection.rate * Self.factor < median
            if note(index, isSlow, roundTrip, now) {
                laggards.append(
                    Laggard(connection: index, rate: connection.rate, peers: median))
            }
        }
        return laggards
    }

    /// Records whether a connection is slow, and returns whether to reopen it.
    private mutating func note(_ index: Int, _ isSlow: Bool, _ roundTrip: Double, _ now: Double)
        -> Bool
    {
        var history = histories[index, default: History()]
        defer { histories[index] = history }
        guard isSlow else {
            history.slowSince = nil
            let since = history.steadySince ?? now
            history.steadySince = since
            if history.times > 0, now - since >= Self.forgetting {
                history.times -= 1
                history.steadySince = now
            }
            return false
        }
        history.steadySince = nil
        let since = history.slowSince ?? now
        history.slowSince = since
        let patience = Self.patience.seconds + Self.patience.trips * roundTrip
        guard history.times < Self.most,
            now - since >= patience * Double(1 << history.times)
        else { return false }
        history.times += 1
        history.slowSince = nil
        return true
    }
}
