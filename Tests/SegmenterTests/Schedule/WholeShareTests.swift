import Assembler
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests the shares of a file whose link expires.
@Suite struct WholeShareTests {
    /// All bytes are assigned at once in equal parts, each of which is one request.
    @Test(arguments: [1, 2, 3, 7, 16])
    func assignsWholeFileInEqualParts(connections: Int) {
        let size: Int64 = 1 << 40
        var scheduler = SegmentScheduler(size: size)
        for index in 0..<connections {
            scheduler.measured(index, rate: 1e6, now: 0)
            let work = scheduler.assign(
                index, connections: 64, now: 0, maySteal: false, sharers: connections - index)
            #expect(work != nil)
            #expect(scheduler.ask(index, isWhole: true) == work?.range)
        }
        #expect(scheduler.unassigned.ranges.isEmpty)
        let lengths = scheduler.segments.values.map(\.rest.count)
        #expect((lengths.max() ?? 0) - (lengths.min() ?? 0) < Int64(connections))
        #expect(scheduler.assign(99, connections: 64, now: 0, maySteal: false) == nil)
    }

    @Test func returnedRangeIsAssignedAgain() {
        var scheduler = SegmentScheduler(size: 1000)
        let isAdopted = scheduler.adopt(ByteRange(0, 1000), by: 0)
        #expect(isAdopted)
        #expect(scheduler.ask(0, most: 400) == ByteRange(0, 400))
        scheduler.advance(0, to: 400)
        scheduler.takeBack(ByteRange(0, 400))
        scheduler.release(0)
        #expect(scheduler.unassigned.ranges == [ByteRange(0, 1000)])
        #expect(scheduler.done.count == 0)
    }
}
