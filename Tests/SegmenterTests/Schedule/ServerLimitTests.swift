import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct ServerLimitTests {
    private typealias Load = ServerLimit.Load
    private static let busy = TransferFailure.status(503)

    /// Returns a limit that was learned at `time`: `limit` requests were served when others were
    /// refused.
    private static func learned(_ limit: Int, at time: Double = 0) -> ServerLimit {
        var serverLimit = ServerLimit()
        for _ in 0..<ServerLimit.doubt {
            _ = serverLimit.refused(
                beside: Load(served: limit), asked: time - 0.1, isFirst: true, failure: busy,
                now: time)
        }
        return serverLimit
    }

    @Test func hasNoLimitBeforeRefusal() {
        var serverLimit = ServerLimit()
        serverLimit.asked(beside: Load(served: 60, asking: 3), now: 1)
        serverLimit.served(Load(served: 64), asked: 1, now: 2)
        serverLimit.watch(Load(served: 64), now: 3)
        #expect(serverLimit.allows(beside: Load(served: 63), now: 4))
        #expect(serverLimit.limit == nil)
        #expect(serverLimit.takeNews(now: 100) == nil)
    }

    @Test func refusalWithoutServedRequestsIsFailure() {
        var serverLimit = Self.learned(2)
        for load in [Load(), Load(waiting: 7), Load(asking: 3)] {
            let verdict = serverLimit.refused(
                beside: load, asked: 1, isFirst: false, failure: Self.busy, now: 2)
            #expect(verdict == .failure)
        }
        #expect(serverLimit.limit == 2)
    }

    /// Some of the requests that were sent at the same time may still be served.
    @Test func firstRefusalBesideUnansweredIsRetried() {
        var serverLimit = ServerLimit()
        let verdict = serverLimit.refused(
            beside: Load(asking: 1), asked: 1, isFirst: true, failure: Self.busy, now: 2)
        #expect(verdict == .again)
    }

    @Test func limitIsLearnedFromThirdRefusal() {
        var serverLimit = ServerLimit()
        let verdicts = (1...3).map { served in
            serverLimit.refused(
                beside: Load(served: served), asked: 0, isFirst: true, failure: Self.busy, now: 1)
        }
        #expect(verdicts == [.again, .again, .rest])
        #expect(serverLimit.limit == 3)
        #expect(serverLimit.allows(beside: Load(served: 2), now: 2))
        #expect(serverLimit.allows(beside: Load(served: 1, asking: 1), now: 2))
        #expect(!serverLimit.allows(beside: Load(served: 3), now: 2))
        #expect(!serverLimit.allows(beside: Load(served: 2, asking: 1), now: 2))
    }

    /// Occasional failures do not show a limit.
    @Test func moreServedRequestsClearSuspicion() {
        var serverLimit = ServerLimit()
        for round in 0..<50 {
            let now = Double(round)
            for _ in 0..<2 {
                let verdict = serverLimit.refused(
                    beside: Load(served: 6), asked: now, isFirst: true, failure: Self.busy,
                    now: now)
                #expect(verdict == .again)
            }
            serverLimit.served(Load(served: 7), asked: now + 0.2, now: now + 0.5)
        }
        #expect(serverLimit.limit == nil)
    }

    /// Responses that were in flight when the limit was learned belong to it.
    @Test func countsResponsesInFlight() {
        var serverLimit = Self.learned(1, at: 1)
        serverLimit.served(Load(served: 2), asked: 0.5, now: 1.1)
        serverLimit.served(Load(served: 3), asked: 0.5, now: 1.2)
        #expect(serverLimit.limit == 3)
        #expect(serverLimit.takeNews(now: 1.5) == nil)
        #expect(serverLimit.takeNews(now: 2.3) == .init(limit: 3, cause: Self.busy))
        #expect(serverLimit.takeNews(now: 9) == nil)
    }

    /// If nothing is active, the delays of failed requests apply.
    @Test func waitingRequestKeepsItsPlace() {
        let serverLimit = Self.learned(1)
        #expect(!serverLimit.allows(beside: Load(waiting: 1), now: 1000))
        #expect(serverLimit.allows(beside: Load(), now: 1))
        #expect(!serverLimit.allows(beside: Load(asking: 1), now: 1000))
    }

    @Test func limitIsTestedLessAndLessOften() {
        var serverLimit = Self.learned(2)
        let full = Load(served: 2)
        var tries: [Double] = []
        for step in 1...72_000 {
            let now = Double(step) / 10
            guard serverLimit.allows(beside: full, now: now) else { continue }
            serverLimit.asked(beside: full, now: now)
            #expect(!serverLimit.allows(beside: full, now: now + 0.1), "one at a time")
            let verdict = serverLimit.refused(
                beside: full, asked: now, isFirst: true, failure: Self.busy, now: now + 0.05)
            #expect(verdict == .rest)
            tries.append(now)
        }
        for start in tries {
            #expect(tries.count { (start..<start + 60).contains($0) } <= 3)
        }
        #expect((30...50).contains(tries.count), "\(tries)")
        #expect((tries.first ?? 0) <= 6)
    }

    @Test func respectsRetryAfter() {
        var serverLimit = Self.learned(2)
        let full = Load(served: 2)
        _ = serverLimit.refused(
            beside: full, asked: 6, isFirst: true, retryAfter: 900, failure: Self.busy, now: 7)
        #expect(!serverLimit.allows(beside: full, now: 906))
        #expect(serverLimit.allows(beside: full, now: 908))
        #expect(serverLimit.allows(beside: Load(served: 1), now: 8), "below the limit")
    }

    /// A response that is served only for a moment had been finished before.
    @Test func lastingResponseRaisesLimit() {
        var serverLimit = Self.learned(2)
        serverLimit.asked(beside: Load(served: 2), now: 10)
        serverLimit.served(Load(served: 3), asked: 10, now: 10.1)
        serverLimit.watch(Load(served: 3), now: 10.9)
        #expect(serverLimit.limit == 2)
        #expect(
            serverLimit.allows(beside: Load(served: 2), now: 10.9),
            "one request above the limit remains")
        #expect(
            !serverLimit.allows(beside: Load(served: 3), now: 10.9), "no further request is allowed"
        )
        serverLimit.watch(Load(served: 3), now: 11.2)
        #expect(serverLimit.limit == 3)
        #expect(
            serverLimit.allows(beside: Load(served: 3), now: 11.2),
            "the next number is tried immediately")
    }

    /// A request is refused after another one was served, so the higher number did not last.
    @Test func shortResponseDoesNotRaiseLimit() {
        var serverLimit = Self.learned(2)
        serverLimit.asked(beside: Load(served: 2), now: 10)
        serverLimit.served(Load(served: 3), asked: 10, now: 10.1)
        let verdict = serverLimit.refused(
            beside: Load(served: 2), asked: 10.3, isFirst: true, failure: Self.busy, now: 10.4)
        #expect(verdict == .rest)
        serverLimit.watch(Load(served: 3), now: 11.2)
        #expect(serverLimit.limit == 2)
        #expect(!serverLimit.allows(beside: Load(served: 2), now: 12))
    }

    @Test func reportsRiseWithoutCause() {
        var serverLimit = Self.learned(2)
        #expect(serverLimit.takeNews(now: 2)?.cause == Self.busy)
        serverLimit.served(Load(served: 3), asked: 9.9, now: 10)
        serverLimit.watch(Load(served: 3), now: 11)
        #expect(serverLimit.takeNews(now: 12) == .init(limit: 3, cause: nil))
    }

    @Test func decreasesAfterTwoRefusalsBelowLimit() {
        var serverLimit = Self.learned(5)
        let verdicts = (1...2).map { _ in
            serverLimit.refused(
                beside: Load(served: 3), asked: 20, isFirst: true, failure: Self.busy, now: 21)
        }
        #expect(verdicts == [.again, .rest])
        #expect(serverLimit.limit == 3)
    }

    @Test func limitIsAtLeastOne() {
        forEachSeed(200) { seed, random in
            var serverLimit = ServerLimit()
            var now = 0.0
            for _ in 0..<400 {
                now += Double.random(in: 0...3, using: &random)
                let load = Load(
                    served: .random(in: 0...8, using: &random),
                    asking: .random(in: 0...3, using: &random),
                    waiting: .random(in: 0...3, using: &random))
                let asked = now - Double.random(in: 0...5, using: &random)
                switch Int.random(in: 0...3, using: &random) {
                case 0:
                    _ = serverLimit.refused(
                        beside: load, asked: asked, isFirst: .random(using: &random),
                        failure: Self.busy, now: now)
                case 1: serverLimit.asked(beside: load, now: now)
                case 2 where load.served > 0: serverLimit.served(load, asked: asked, now: now)
                default: serverLimit.watch(load, now: now)
                }
                #expect(serverLimit.limit ?? 1 >= 1, "seed \(seed)")
                #expect(serverLimit.allows(beside: Load(), now: now), "seed \(seed)")
            }
        }
    }

    @Test(
        arguments: [
            (.status(429), true, true), (.status(503), true, true), (.status(403), true, true),
            (.status(500), true, false), (.status(404), true, false),
            (.network(code: 7, message: ""), false, true),
            (.network(code: 52, message: ""), false, true),
            (.network(code: 56, message: ""), false, true),
            (.network(code: 56, message: ""), true, false),
            (.network(code: 35, message: ""), false, true),
            (.network(code: 6, message: ""), false, false),
            (.stalled(for: .seconds(1)), false, true), (.stalled(for: .seconds(1)), true, false),
            (.truncated(missing: 1), true, false), (.breach(.bodyTooLong), true, false),
        ] as [(TransferFailure, Bool, Bool)])
    func recognizesRefusals(failure: TransferFailure, hadReply: Bool, expected: Bool) {
        #expect(failure.mayTurnAway(hadReply: hadReply) == expected)
    }
}
