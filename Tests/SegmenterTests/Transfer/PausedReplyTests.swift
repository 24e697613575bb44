import Assembler
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests which object owns a transfer that is paused before its body.
@Suite struct PausedReplyTests {
    private let dropped = Monitor<[Int]>([])

    private func owner(of transfer: Int) -> PausedReply {
        PausedReply(transfer) { [dropped] transfer in dropped.withLock { $0.append(transfer) } }
    }

    @Test func releasingLastOwnerDropsTransferOnce() {
        var owner: PausedReply? = owner(of: 7)
        var other = owner
        owner = nil
        #expect(dropped.withLock { $0 }.isEmpty, "another reference exists")
        _ = other
        other = nil
        #expect(dropped.withLock { $0 } == [7])
    }

    @Test func takenTransferIsNotDropped() {
        var owner: PausedReply? = owner(of: 7)
        #expect(owner?.take() == 7)
        #expect(owner?.take() == nil, "it was taken before")
        owner = nil
        #expect(dropped.withLock { $0 }.isEmpty)
    }

    @Test func handingOnMovesOwnership() {
        let first = owner(of: 7)
        var second = first.handOn()
        #expect(first.take() == nil)
        #expect(first.handOn() == nil)
        #expect(second != nil)
        second = nil
        #expect(dropped.withLock { $0 } == [7])
    }
}
