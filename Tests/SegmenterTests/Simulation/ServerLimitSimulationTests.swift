import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// A server that serves `limit` requests at a time, and connections that always have work.
private struct ServerLimitSimulation {
    /// The seconds between two calls of `watch`.
    static let tick = 0.05

    enum Place {
        case free
        case waiting(until: Double, isOverLimit: Bool)
        case asking(since: Double, until: Double)
        case served(until: Double)
    }

    var random: SplitMix64
    var limit: Int
    /// The probability that a request fails for another reason.
    var badLuck = 0.0
    /// The longest time for which a body arrives after the server has finished with it.
    var drain = 0.05
    var cap = ServerLimit()
    private(set) var places: [Place]
    private var failures: [Int]
    /// The time at which the server has finished with each request.
    private var finished: [Double]
    private(set) var now = 0.0
    private(set) var refused: [Double] = []
    private(set) var asked = 0
    /// The total seconds of service.
    private(set) var service = 0.0

    init(connections: Int, limit: Int, random: SplitMix64) {
        self.random = random
        self.limit = limit
        places = Array(repeating: .free, count: connections)
        failures = Array(repeating: 0, count: connections)
        finished = Array(repeating: 0, count: connections)
    }

    private var load: ServerLimit.Load {
        var load = ServerLimit.Load()
        for place in places {
            switch place {
            case .asking: load.asking += 1
            case .served: load.served += 1
            case .waiting(let until, let isOverLimit) where until > now && !isOverLimit:
                load.waiting += 1
            default: break
            }
        }
        return load
    }

    private func load(without index: Int) -> ServerLimit.Load {
        var copy = self
        copy.places[index] = .free
        return copy.load
    }

    mutating func run(for seconds: Double) {
        let end = now + seconds
        while now < end {
            now += Self.tick
            cap.watch(load, now: now)
            for index in places.indices { step(index) }
            service += Self.tick * Double(load.served)
        }
    }

    private mutating func step(_ index: Int) {
        switch places[index] {
        case .waiting(let until, _) where until <= now: places[index] = .free
        case .served(let until) where until <= now: places[index] = .free
        case .asking(let since, let until) where until <= now: answer(index, since)
        default: break
        }
        guard case .free = places[index], cap.allows(beside: load, now: now) else { return }
        cap.asked(beside: load, now: now)
        asked += 1
        let trip = Double.random(in: 0.02...0.2, using: &random)
        places[index] = .asking(since: now, until: now + trip)
    }

    private mutating func answer(_ index: Int, _ since: Double) {
        let taken = places.indices.count { $0 != index && finished[$0] > now }
        if taken < limit, Double.random(in: 0..<1, using: &random) >= badLuck {
            let length = Double.random(in: 0.3...20, using: &random)
            finished[index] = now + length
            places[index] = .served(
                until: now + length + Double.random(in: 0...drain, using: &random))
            failures[index] = 0
            cap.served(load, asked: since, now: now)
            return
        }
        refused.append(now)
        let verdict = cap.refused(
            beside: load(without: index), asked: since, isFirst: failures[index] == 0,
            failure: .status(503), now: now)
        guard verdict != .rest else {
            failures[index] = 0
            places[index] = .free
            return
        }
        failures[index] += 1
        let delay = RetryPolicy(retries: 10).delay(
            failures: failures[index], retryAfter: nil, random: .random(in: 0..<1, using: &random))
        places[index] = .waiting(until: now + delay, isOverLimit: verdict == .again)
    }
}

@Suite struct ServerLimitSimulationTests {
    /// Fifteen seconds to learn the limit, then ten minutes.
    @Test func settlesAtServersLimit() {
        forEachSeed(10) { seed, random in
            let connections = Int.random(in: 2...32, using: &random)
            let limit = Int.random(in: 1..<connections, using: &random)
            var simulation = ServerLimitSimulation(
                connections: connections, limit: limit, random: random)
            simulation.run(for: 15)
            let (learning, before) = (simulation.refused.count, simulation.service)
            simulation.run(for: 600)
            let context: Comment = "seed \(seed): \(limit) of \(connections)"
            #expect(learning <= 3 * connections + 6, context)
            let later = simulation.refused.dropFirst(learning)
            for start in later {
                let minute = later.count { (start..<start + 60).contains($0) }
                #expect(minute <= 3, context)
            }
            let used = (simulation.service - before) / (600 * Double(limit))
            #expect(used >= 0.93, context)
        }
    }

    /// The server's limit rises and falls.
    @Test func followsChangingLimit() {
        forEachSeed(5) { seed, random in
            let connections = Int.random(in: 4...16, using: &random)
            var simulation = ServerLimitSimulation(
                connections: connections, limit: connections / 2, random: random)
            simulation.run(for: 120)
            for _ in 0..<4 {
                let limit = Int.random(in: 1...connections, using: &random)
                simulation.limit = limit
                // By now, probes may be four minutes apart.
                simulation.run(for: 270 + 3 * Double(connections))
                let before = (simulation.refused.count, simulation.service)
                simulation.run(for: 300)
                let context: Comment = "seed \(seed): \(limit) of \(connections)"
                #expect(simulation.refused.count - before.0 <= 15, context)
                let used = (simulation.service - before.1) / (300 * Double(limit))
                #expect(used >= 0.85, context)
            }
        }
    }

    /// Failures for other reasons do not keep connections idle for long.
    @Test(arguments: [0.02, 0.1, 0.3])
    func randomFailuresAreNoLimit(share: Double) {
        forEachSeed(8) { seed, random in
            var simulation = ServerLimitSimulation(connections: 8, limit: 8, random: random)
            simulation.badLuck = share
            simulation.run(for: 600)
            let used = simulation.service / (600 * 8)
            #expect(used >= (share > 0.2 ? 0.2 : 0.9), "seed \(seed): \(used)")
        }
    }
}
