@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// A network between a client and a server: a fluid model of its bytes in virtual time.
///
/// Connections share a bottleneck fairly (max-min). Each one has a separate cap, and a congestion
/// window that doubles in each round trip as long as it limits the connection.
struct SimulatedNetwork {
    /// The initial congestion window in bytes (RFC 6928).
    static let firstWindow = 10.0 * 1460

    /// The seconds that a request takes on an established connection.
    var roundTrip = 0.05
    /// The round trips that establishing a connection takes: one, or two with TLS 1.3.
    var handshakes = 1.0
    /// The bytes per second of the bottleneck from a time on, in ascending order; the first from 0.
    var capacity: [(from: Double, rate: Double)] = [(0, .infinity)]
    /// The bytes per second of a connection; connections are numbered in the order in which they
    /// are established.
    var cap: (Int) -> Double = { _ in .infinity }
    /// The seconds after which a connection dies without a reset.
    var life: (Int) -> Double = { _ in .infinity }
    /// The times at which all present connections die without a reset.
    var cuts: [Double] = []
    /// The number of requests that are served at a time; others are refused.
    var served = Int.max
    /// The host's addresses; empty if the client does not know several.
    var addresses: [Address] = []

    /// An address of the host.
    struct Address {
        var name: String
        /// The maximum number of bytes per second of a connection to it.
        var cap = Double.infinity
        /// Whether no server answers at the address.
        var isDead = false
    }

    /// Returns whether the network is down at a time.
    func isDown(at time: Double) -> Bool { capacity(at: time) == 0 }

    /// Returns the first time, not before `time`, at which the network is up.
    func up(from time: Double) -> Double {
        guard isDown(at: time) else { return time }
        return capacity.first { $0.from > time && $0.rate > 0 }?.from ?? .infinity
    }

    func capacity(at time: Double) -> Double {
        (capacity.last { $0.from <= time } ?? capacity[0]).rate
    }

    /// Returns the time of the next change of the capacity.
    func change(after time: Double) -> Double {
        capacity.first { $0.from > time }?.from ?? .infinity
    }
}

/// The connections of a simulated network.
struct SimulatedConnections {
    struct Connection {
        var isOpen = false
        /// Whether a body is being received.
        var flows = false
        var cap = 0.0
        /// The congestion window in bytes per second.
        var window = 0.0
        var dies = Double.infinity
        /// The present rate in bytes per second.
        var rate = 0.0
        /// The number of bytes of the present body that were received.
        var brought = 0.0
    }

    let network: SimulatedNetwork
    private(set) var all: [Connection]
    /// The number of connections that have been established.
    private(set) var made = 0
    private(set) var isGrowing = false
    /// Whether the rates have to be recalculated.
    private var isStale = true

    init(_ network: SimulatedNetwork, count: Int) {
        self.network = network
        all = Array(repeating: Connection(), count: count)
    }

    subscript(_ index: Int) -> Connection { all[index] }

    /// Adds a connection, and returns its index.
    mutating func add() -> Int {
        all.append(Connection())
        return all.count - 1
    }

    /// Establishes a connection, if it is not open.
    ///
    /// - Parameters:
    ///   - index: The index of the connection.
    ///   - now: The time.
    ///   - address: The address to which it connects.
    ///   - isCounted: Whether the connection gets a number. A canary's connection gets none, so
    ///     that canaries do not change the fate of other connections.
    /// - Returns: The number of round trips until the first byte of a request.
    mutating func open(
        _ index: Int, _ now: Double, to address: SimulatedNetwork.Address? = nil,
        isCounted: Bool = true
    ) -> Double {
        guard !all[index].isOpen else { return 1 }
        let cut = network.cuts.first { $0 >= now } ?? .infinity
        all[index] = Connection(
            isOpen: true, window: SimulatedNetwork.firstWindow / network.roundTrip, dies: cut)
        if isCounted {
            all[index].cap = min(network.cap(made), address?.cap ?? .infinity)
            all[index].dies = min(cut, now + network.life(made))
            made += 1
        }
        return 1 + network.handshakes
    }

    /// Limits the bytes that have arrived; the rest waits until there is space.
    mutating func hold(_ index: Int, at most: Double) {
        all[index].brought = min(all[index].brought, most)
    }

    mutating func close(_ index: Int) {
        all[index] = Connection()
        isStale = true
    }

    /// Stops a connection without a reset.
    mutating func kill(_ index: Int, _ now: Double) {
        all[index].dies = now
        isStale = true
    }

    mutating func setFlow(_ index: Int, _ flows: Bool) {
        all[index].flows = flows
        all[index].rate = 0
        if flows { all[index].brought = 0 }
        isStale = true
    }

    /// Recalculates the rates if something has changed.
    mutating func settle(_ now: Double) {
        guard isStale else { return }
        isStale = false
        var flowing: [Int] = []
        var sum = 0.0
        for index in all.indices where all[index].flows {
            let limit = now >= all[index].dies ? 0 : min(all[index].cap, all[index].window)
            all[index].rate = limit
            sum += limit
            flowing.append(index)
        }
        let capacity = network.capacity(at: now)
        if sum > capacity { share(capacity, flowing) }
        isGrowing = flowing.contains { index in
            let connection = all[index]
            return connection.rate >= 0.999 * connection.window && connection.rate > 0
                && connection.window < connection.cap
        }
    }

    /// Shares the capacity (max-min): a connection that needs less than an equal part gets what it
    /// needs.
    private mutating func share(_ capacity: Double, _ flowing: [Int]) {
        var left = capacity
        var count = flowing.count
        let least = flowing.map { all[$0].rate }.min() ?? 0
        if least * Double(count) >= capacity {
            for index in flowing { all[index].rate = capacity / Double(count) }
            return
        }
        for index in flowing.sorted(by: { all[$0].rate < all[$1].rate }) {
            all[index].rate = min(all[index].rate, left / Double(count))
            left -= all[index].rate
            count -= 1
        }
    }

    /// Returns the time at which the next of these connections dies.
    func death(after time: Double) -> Double {
        all.reduce(.infinity) { $1.flows && $1.dies > time ? min($0, $1.dies) : $0 }
    }

    /// Advances the time over an interval without events.
    mutating func pass(from now: Double, to then: Double) {
        let seconds = then - now
        let growth = isGrowing ? Self.power(seconds / network.roundTrip) : 1
        for index in all.indices where all[index].flows {
            all[index].brought += all[index].rate * seconds
            if isGrowing, all[index].rate >= 0.999 * all[index].window {
                all[index].window *= growth
            }
        }
        if isGrowing { isStale = true }
    }

    mutating func markStale() { isStale = true }

    /// Returns an approximation of two to the power of a number from 0 to 1.
    private static func power(_ exponent: Double) -> Double {
        let x = exponent * 0.693147
        return 1 + x * (1 + x / 2 * (1 + x / 3 * (1 + x / 4)))
    }

    /// Returns the least number of seconds in which connections download a number of bytes.
    ///
    /// This is the fluid optimum for connections that always have work, with handshakes, slow
    /// start, and the time until dead connections are given up.
    static func bound(_ network: SimulatedNetwork, count: Int, bytes: Double) -> Double {
        let count = min(count, network.served)
        var connections = SimulatedConnections(network, count: count)
        var starts = Array(repeating: Double.infinity, count: count)
        var stalls = SimulatedStalls(network)
        var (now, sum) = (0.0, 0.0)
        for index in 0..<count { starts[index] = connections.open(index, 0) * network.roundTrip }
        while true {
            for index in 0..<count where starts[index] <= now {
                starts[index] = .infinity
                connections.setFlow(index, true)
            }
            for index in 0..<count where connections[index].flows && connections[index].dies <= now
            {
                let wait = stalls.next(now)
                connections.close(index)
                let trips = connections.open(index, now + wait)
                starts[index] = now + wait + trips * network.roundTrip
            }
            connections.settle(now)
            let rate = connections.all.reduce(0) { $0 + $1.rate }
            var next = min(
                starts.min() ?? .infinity, network.change(after: now),
                connections.death(after: now))
            if connections.isGrowing { next = min(next, now + network.roundTrip / 4) }
            if rate > 0, now + (bytes - sum) / rate <= next { return now + (bytes - sum) / rate }
            sum += rate * (next - now)
            connections.pass(from: now, to: next)
            if network.change(after: now) <= next { connections.markStale() }
            if connections.death(after: now) <= next { connections.markStale() }
            now = next
        }
    }
}

/// The least time until connections that died without a reset are given up.
///
/// It is the time for which `StallDetector` waits for a stalled connection. It doubles each time,
/// is halved after a while, and is never longer than the stall timeout.
struct SimulatedStalls {
    private let patience: Double
    private var caution = 1.0
    private var changed = 0.0

    init(_ network: SimulatedNetwork) {
        let longestTimeToFirstByte = (1 + network.handshakes) * network.roundTrip
        patience = max(StallDetector.patience, StallDetector.factor * longestTimeToFirstByte)
    }

    /// Records that a connection has died.
    ///
    /// - Returns: The seconds until the connection is given up.
    mutating func next(_ now: Double) -> Double {
        while caution > 1, now - changed >= StallDetector.forgetting {
            caution /= 2
            changed += StallDetector.forgetting
        }
        let wait = min(patience * caution, DownloadOptions().stallTimeout.inSeconds)
        caution = min(2 * caution, StallDetector.greatestCaution)
        changed = now + wait
        return wait
    }
}
