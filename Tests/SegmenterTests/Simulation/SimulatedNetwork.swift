@testable import Segmenter

/// A network between a client and a server, as far as bytes flow in it: a fluid model in virtual time.
///
/// Connections share a bottleneck fairly (max-min); each has a cap of its own, and a congestion window
/// that doubles each round trip as long as it is what limits.
struct SimulatedNetwork {
    /// First congestion window, in bytes (RFC 6928).
    static let firstWindow = 10.0 * 1460

    /// Seconds that a request takes on a connection that is made.
    var roundTrip = 0.05
    /// Round trips that making one takes: one, with TLS 1.3 two.
    var handshakes = 1.0
    /// Bytes per second of the bottleneck, from a time on; ascending, the first from 0.
    var capacity: [(from: Double, rate: Double)] = [(0, .infinity)]
    /// Bytes per second of the connection with a number, in the order of being made.
    var cap: (Int) -> Double = { _ in .infinity }
    /// Seconds after which the connection with a number is dead, without a word.
    var life: (Int) -> Double = { _ in .infinity }
    /// When all connections that are there die, without a word.
    var cuts: [Double] = []
    /// Requests that are served at a time; others are turned away.
    var served = Int.max
    /// The host's addresses; none where nobody knows of several.
    var addresses: [Address] = []

    /// An address of the host.
    struct Address {
        var name: String
        /// Most bytes per second of a connection to it.
        var cap = Double.infinity
        /// Whether nobody answers there.
        var isDead = false
    }

    /// Whether nothing passes at a time.
    func isDown(at time: Double) -> Bool { capacity(at: time) == 0 }

    /// When something passes, from a time on.
    func up(from time: Double) -> Double {
        guard isDown(at: time) else { return time }
        return capacity.first { $0.from > time && $0.rate > 0 }?.from ?? .infinity
    }

    func capacity(at time: Double) -> Double {
        (capacity.last { $0.from <= time } ?? capacity[0]).rate
    }

    /// When the capacity changes next.
    func change(after time: Double) -> Double {
        capacity.first { $0.from > time }?.from ?? .infinity
    }
}

/// The connections of a simulated network.
struct SimulatedConnections {
    struct Connection {
        var isOpen = false
        /// Whether a body flows.
        var flows = false
        var cap = 0.0
        /// Congestion window, in bytes per second.
        var window = 0.0
        var dies = Double.infinity
        /// Bytes per second at present.
        var rate = 0.0
        /// Bytes that came in the present body.
        var brought = 0.0
    }

    let network: SimulatedNetwork
    private(set) var all: [Connection]
    /// Connections that were made so far.
    private(set) var made = 0
    private(set) var isGrowing = false
    /// Whether rates have to be set anew.
    private var isStale = true

    init(_ network: SimulatedNetwork, count: Int) {
        self.network = network
        all = Array(repeating: Connection(), count: count)
    }

    subscript(_ index: Int) -> Connection { all[index] }

    /// Takes one more.
    mutating func add() -> Int {
        all.append(Connection())
        return all.count - 1
    }

    /// Makes a connection, if it is not made.
    ///
    /// - Parameters:
    ///   - index: Of the connections.
    ///   - now: The time.
    ///   - address: Where it leads.
    ///   - isCounted: Whether it has a number: one for a canary has none, so that canaries do not decide
    ///     which fate the others have.
    /// - Returns: Round trips that a request takes until its first byte.
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

    /// Has no more than so many bytes come: what waits for room comes when there is some.
    mutating func hold(_ index: Int, at most: Double) {
        all[index].brought = min(all[index].brought, most)
    }

    mutating func close(_ index: Int) {
        all[index] = Connection()
        isStale = true
    }

    /// Has nothing more come on a connection, without a word.
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

    /// Tells rates anew, if something has changed.
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

    /// Max-min: who needs less than an equal part of what is left gets that.
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

    /// When one of these dies next.
    func death(after time: Double) -> Double {
        all.reduce(.infinity) { $1.flows && $1.dies > time ? min($0, $1.dies) : $0 }
    }

    /// Lets time pass in which nothing happens.
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

    /// Two to the power of a number from 0 to 1, nearly.
    private static func power(_ exponent: Double) -> Double {
        let x = exponent * 0.693147
        return 1 + x * (1 + x / 2 * (1 + x / 3 * (1 + x / 4)))
    }

    /// Seconds in which a number of connections would bring so many bytes if they never lacked work:
    /// the fluid optimum, with handshakes, slow start and the stalls that are waited out.
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

/// How long connections that have died without a word are waited for, at the least: as long as
/// `StallDetector` waits for a stalled one, which is twice as long after each time, and half as
/// long again after a while, and no longer than the stall timeout.
struct SimulatedStalls {
    private let patience: Double
    private var caution = 1.0
    private var changed = 0.0

    init(_ network: SimulatedNetwork) {
        let longestTimeToFirstByte = (1 + network.handshakes) * network.roundTrip
        patience = max(StallDetector.patience, StallDetector.factor * longestTimeToFirstByte)
    }

    /// A connection has died.
    ///
    /// - Returns: Seconds until it is given up.
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
