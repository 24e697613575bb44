import Testing

@testable import Segmenter

@Suite struct NetworkLossTests {
    /// A wait after so many bytes, as it is over.
    private static func wait(
        _ loss: inout NetworkLoss, received: Int64, isNeeded: Bool, at time: Double = 100
    ) {
        let now = NetworkWait.Moment(boot: time, monotonic: time)
        let wait = loss.begin(now, date: 1_700_000_000, after: nil, received: received)
        loss.end(wait, isNeeded: isNeeded)
    }

    /// What the first canary ends, with nothing between, is the server's doing.
    @Test func needlessWaitsAreCounted() {
        var loss = NetworkLoss(isWaitedFor: true)
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

    /// The time of the loss counts from when nothing came any more, and stays as long as nothing comes.
    @Test func sinceWhen() {
        var loss = NetworkLoss(isWaitedFor: true)
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
