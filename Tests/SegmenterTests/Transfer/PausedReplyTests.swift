import Assembler
import Testing

@testable import Segmenter

/// Who owns a body that waits on the wire.
@Suite struct PausedReplyTests {
    private let dropped = Monitor<[Int]>([])

    private func owner(of transfer: Int) -> PausedReply {
        PausedReply(transfer) { [dropped] transfer in dropped.withLock { $0.append(transfer) } }
    }

    @Test func anOwnerThatEndsDropsTheTransferOnce() {
        var owner: PausedReply? = owner(of: 7)
        var other = owner
        owner = nil
        #expect(dropped.withLock { $0 }.isEmpty, "somebody still holds it")
        _ = other
        other = nil
        #expect(dropped.withLock { $0 } == [7])
    }

    @Test func whatWasTakenIsNotDropped() {
        var owner: PausedReply? = owner(of: 7)
        #expect(owner?.take() == 7)
        #expect(owner?.take() == nil, "only one may have it")
        owner = nil
        #expect(dropped.withLock { $0 }.isEmpty)
    }

    @Test func whatWasHandedOnIsTheOtherOwners() {
        let first = owner(of: 7)
        var second = first.handOn()
        #expect(first.take() == nil)
        #expect(first.handOn() == nil)
        #expect(second != nil)
        second = nil
        #expect(dropped.withLock { $0 } == [7])
    }
}
