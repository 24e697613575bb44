import Assembler
import Testing

@testable import Segmenter

/// A connection owns more than it asks for.
@Suite struct OwnershipTests {
    /// What is taken was not requested yet, where there is about enough of that.
    @Test func leavesRequestsAlone() {
        let size: Int64 = 64 << 20
        var scheduler = SegmentScheduler(size: size)
        #expect(scheduler.assign(0, connections: 1, now: 0)?.range == ByteRange(0, size / 2))
        #expect(scheduler.adopt(ByteRange(size / 2, size), by: 2) == true)
        scheduler.measured(0, rate: 4e6, now: 0)
        scheduler.measured(1, rate: 4e6, now: 0)
        scheduler.measured(2, rate: 400e6, now: 0)
        #expect(scheduler.ask(0) == ByteRange(0, 8_000_000))
        guard case .stolen(let range, 0)? = scheduler.assign(1, connections: 3, now: 0) else {
            Issue.record("nothing is taken")
            return
        }
        #expect(range.start >= 8_000_000)
        #expect(scheduler.segments[0]?.asked == 8_000_000)
    }

    /// One window follows the other to the end, and all is asked for once.
    @Test func asksForOneWindowAfterTheOther() {
        let size: Int64 = 50_000_000
        var scheduler = SegmentScheduler(size: size)
        #expect(scheduler.adopt(ByteRange(0, size), by: 0) == true)
        scheduler.measured(0, rate: 1e6, now: 0)
        scheduler.roundTrip = 0.05
        var asked: [ByteRange] = []
        while let next = scheduler.ask(0) {
            asked.append(next)
            scheduler.advance(0, to: next.end)
        }
        // A hundred round trips each, and no crumb in the end.
        #expect(asked.count == 10)
        #expect(asked.dropLast().allSatisfy { $0.count == 5_000_000 })
        #expect(asked.reduce(0) { $0 + $1.count } == size)
        #expect(scheduler.isComplete)
    }

    /// The position counts that is asked for, not that of the last tick.
    @Test func asksHowFarTheOtherIs() {
        var scheduler = SegmentScheduler(size: 10_000_000)
        #expect(scheduler.adopt(ByteRange(0, 10_000_000), by: 0) == true)
        scheduler.measured(0, rate: 1e6, now: 0)
        scheduler.asOf = 8
        let stolen = scheduler.assign(1, connections: 2, now: 8) { _ in 8_000_000 }
        #expect(stolen == .stolen(ByteRange(9_000_000, 10_000_000), from: 0))
        #expect(scheduler.done.count == 8_000_000)
    }

    /// A new connection is slow at first, and takes nothing that it would not bring sooner.
    @Test(arguments: [true, false])
    func mindsSlowStart(isMade: Bool) {
        var scheduler = SegmentScheduler(size: 10_000_000)
        scheduler.roundTrip = 0.1
        #expect(scheduler.adopt(ByteRange(0, 10_000_000), by: 0) == true)
        scheduler.measured(0, rate: 10e6, now: 0)
        let stolen = scheduler.assign(1, connections: 2, isMade: isMade, now: 0)
        #expect((stolen != nil) == isMade)
    }
}
