/// Finds connections that are far slower than their peers: a new one may take another way, or lead to
/// another server behind a balancer.
///
/// Pure: time is an argument, and comes in ticks. Connections that bring nothing at all are
/// `StallDetector`'s.
struct Rescue: Sendable {
    /// How much slower than the median of its peers a connection has to be.
    static let factor = 8.0
    /// Time from the first byte on that is slow start's: seconds, and round trips beyond those.
    static let warmUp = (seconds: 0.2, trips: 10.0)
    /// Time that a connection has to be slow for.
    static let patience = (seconds: 0.3, trips: 5.0)
    /// Times that one is reopened; each time takes twice the patience.
    static let most = 4
    /// Seconds of keeping up after which one time is forgotten.
    static let forgetting = 30.0

    /// What is known of one connection whose body flows, and is held back by nobody on our side.
    struct Connection: Hashable, Sendable {
        /// The server that it works for: only those of one server are compared.
        var source = 0
        /// The address of it, where there are several: nor are those of two compared, which
        /// `AddressBook` does.
        var address: String?
        /// Bytes per second, smoothed.
        var rate: Double
        /// Seconds since the first byte that came on the connection.
        var age: Double

        fileprivate var server: Server { Server(source: source, address: address) }
    }

    fileprivate struct Server: Hashable {
        var source: Int
        var address: String?
    }

    /// A connection that has to go.
    struct Laggard: Hashable, Sendable {
        var connection: Int
        /// Its rate, in bytes per second.
        var rate: Double
        /// The median of its peers' rates, in bytes per second.
        var peers: Double
    }

    private struct History {
        /// Since when it has been slow.
        var slowSince: Double?
        /// Since when it has kept up, or when a time was last forgotten.
        var steadySince: Double?
        var times = 0
    }

    private var histories: [Int: History] = [:]

    /// Decides who is to be reopened.
    ///
    /// Never all, nor one that has no peer: slow is who is far below the median of the others.
    ///
    /// - Parameters:
    ///   - connections: By number.
    ///   - roundTrip: Seconds from a request to its first byte.
    ///   - now: In seconds.
    /// - Returns: The connections; the caller reopens them, and they begin anew.
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
            // The upper median of all is the median of the others for one that is below it.
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

    /// - Returns: Whether the connection is to be reopened.
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
