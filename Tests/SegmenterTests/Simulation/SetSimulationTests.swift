import Glibc
import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Compares the download of random sets with the least time that size, line and limit allow.
@Suite struct SetSimulationTests {
    /// A set of files and a network that are derived from a seed.
    struct Case {
        enum Kind: CaseIterable {
            /// A connection could fill the line.
            case shared
            /// The server or losses limit each connection.
            case capped
            /// Some connections are far slower.
            case stragglers
            /// The server refuses requests above a number.
            case refusing
            /// The user bounds the number of connections.
            case bounded
        }

        let kind: Kind
        let network: SimulatedNetwork
        let sizes: [Int64]
        let areSizesKnown: Bool
        let most: Int?

        init(seed: UInt64) {
            var random = SplitMix64(seed: seed)
            func spread(_ range: ClosedRange<Double>) -> Double {
                exp(
                    Double.random(
                        in: log(range.lowerBound)...log(range.upperBound), using: &random))
            }
            kind = Kind.allCases[Int(seed) % Kind.allCases.count]
            let roundTrip = spread(0.0003...0.15)
            var network = SimulatedNetwork(
                roundTrip: roundTrip, handshakes: Bool.random(using: &random) ? 1 : 2)
            let count = Int(spread(3...120))
            let (least, largest) = (spread(0x1p14...0x1p20), spread(0x1p22...0x1p28))
            let bend = spread(1...4)
            let grown = (0..<count).map { _ in
                least * pow(largest / least, pow(.random(in: 0...1, using: &random), bend))
            }
            // Without sizes, more requests go out than the server serves.
            areSizesKnown = Bool.random(using: &random) && kind != .refusing
            let seconds = spread(max(5, 100 * roundTrip)...max(20, 200 * roundTrip))
            let total = grown.reduce(0, +)
            let rate = max(4e6, total / seconds)
            sizes = grown.map { Int64($0 * rate * seconds / total) }
            network.capacity = [(0, rate)]
            let dice = { (number: Int) in SimulatedCase.dice(seed, number) }
            var most: Int?
            switch kind {
            case .shared: break
            case .capped:
                let each = rate / spread(1...16)
                network.cap = { each * (0.75 + 0.5 * dice($0)) }
            case .stragglers:
                let each = rate / spread(1...12)
                network.cap = { dice($0) < 0.1 ? each / 10 : each }
            case .refusing:
                network.served = Int(spread(12...44))
                let each = 2 * rate / Double(network.served)
                network.cap = { _ in each }
            case .bounded:
                let number = Int(spread(1...64))
                most = number
                let each = rate / Double(number) * spread(0.5...4)
                network.cap = { _ in each }
            }
            (self.network, self.most) = (network, most)
        }

        /// The least number of seconds.
        var bound: Double {
            let count = min(most ?? 64, network.served)
            let bytes = Double(sizes.reduce(0, +))
            let fluid = SimulatedConnections.bound(network, count: count, bytes: bytes)
            // Each file takes a round trip of one connection, in which no other bytes arrive there.
            let fastest = (0..<64).map(network.cap).max() ?? .infinity
            let transfer = bytes / min(fastest, network.capacity[0].rate)
            let work = Double(sizes.count) * network.roundTrip + transfer
            return max(fluid, work / Double(count))
        }
    }

    @Test func timeIsNearLowerBound() throws {
        var ratios: [Double] = []
        for seed in 0..<UInt64(500) {
            let trial = Case(seed: seed)
            let bound = trial.bound
            var set = SimulatedSet(
                trial.network, trial.sizes, areSizesKnown: trial.areSizesKnown,
                most: trial.most)
            let ended = set.run(limit: 5 * bound)
            let seconds = try #require(ended, "seed \(seed): no end")
            #expect(
                seconds <= 1.15 * bound,
                "\(trial.kind), seed \(seed): \(seconds / bound) of \(bound) s, \(set.log)")
            // A file may begin between two reports.
            if let most = trial.most { #expect(set.log.mostBusy <= most + 1, "seed \(seed)") }
            ratios.append(seconds / bound)
        }
        ratios.sort()
        #expect(ratios[ratios.count / 2] <= 1.06)
    }

    /// Without failures, a large file takes at most one request for 16 MiB until the end of the set.
    @Test func requestsAreFew() throws {
        for seed in 0..<UInt64(500) {
            let trial = Case(seed: seed)
            guard trial.kind != .stragglers, trial.kind != .refusing else { continue }
            var set = SimulatedSet(
                trial.network, trial.sizes, areSizesKnown: trial.areSizesKnown,
                most: trial.most)
            let ended = set.run(limit: 5 * trial.bound)
            try #require(ended != nil)
            let windows = trial.sizes.reduce(0) {
                $0 + Int(max(0, $1 - 1) / SegmentScheduler.longWindow) + 1
            }
            // At the end, free connections help.
            let most = windows + 3 * 64
            #expect(set.log.requests <= most, "seed \(seed): \(set.log), \(windows) windows")
        }
    }
}
