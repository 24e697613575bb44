import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests which segments are requested a second time, and when.
struct HedgingTests {
    private static func connection(
        rest: Int64 = 100_000, rate: Double? = 1e6, quiet: Double = 0, isAnswered: Bool = true,
        longestTimeToFirstByte: Double? = 0.01
    ) -> Hedging.Connection {
        Hedging.Connection(
            rest: rest, rate: rate, quiet: quiet, isAnswered: isAnswered,
            longestTimeToFirstByte: longestTimeToFirstByte)
    }

    @Test(
        arguments: [
            // Receives bytes, and will finish soon.
            (connection(), 0.0, false),
            // Stalled for longer than a second request would take, which depends on the round trip.
            (connection(quiet: 0.3), 0.0, true), (connection(quiet: 0.3), 0.1, false),
            (connection(quiet: 0.5), 0.1, true),
            // Slow: one second remains.
            (connection(rate: 1e5), 0.0, true), (connection(rate: 3e5), 0.0, false),
            (connection(rate: nil), 0.0, false),
            // No response yet, for far longer than ever before.
            (connection(quiet: 5, isAnswered: false, longestTimeToFirstByte: nil), 0.0, false),
            (connection(quiet: 5, isAnswered: false, longestTimeToFirstByte: 4), 0.0, false),
            (connection(quiet: 5, isAnswered: false, longestTimeToFirstByte: 1), 0.0, true),
            // Longer than the memory for a second body.
            (connection(rest: 2 << 20, quiet: 5), 0.0, false),
        ] as [(Hedging.Connection, Double, Bool)])
    func choosesLateConnections(
        connection: Hedging.Connection, roundTrip: Double, isChosen: Bool
    ) {
        var hedging = Hedging(size: 1 << 30)
        let chosen = hedging.choose([7: connection], free: 1, roundTrip: roundTrip)
        #expect(chosen == (isChosen ? [7] : []))
    }

    @Test func choosesLatestUpToFreeSlots() {
        var hedging = Hedging(size: 1 << 30)
        let late = [
            1: Self.connection(quiet: 0.5), 2: Self.connection(quiet: 2),
            3: Self.connection(quiet: 1),
        ]
        #expect(hedging.choose(late, free: 2, roundTrip: 0) == [2, 3])
        #expect(hedging.choose(late, free: 0, roundTrip: 0) == [])
    }

    /// The budget is never exceeded.
    @Test func staysWithinBudget() {
        forEachSeed(200) { seed, random in
            let size = Int64.random(in: 1...1 << 32, using: &random)
            var hedging = Hedging(size: size)
            var asked: Int64 = 0
            for _ in 0..<50 {
                let late = Self.connection(
                    rest: Int64.random(in: 1...2 << 20, using: &random), quiet: 1)
                if !hedging.choose([0: late], free: 1, roundTrip: 0).isEmpty { asked += late.rest }
            }
            #expect(asked <= max(size / 200, 1 << 20), "seed \(seed)")
            #expect(asked > 0, "seed \(seed)")
        }
    }

    @Test func choosesNothingAfterGivingUp() {
        var hedging = Hedging(size: 1 << 30)
        hedging.giveUp()
        #expect(hedging.choose([1: Self.connection(quiet: 9)], free: 1, roundTrip: 0) == [])
    }
}
