import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct RateFloorTests {
    /// Runs of seconds at a speed, with ten samples a second, against a floor of 1000 for 30 s.
    ///
    /// The verdicts are `c` (change connections) and `g` (give up), each with its second.
    @Test(
        arguments: [
            ([(100, 1000)], []), ([(100, 5000)], []), ([(29, 0)], []), ([(31, 0)], ["c30"]),
            ([(61, 0)], ["c30", "g60"]), ([(70, 999)], ["c30", "g60"]),
            // A fast start does not count later.
            ([(100, 1_000_000), (31, 10)], ["c130"]),
            // Short gaps do not count if the mean is high enough.
            ([(20, 0), (1, 40_000), (20, 0), (1, 40_000), (20, 0)], []),
            // The change helped; a later fall counts as a new one.
            ([(30, 0), (40, 2000), (31, 0)], ["c30", "c100"]),
            // The change helped only briefly.
            ([(30, 0), (10, 2000), (31, 0)], ["c30", "g70"]),
        ] as [([(Int, Int64)], [String])])
    func judgesRateOverPeriods(runs: [(Int, Int64)], verdicts: [String]) {
        var floor = RateFloor(rate: 1000, period: 30)
        var found: [String] = []
        var ticks = 0
        for (seconds, rate) in runs {
            for _ in 0..<seconds * 10 {
                ticks += 1
                let second = Int((Double(ticks) / 10).rounded())
                switch floor.note(bytes: rate / 10, seconds: 0.1) {
                case .goOn: break
                case .changeConnections: found.append("c\(second)")
                case .giveUp(let measured):
                    found.append("g\(second)")
                    #expect(measured < 1000)
                }
            }
        }
        #expect(found == verdicts)
    }

    @Test func zeroSecondsChangeNothing() {
        var floor = RateFloor(rate: 1000, period: 1)
        for _ in 0..<100 { #expect(floor.note(bytes: 0, seconds: 0) == .goOn) }
        #expect(floor.note(bytes: 0, seconds: 0.9) == .goOn)
        #expect(floor.note(bytes: 0, seconds: 0.2) == .changeConnections)
        #expect(floor.note(bytes: 11, seconds: 1.1) == .giveUp(bytesPerSecond: 10))
    }
}
