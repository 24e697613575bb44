import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct RescueTests {
    private static func peers(_ rates: [Double]) -> [Int: Rescue.Connection] {
        Dictionary(
            uniqueKeysWithValues: rates.enumerated().map {
                ($0, Rescue.Connection(rate: $1, age: 10))
            })
    }

    /// Runs ticks until a time, and returns the reopened connections with their times.
    private func run(
        _ rescue: inout Rescue, from start: Double = 0, until end: Double, roundTrip: Double = 0,
        _ connections: [Int: Rescue.Connection]
    ) -> [(time: Double, connection: Int)] {
        var result: [(time: Double, connection: Int)] = []
        for tick in Int(start * 10)..<Int(end * 10) {
            let now = Double(tick) / 10
            let laggards = rescue.step(connections, roundTrip: roundTrip, now: now)
            result += laggards.map { (now, $0.connection) }
        }
        return result
    }

    @Test func reopensFarSlowerConnection() {
        var rescue = Rescue()
        let found = run(&rescue, until: 0.5, Self.peers([8e6, 8e6, 64e3, 8e6]))
        #expect(found.map(\.connection) == [2])
        #expect((found.first?.time ?? 0) >= Rescue.patience.seconds)
    }

    @Test(
        arguments: [
            // More than an eighth of the median.
            [8e6, 8e6, 1.1e6, 8e6], [8e6, 1.1e6],
            // Most of them are slow, or there are no peers.
            [64e3, 64e3, 64e3, 8e6], [64e3, 64e3], [64e3],
        ])
    func doesNotReopenOthers(rates: [Double]) {
        var rescue = Rescue()
        #expect(run(&rescue, until: 60, Self.peers(rates)).isEmpty)
    }

    /// Slow start may take 0.2 s and ten round trips.
    @Test(arguments: [(1.1, true), (1.3, false)])
    func judgesOnlyWarmSamples(age: Double, isSpared: Bool) {
        var rescue = Rescue()
        var connections = Self.peers([8e6, 8e6, 8e6])
        connections[3] = Rescue.Connection(rate: 64e3, age: age)
        let found = run(&rescue, until: 3, roundTrip: 0.1, connections)
        #expect(found.isEmpty == isSpared)
    }

    @Test func comparesOnlyWithinSource() {
        var rescue = Rescue()
        var connections = Self.peers([8e6, 8e6, 64e3, 64e3])
        for index in 2...3 { connections[index]?.source = 1 }
        #expect(run(&rescue, until: 10, connections).isEmpty)
    }

    /// A connection that is slow after each reopening is not reopened indefinitely.
    @Test func limitsReopeningsPerConnection() {
        var rescue = Rescue()
        let slow = Self.peers([8e6, 8e6, 64e3, 8e6])
        let found = run(&rescue, until: 60, slow)
        #expect(found.count == Rescue.most)
        let waits = zip(found, found.dropFirst()).map { $1.time - $0.time }
        #expect(zip(waits, waits.dropFirst()).allSatisfy { $0 < $1 })
        // After half a minute at normal speed, the connection may be reopened once more.
        #expect(run(&rescue, from: 60, until: 91, Self.peers([8e6, 8e6, 8e6, 8e6])).isEmpty)
        #expect(run(&rescue, from: 91, until: 120, slow).count == 1)
    }
}
