import Glibc
import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Compares the scheduler with the theoretical optimum in simulated networks.
///
/// The default is a sample of small cases. With `SEGGET_SIMULATION=all` in the environment there
/// are many, including large ones.
@Suite struct SchedulingSimulationTests {
    private static let isFull = getenv("SEGGET_SIMULATION") != nil
    /// The number of seeds that are tried, and of cases that are run, of each kind.
    private static let (seeds, cases) = isFull ? (1000, 1000) : (200, 25)
    /// The maximum product of seconds and connections of a case.
    private static let largest = isFull ? 30_000.0 : 300.0

    @Test(arguments: SimulatedCase.Kind.allCases)
    func timeIsNearLowerBound(kind: SimulatedCase.Kind) throws {
        var ratios: [Double] = []
        for seed in 0..<UInt64(Self.seeds) where ratios.count < Self.cases {
            let trial = SimulatedCase(kind, seed: seed)
            guard let bound = trial.bound, bound * Double(trial.connections) <= Self.largest else {
                continue
            }
            var fetch = SimulatedFetch(
                trial.network, size: trial.size, connections: trial.connections, seed: seed)
            let ended = fetch.run(limit: 5 * bound)
            let seconds = try #require(ended, "seed \(seed): no end")
            // Decisions at ticks are half a tick late, and a rate is known after two ticks.
            let allowed = kind.margin * bound + 1.5 * SimulatedFetch.tick
            #expect(
                seconds <= allowed, "\(kind), seed \(seed): \(seconds / bound) of \(bound) s")
            ratios.append(seconds / bound)
        }
        try #require(ratios.count >= 10)
        let median = ratios.sorted()[ratios.count / 2]
        #expect(median <= 1 + (kind.margin - 1) / 2, "the median is \(median)")
    }

    /// Slow connections lose their work and are replaced, which is faster than waiting for them.
    @Test func reopensStragglers() throws {
        var network = SimulatedNetwork(roundTrip: 0.001, handshakes: 1)
        // Every fifth connection has 64 KiB/s, the others 8 MiB/s.
        network.cap = { $0 % 5 == 4 ? 65_536 : 8_388_608 }
        var fetch = SimulatedFetch(network, size: 256 << 20, connections: 16)
        let ended = fetch.run(limit: 60)
        let seconds = try #require(ended)
        #expect(fetch.log.rescues >= 3)
        let waiting: Double = 0x1p28 / (13 * 0x1p23 + 3 * 0x1p16)
        #expect(seconds < waiting)
    }

    /// A server serves a few requests at a time, and refuses others.
    @Test func usesAllConnectionsThatServerAllows() throws {
        var network = SimulatedNetwork(roundTrip: 0.05)
        network.cap = { _ in 1e6 }
        network.served = 4
        let bound = SimulatedConnections.bound(network, count: 16, bytes: 400e6)
        var fetch = SimulatedFetch(network, size: 400_000_000, connections: 16)
        let ended = fetch.run(limit: 10 * bound)
        let seconds = try #require(ended)
        #expect(seconds <= 1.03 * bound)
    }

    /// The number of connections follows this download's part of the connections of all downloads.
    @Test func followsShareOfAllConnections() throws {
        var network = SimulatedNetwork(roundTrip: 0.05)
        network.cap = { _ in 1e6 }
        var fetch = SimulatedFetch(
            network, size: 200_000_000, connections: 16, isFound: true)
        // Each of 32 downloads has two connections: 64 in all.
        fetch.world.downloads = { $0 < 10 ? 32 : 1 }
        let ended = fetch.run(limit: 100)
        let seconds = try #require(ended)
        #expect(fetch.log.mostBusy == 16)
        // 20 MB in the first ten seconds, and the rest over all connections.
        #expect(seconds >= 10 + 180.0 / 16)
        // The governor decides when to try more connections. It does so after two unsuccessful
        // waits: its first patience, and twice that.
        let found = 10 + 2 * ConnectionGovernor.firstPatience
        #expect(seconds <= 1.05 * (found + (200 - 2 * found) / 16))
    }

    /// Few bytes are received twice, because a request was shortened and its tail arrived anyway.
    @Test func fewBytesAreReceivedTwice() {
        forEachSeed(20) { seed, _ in
            let trial = SimulatedCase(.stragglers, seed: seed)
            guard let bound = trial.bound, bound * Double(trial.connections) <= Self.largest else {
                return
            }
            var fetch = SimulatedFetch(
                trial.network, size: trial.size, connections: trial.connections, seed: seed)
            let ended = fetch.run(limit: 5 * bound)
            #expect(ended != nil)
            let most = max(0.01 * Double(trial.size), 0x1p21)
            #expect(fetch.log.wasted <= most, "seed \(seed): \(fetch.log.wasted)")
        }
    }
}
