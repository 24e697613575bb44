import Glibc
import TestSupport

/// A transfer through a network that is derived from a seed.
struct SimulatedCase {
    enum Kind: String, CaseIterable {
        /// All connections have the same cap.
        case capped
        /// All connections share one bottleneck.
        case shared
        /// Each connection has a different cap, as if losses determined it.
        case lossy
        /// Caps and a bottleneck.
        case mixed
        /// Some connections are far slower.
        case stragglers
        /// The capacity of the bottleneck changes.
        case changing
        /// Connections die without a reset.
        case dying

        /// The factor by which the bound may be exceeded.
        var margin: Double {
            switch self {
            case .capped, .shared, .lossy, .mixed: 1.03
            case .stragglers, .changing, .dying: 1.10
            }
        }
    }

    let seed: UInt64
    let kind: Kind
    let size: Int64
    let connections: Int
    private(set) var network: SimulatedNetwork

    init(_ kind: Kind, seed: UInt64) {
        var random = SplitMix64(seed: seed)
        func spread(_ range: ClosedRange<Double>) -> Double {
            exp(Double.random(in: log(range.lowerBound)...log(range.upperBound), using: &random))
        }
        (self.seed, self.kind) = (seed, kind)
        let roundTrip = spread(0.005...0.3)
        connections = Int(spread(1...1025))
        size = Int64(spread(0x1p20...10 * 0x1p40))
        let seconds = spread(max(50 * roundTrip, 2)...max(5000 * roundTrip, 120))
        let rate = Double(size) / seconds
        let each = rate / Double(connections)
        network = SimulatedNetwork(
            roundTrip: roundTrip, handshakes: Bool.random(using: &random) ? 1 : 2)
        let dice = { (number: Int) in Self.dice(seed, number) }
        switch kind {
        case .capped: network.cap = { _ in each }
        case .shared: network.capacity = [(0, rate)]
        case .lossy: network.cap = { each * (0.75 + 0.5 * dice($0)) }
        case .mixed:
            network.capacity = [(0, rate)]
            network.cap = { 2 * each * (0.5 + dice($0)) }
        case .stragglers:
            let (slow, share) = (spread(2...200), spread(0.05...0.4))
            network.cap = { dice($0) < share ? each / slow : each }
        case .changing:
            var time = 0.0
            network.capacity = [(0, rate)]
            while time < 40 * seconds, network.capacity.count < 400 {
                time += spread(max(1, 10 * roundTrip)...max(2, 10 * roundTrip, seconds))
                network.capacity.append((time, rate * spread(0.3...3)))
            }
            network.cap = { 2 * each * (0.5 + dice($0)) }
        case .dying:
            network.cap = { _ in each }
            let life = max(20, seconds * spread(0.3...5))
            network.life = { -log(1 - dice($0)) * life }
        }
    }

    /// Returns a pseudorandom number from 0 to 1 for each new connection.
    static func dice(_ seed: UInt64, _ number: Int) -> Double {
        var random = SplitMix64(seed: seed &* 1_000_003 &+ UInt64(number) &* 7919)
        _ = random.next()
        return Double.random(in: 0..<1, using: &random)
    }

    /// The least number of seconds that the transfer takes.
    ///
    /// It is `nil` for cases that are not run: less than 50 round trips, less than 128 KiB for each
    /// connection, or too short to notice a death.
    var bound: Double? {
        guard size / Int64(connections) >= 128 << 10 else { return nil }
        let bound = SimulatedConnections.bound(
            network, count: connections, bytes: Double(size))
        let isLong = bound >= 50 * network.roundTrip && (kind != .dying || bound >= 20)
        return isLong ? bound : nil
    }
}
