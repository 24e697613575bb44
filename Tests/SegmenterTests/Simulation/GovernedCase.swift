import Assembler
import Glibc
import TestSupport

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// A transfer through a network derived from a seed, for which the governor finds the number of
/// connections.
struct GovernedCase {
    enum Kind: String, CaseIterable {
        /// All connections share one bottleneck, which one of them can fill.
        case shared
        /// A bottleneck, and the same cap for all connections.
        case capped
        /// A bottleneck, and a different cap for each connection, determined by losses.
        case lossy
        /// A bottleneck that changes, and caps.
        case changing
        /// The server limits the number of requests at a time.
        case served
        /// Every fifth connection is ten times slower.
        case stragglers
    }

    /// The maximum number of connections.
    static let most = 64

    let network: SimulatedNetwork
    /// The length of the file in bytes.
    let size: Int64
    /// The fraction of segments that arrive out of order.
    private let loss: Double

    init(_ kind: Kind, seed: UInt64) {
        // Each kind has different networks.
        let number = Kind.allCases.firstIndex(of: kind) ?? 0
        var random = SplitMix64(seed: UInt64(Kind.allCases.count) * seed + UInt64(number))
        func spread(_ range: ClosedRange<Double>) -> Double {
            exp(Double.random(in: log(range.lowerBound)...log(range.upperBound), using: &random))
        }
        let roundTrip = spread(0.002...0.3)
        let rate = spread(1e6...200e6)
        let seconds = spread(max(50 * roundTrip, 2)...max(500 * roundTrip, 120))
        var network = SimulatedNetwork(
            roundTrip: roundTrip, handshakes: Bool.random(using: &random) ? 1 : 2)
        network.capacity = [(0, rate)]
        let each = rate / spread(1...Double(Self.most))
        let dice = { (number: Int) in SimulatedCase.dice(seed, number) }
        switch kind {
        case .shared: break
        case .capped: network.cap = { _ in each }
        case .lossy: network.cap = { each * (0.75 + 0.5 * dice($0)) }
        case .stragglers: network.cap = { dice($0) < 0.2 ? each / 10 : each }
        case .changing:
            var time = 0.0
            while time < 40 * seconds, network.capacity.count < 400 {
                time += spread(max(1, 10 * roundTrip)...max(2, 10 * roundTrip, seconds))
                network.capacity.append((time, rate * spread(0.3...3)))
            }
            network.cap = { 2 * each * (0.5 + dice($0)) }
        case .served:
            network.cap = { _ in each }
            network.served = Int(spread(1...Double(Self.most)))
        }
        self.network = network
        loss = kind == .lossy ? 0.02 : 0
        size = Int64(rate * seconds)
    }

    /// Returns the seconds with a fixed number of connections; `nil` if they exceed the limit.
    func seconds(connections: Int, limit: Double) -> Double? {
        var fetch = SimulatedFetch(network, size: size, connections: connections)
        return fetch.run(limit: limit)
    }

    /// Returns the seconds with the number that the governor finds; `nil` if they exceed the limit.
    func governed(limit: Double) -> Double? {
        var fetch = SimulatedFetch(
            network, size: size, connections: Self.most, isFound: true)
        fetch.world.loss = loss
        return fetch.run(limit: limit)
    }
}
