import Assembler
import Glibc
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests properties of every fetch, with many small ones in simulated time and random failures.
///
/// With `SEGGET_SIMULATION=all` in the environment there are many more.
@Suite struct FetchPropertyTests {
    private static let seeds: UInt64 = getenv("SEGGET_SIMULATION") != nil ? 20_000 : 150
    /// The seconds in which each fetch ends, in addition to the time for its bytes.
    ///
    /// Ten attempts without a byte, each limited by the stall timeout and followed by at most half
    /// a minute, take seven and a half minutes.
    private static let longest = 600.0

    /// Checks properties that hold for every fetch.
    ///
    /// Each byte has one writer. No request is outside the file, or for bytes that are already on
    /// disk. No more requests are active than allowed. The file is complete, or the outcome states
    /// why not. The fetch ends.
    @Test func rulesHoldInRandomStories() throws {
        var (complete, troubled) = (0, 0)
        for seed in 0..<Self.seeds {
            let story = RandomStory(seed: seed)
            var fetch = story.fetch()
            let ended = fetch.run(limit: Self.longest + Double(story.size) / story.leastRate)
            let log = fetch.log
            let outcome = String(describing: log.outcome)
            #expect(log.breaches == [], "seed \(seed)")
            #expect(ended != nil, "seed \(seed): no end, \(log.notices.suffix(3))")
            #expect(log.isComplete || !story.isSurvivable, "seed \(seed): \(outcome)")
            if case .cancelled? = log.outcome { Issue.record("seed \(seed): nobody cancelled it") }
            // All received bytes were written, requested a second time, or compared.
            let errands = log.hedgedWire + log.sampledWire
            #expect(log.wire == log.received + errands, "seed \(seed)")
            #expect(log.received <= story.size - story.intact, "seed \(seed)")
            let budget = Int64(Hedging.budget.part * Double(story.size))
            #expect(log.hedged <= max(budget, Hedging.budget.least), "seed \(seed)")
            #expect(fetch.world.requests.allSatisfy { $0 == nil }, "seed \(seed)")
            complete += log.isComplete ? 1 : 0
            troubled += log.retries + log.rescues + log.hedges > 0 ? 1 : 0
        }
        // The test requires that enough fetches fail, and enough succeed.
        #expect(complete >= Int(Self.seeds) / 2)
        #expect(troubled >= Int(Self.seeds) / 4)
    }
}
