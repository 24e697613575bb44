import Glibc
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Compares the governor's number of connections with the best one in simulated networks.
///
/// The default is a sample against a few numbers. With `SEGGET_SIMULATION=all` in the environment
/// there are more cases, against each number from 1 to 64.
@Suite struct GovernorSimulationTests {
    private static let isFull = getenv("SEGGET_SIMULATION") != nil
    private static let seeds: UInt64 = isFull ? 80 : 6
    private static let numbers = isFull ? Array(1...GovernedCase.most) : [1, 4, 16, 32, 64]
    /// The seconds for finding the number: steps from a distant first number, and ticks, take time.
    private static let search = 0.6

    @Test(arguments: GovernedCase.Kind.allCases)
    func timeIsNearBestFixedNumber(kind: GovernedCase.Kind) throws {
        var ratios: [Double] = []
        for seed in 0..<Self.seeds {
            let trial = GovernedCase(kind, seed: seed)
            let best = Self.numbers.reversed().reduce(3600) { best, number in
                min(best, trial.seconds(connections: number, limit: best) ?? best)
            }
            let ended = trial.governed(limit: 3 * best)
            let seconds = try #require(ended, "seed \(seed): no end")
            let allowed = (kind == .changing ? 1.15 : 1.1) * best + Self.search
            #expect(seconds <= allowed, "\(kind), seed \(seed): \(seconds) of \(best) s")
            ratios.append(seconds / best)
        }
        let median = ratios.sorted()[ratios.count / 2]
        print("\(kind): median \(median), at most \(ratios.max() ?? 0) of the best number")
        #expect(median <= 1.03)
    }
}
