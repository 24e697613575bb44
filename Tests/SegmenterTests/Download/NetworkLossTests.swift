import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct NetworkLossTests {
    /// Begins and ends a wait for the network after a number of received bytes.
    private static func wait(
        _ loss: inout NetworkLoss, received: Int64, isNeeded: Bool, at time: Double = 100
    ) {
        let now = NetworkWait.Moment(boot: time, monotonic: time)
        let wait = loss.begin(now, date: 1_700_000_000, after: nil, received: received)
        loss.end(wait, isNeeded: isNeeded)
    }

    /// Waits that the first canary ends, without received bytes between them, show a problem of the
    /// server.
    @Test func countsNeedlessWaits() {
        var loss = NetworkLoss()
        #expect(loss.needless(at: 0) == 0)
        for count in 1...5 {
            Self.wait(&loss, received: 7, isNeeded: false)
            #expect(loss.needless(at: 7) == count)
        }
        #expect(loss.needless(at: 8) == 0)
        Self.wait(&loss, received: 8, isNeeded: false)
        #expect(loss.needless(at: 8) == 1)
        Self.wait(&loss, received: 8, isNeeded: true)
        #expect(loss.needless(at: 8) == 0)
    }

    /// The time of the loss is that of the last received byte, and does not change until another
    /// byte arrives.
    @Test func lossStartsAtLastReceivedByte() {
        var loss = NetworkLoss()
        _ = loss.begin(
            .init(boot: 100, monotonic: 90), date: 1_000_000, after: .stalled(for: .seconds(15)),
            received: 5)
        #expect(loss.since == (date: 999_985, boot: 85))
        loss.end(NetworkWait(.init(boot: 110, monotonic: 100)), isNeeded: true)
        _ = loss.begin(.init(boot: 120, monotonic: 110), date: 1_000_020, after: nil, received: 5)
        #expect(loss.since == (date: 999_985, boot: 85))
        _ = loss.begin(.init(boot: 130, monotonic: 120), date: 1_000_030, after: nil, received: 6)
        #expect(loss.since == (date: 1_000_030, boot: 130))
    }
}
