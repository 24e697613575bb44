import Assembler
import Glibc
import Testing

@testable import Segmenter

/// What holds for every fetch, whatever goes wrong: many small ones in simulated time, with troubles that a
/// seed chooses.
///
/// With `SEGGET_SIMULATION=all` in the environment many more.
@Suite struct FetchPropertyTests {
    private static let seeds: UInt64 = getenv("SEGGET_SIMULATION") != nil ? 20_000 : 150
    /// Seconds in which any of them ends, beside the time that bytes take: ten attempts that bring nothing,
    /// each bounded by the stall timeout and followed by half a minute at most, are seven and a half
    /// minutes.
    private static let longest = 600.0

    /// Each byte has one writer; nothing is asked for outside the file, or that is there; no more is under
    /// way than may be; the file is complete, or the outcome says why not; it ends.
    @Test func holdsWhateverGoesWrong() throws {
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
            // What came is what was written, was asked for a second time, or was compared.
            let errands = log.hedgedWire + log.sampledWire
            #expect(log.wire == log.received + errands, "seed \(seed)")
            #expect(log.received <= story.size - story.intact, "seed \(seed)")
            let budget = Int64(Hedging.budget.part * Double(story.size))
            #expect(log.hedged <= max(budget, Hedging.budget.least), "seed \(seed)")
            #expect(fetch.world.requests.allSatisfy { $0 == nil }, "seed \(seed)")
            complete += log.isComplete ? 1 : 0
            troubled += log.retries + log.rescues + log.hedges > 0 ? 1 : 0
        }
        // It is no proof where nothing goes wrong, nor where nothing goes well.
        #expect(complete >= Int(Self.seeds) / 2)
        #expect(troubled >= Int(Self.seeds) / 4)
    }
}
