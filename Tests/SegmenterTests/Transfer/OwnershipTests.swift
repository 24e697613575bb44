import Assembler
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests segments of which only a part has been requested.
@Suite struct OwnershipTests {
    /// The stolen range has not been requested yet, if enough of such bytes exist.
    @Test func stealsOnlyUnrequestedBytes() {
        let size: Int64 = 64 << 20
        var scheduler = SegmentScheduler(size: size)
        #expect(scheduler.assign(0, connections: 1, now: 0)?.range == ByteRange(0, size / 2))
        #expect(scheduler.adopt(ByteRange(size / 2, size), by: 2) == true)
        scheduler.measured(0, rate: 4e6, now: 0)
        scheduler.measured(1, rate: 4e6, now: 0)
        scheduler.measured(2, rate: 400e6, now: 0)
        #expect(scheduler.ask(0) == ByteRange(0, 8_000_000))
        guard case .stolen(let range, 0)? = scheduler.assign(1, connections: 3, now: 0) else {
            Issue.record("nothing is stolen")
            return
        }
        #expect(range.start >= 8_000_000)
        #expect(scheduler.segments[0]?.asked == 8_000_000)
    }

    /// The windows follow each other up to the end, and each byte is requested once.
    @Test func requestsSuccessiveWindows() {
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
        // Each lasts a hundred round trips, and no small rest remains.
        #expect(asked.count == 10)
        #expect(asked.dropLast().allSatisfy { $0.count == 5_000_000 })
        #expect(asked.reduce(0) { $0 + $1.count } == size)
        #expect(scheduler.isComplete)
    }

    /// The other connection's current position counts, not that of the last tick.
    @Test func stealsByCurrentPosition() {
        var scheduler = SegmentScheduler(size: 10_000_000)
        #expect(scheduler.adopt(ByteRange(0, 10_000_000), by: 0) == true)
        scheduler.measured(0, rate: 1e6, now: 0)
        scheduler.asOf = 8
        let stolen = scheduler.assign(1, connections: 2, now: 8) { _ in 8_000_000 }
        #expect(stolen == .stolen(ByteRange(9_000_000, 10_000_000), from: 0))
        #expect(scheduler.done.count == 8_000_000)
    }

    /// A new connection is slow at first.
    ///
    /// It steals only bytes that it would receive sooner.
    @Test(arguments: [true, false])
    func unconnectedConnectionStealsNothing(isMade: Bool) {
        var scheduler = SegmentScheduler(size: 10_000_000)
        scheduler.roundTrip = 0.1
        #expect(scheduler.adopt(ByteRange(0, 10_000_000), by: 0) == true)
        scheduler.measured(0, rate: 10e6, now: 0)
        let stolen = scheduler.assign(1, connections: 2, isMade: isMade, now: 0)
        #expect((stolen != nil) == isMade)
    }
}
