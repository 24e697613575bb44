import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct LinkRefreshTests {
    @Test func refreshesOnceAMinute() {
        var refresh = LinkRefresh()
        #expect(refresh.step(refused: "a", received: 0, now: 5) == .ask(after: 0))
        refresh.ask(now: 5, counts: true)
        #expect(refresh.step(refused: "b", received: 9, now: 15) == .ask(after: 50))
        #expect(refresh.step(refused: "b", received: 9, now: 65) == .ask(after: 0))
        #expect(refresh.step(refused: "b", received: 9, now: 1000) == .ask(after: 0))
    }

    /// Links without a received byte end the refreshing; one byte resets the count.
    @Test func givesUpAfterLinksWithoutBytes() {
        var refresh = LinkRefresh()
        for round in 0..<LinkRefresh.most {
            #expect(
                refresh.step(refused: "a", received: 7, now: Double(round) * 100) == .ask(after: 0))
            refresh.ask(now: Double(round) * 100, counts: true)
        }
        #expect(refresh.step(refused: "a", received: 7, now: 1000) == .giveUp(.inVain(3)))
        #expect(refresh.step(refused: "a", received: 8, now: 1000) == .ask(after: 0))
    }

    /// Links are not counted if the caller gives up on its own.
    @Test func uncountedRefreshesHaveNoLimit() {
        var refresh = LinkRefresh()
        for round in 0..<9 {
            #expect(
                refresh.step(refused: "a", received: nil, now: Double(round) * 100)
                    == .ask(after: 0))
            refresh.ask(now: Double(round) * 100, counts: false)
        }
        #expect(refresh.step(refused: "a", received: 0, now: 1000) == .ask(after: 0))
    }

    /// After a query without a link, the next one is sent a minute later; the download does not
    /// wait for it.
    @Test func failedRefreshIsRepeatedAfterAMinute() {
        var refresh = LinkRefresh()
        refresh.ask(now: 10, counts: true)
        refresh.fail()
        #expect(refresh.step(refused: "a", received: 0, now: 20) == .giveUp(nil))
        #expect(refresh.step(refused: "a", received: 0, now: 70) == .ask(after: 0))
        refresh.ask(now: 70, counts: true)
        #expect(refresh.step(refused: "a", received: 0, now: 80) == .ask(after: 50))
    }

    /// A kept link is used first, unless it is the refused one.
    @Test(arguments: ["b", "c"])
    func keptLinkIsUsedUnlessRefused(kept: String) {
        var refresh = LinkRefresh()
        refresh.ask(now: 10, counts: false)
        refresh.keep(kept)
        let step = refresh.step(refused: "b", received: 0, now: 20)
        #expect(step == (kept == "b" ? .ask(after: 50) : .use("c")))
        #expect(refresh.step(refused: "b", received: 0, now: 20) == .ask(after: 50))
    }
}
