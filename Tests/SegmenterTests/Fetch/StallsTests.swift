import Assembler
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests to which servers canaries are sent, and what their results mean.
@Suite struct StallsTests {
    private let stalled = StallDetector.Connection(quiet: 9)

    /// Two connections to two servers.
    private var slots: Slots {
        var slots = Slots(count: 2)
        slots[1] = Slot(source: 1)
        return slots
    }

    private func head(_ status: Int, retryAfter: Double? = nil) -> FetchMachine.Head {
        var reply = Reply(status: status)
        reply.retryAfter = retryAfter
        reply.fields = ["content-range": "bytes 0-0/9", "content-length": "1"]
        return FetchMachine.Head(
            reply: reply,
            check: ResponseCheck(
                asked: ByteRange(0, 1), identity: RemoteIdentity(size: 9), sentIfRange: false))
    }

    @Test func canariesAlternateBetweenServers() {
        var stalls = Stalls()
        let connections = [0: stalled, 1: stalled]
        var sent: [Stalls.Action] = []
        for time in 0..<3 {
            sent.append(stalls.step(connections, slots, received: 1, now: Double(time)))
            let news = stalls.ended(.declined, received: 1, longestWait: 60, now: Double(time))
            #expect(news?.replaces == false)
        }
        #expect(
            sent == [
                .sendCanary(source: 0, stalledFor: 9), .sendCanary(source: 1, stalledFor: nil),
                .sendCanary(source: 0, stalledFor: nil),
            ])
    }

    @Test func answeredCanaryReplacesStalled() {
        var stalls = Stalls()
        _ = stalls.step([0: stalled], slots, received: 1, now: 0)
        stalls.judge(head(206))
        let news = stalls.ended(.declined, received: 1, longestWait: 60, now: 1)
        #expect(news == .init(source: 0, due: nil, replaces: true))
    }

    @Test func refusedCanaryRespectsRetryAfter() {
        var stalls = Stalls()
        _ = stalls.step([0: stalled], slots, received: 1, now: 0)
        stalls.judge(head(503, retryAfter: 100))
        let news = stalls.ended(.declined, received: 1, longestWait: 60, now: 1)
        #expect(news == .init(source: 0, due: 61, replaces: false))
    }

    @Test func needlessCanaryIsDropped() {
        var stalls = Stalls()
        var dropped = [stalls.dropCanary()]
        _ = stalls.step([0: stalled], slots, received: 1, now: 0)
        let step = stalls.step([0: stalled], slots, received: 2, now: 1)
        #expect(step == .dropCanary)
        dropped.append(stalls.dropCanary())
        #expect(dropped == [false, true])
        let news = stalls.ended(.declined, received: 2, longestWait: 60, now: 1)
        #expect(news == nil)
    }
}
