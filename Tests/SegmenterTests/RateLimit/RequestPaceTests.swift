import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct RequestPaceTests {
    /// Returns the delay after a response at the time 100, at 1,700,000,000 s since 1970.
    private func delay(_ fields: [String: String], status: Int = 200) -> Double {
        var pace = RequestPace()
        pace.asked(now: 100)
        let reply = Reply(status: status, fields: fields)
        pace.stated(
            StatedQuota.all(in: reply, date: 1_700_000_000), isServed: !isOverload(status),
            unanswered: 0, now: 100)
        return pace.delay(now: 100)
    }

    /// The fields of a response, and the seconds until the next request.
    @Test(
        arguments: [
            // Much remains, or nothing is stated.
            ([:], 0),
            (["ratelimit": #""default";r=50;t=30"#], 0),
            (["ratelimit": #""a";r=25;t=30"#, "ratelimit-policy": #""a";q=100;w=60"#], 0),
            // Little remains: the rest of the window is divided by the requests that remain.
            (["ratelimit": #""a";r=9;t=29"#, "ratelimit-policy": #""a";q=100;w=60"#], 3),
            (["ratelimit": #"a;r=9;t=29"#, "ratelimit-policy": #"a;q=100;w=60"#], 3),
            (["ratelimit": "limit=100, remaining=9, reset=29"], 3),
            (["ratelimit": "limit=100, remaining=9, reset=29", "ratelimit-policy": "100;w=60"], 3),
            (
                [
                    "ratelimit-limit": "100, 100;w=60", "ratelimit-remaining": "9",
                    "ratelimit-reset": "29",
                ], 3
            ),
            (
                [
                    "x-ratelimit-limit": "100", "x-ratelimit-remaining": "9",
                    "x-ratelimit-reset": "29",
                ], 3
            ),
            // A large reset is a time.
            (
                [
                    "x-ratelimit-limit": "100", "x-ratelimit-remaining": "9",
                    "x-ratelimit-reset": "1700000029",
                ], 3
            ),
            // Nothing remains.
            (["ratelimit": #""api";r=0;t=55"#], 56),
            (["ratelimit": #""api";r=0"#, "ratelimit-policy": #""api";q=5;w=20"#], 21),
            (["ratelimit": #""api";r=0;t=1"#, "ratelimit-policy": #""api";q=5;w=1"#], 1.1),
            (["ratelimit-remaining": "0", "ratelimit-reset": "10"], 11),
            (["x-ratelimit-remaining": "0", "x-ratelimit-reset": "1699999999"], 0.1),
            // The strictest of several.
            (
                [
                    "ratelimit": #""second";r=8;t=1, "day";r=0;t=90"#,
                    "ratelimit-policy": #""second";q=10;w=1, "day";q=1000;w=100"#,
                ], 91
            ),
            // The policy of the Hub is not a structured field, so the number in it is ignored.
            (
                [
                    "ratelimit": #""resolvers";r=0;t=55"#,
                    "ratelimit-policy": #""fixed window";"resolvers";q=3000;w=300"#,
                ], 56
            ),
            // Malformed and contradictory fields are ignored.
            (["ratelimit": "9"], 0), (["ratelimit": #""a";r=-1;t=9"#], 0),
            (["ratelimit": #""a";r=x;t=9"#], 0), (["ratelimit": #""a";r=0"#], 0),
            (["ratelimit": #""a";r=0;t="#], 0), (["ratelimit": "limit=1, reset=9"], 0),
            (["ratelimit": "remaining=0, reset=soon"], 0), (["ratelimit": "\u{1}"], 0),
            (["ratelimit-remaining": "none", "ratelimit-reset": "9"], 0),
            (["ratelimit-remaining": "0"], 0), (["ratelimit-reset": "9"], 0),
            (["ratelimit-remaining": "0", "ratelimit-reset": "Mon, 01 Jan 2024 00:00:00 GMT"], 0),
            (["ratelimit-remaining": "99999999999999999999", "ratelimit-reset": "9"], 0),
            (
                [
                    "x-ratelimit-limit": "0", "x-ratelimit-remaining": "0",
                    "x-ratelimit-reset": "60",
                ], 0
            ),
        ] as [([String: String], Double)])
    func delayFollowsFields(fields: [String: String], seconds: Double) {
        #expect(abs(delay(fields) - seconds) < 1e-6)
    }

    /// A refusal is believed for an hour, a served response for five minutes.
    @Test func waitIsBounded() {
        let fields = ["ratelimit": #""a";r=0;t=86400"#]
        #expect(delay(fields) == 300)
        #expect(delay(fields, status: 429) == 3600)
    }

    /// A client that follows the pace is never refused, however the responses are delayed.
    @Test func isNeverRefusedByStatedQuota() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        for _ in 0..<200 {
            let total = Int.random(in: 12...200, using: &random)
            let window = Double(Int.random(in: 5...60, using: &random))
            let most = Int.random(in: 1...min(8, total / 2), using: &random)
            var (pace, start, used, now) = (RequestPace(), 0.0, 0, 0.0)
            var active: [(due: Double, remaining: Int, reset: Double)] = []
            var (sent, refused) = (0, 0)
            while sent < 3 * total {
                now += Double.random(in: 0.001...0.05, using: &random)
                for reply in active.filter({ $0.due <= now }) {
                    active.removeAll { $0.due == reply.due }
                    let quota = StatedQuota(
                        name: "a", remaining: Double(reply.remaining), reset: reply.reset,
                        total: Double(total), window: window)
                    pace.stated(
                        [quota], isServed: true, unanswered: active.count, now: now)
                }
                while active.count < most, sent < 3 * total, pace.delay(now: now) <= 0 {
                    pace.asked(now: now)
                    if now >= start + window { (start, used) = (now, 0) }
                    used += 1
                    sent += 1
                    if used > total { refused += 1 }
                    let delay = Double.random(in: 0.01...0.2, using: &random)
                    active.append(
                        (now + delay, max(0, total - used), (start + window - now).rounded(.up)))
                }
            }
            #expect(refused == 0, "seed \(seed): \(total) in \(window) s, \(most) at a time")
        }
    }

    /// The first response may not count the requests that were sent at the same time.
    @Test func requestsWithoutResponseCount() {
        let quota = StatedQuota(remaining: 3, reset: 20, total: 8, window: 20)
        for (unanswered, isNone) in [(0, false), (2, false), (3, true), (9, true)] {
            var pace = RequestPace()
            for _ in 0...unanswered { pace.asked(now: 0) }
            pace.stated([quota], isServed: true, unanswered: unanswered, now: 0)
            #expect((pace.delay(now: 0) == 21) == isNone, "\(unanswered)")
        }
    }

    /// In no period are more requests sent than the rate has, and nearly as many are.
    @Test(arguments: ["1/s", "7/s", "20/s", "1000/s", "90/m", "600/m", "5000/h"])
    func boundHoldsInEachPeriod(text: String) throws {
        let rate = try #require(RequestRate(text))
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        var pace = RequestPace(rate)
        var (now, times) = (50.0, [Double]())
        let period = rate.period.seconds
        let longest = min(0.02, period / Double(rate.count))
        while now < 50 + 3 * period {
            now += Double.random(in: 0...longest, using: &random)
            while pace.delay(now: now) <= 0 {
                pace.asked(now: now)
                times.append(now)
            }
        }
        var first = times.startIndex
        for (index, time) in times.enumerated() {
            while times[first] <= time - period { first += 1 }
            #expect(index - first + 1 <= rate.count, "seed \(seed)")
        }
        #expect(Double(times.count) >= 0.6 * 3 * Double(rate.count), "seed \(seed)")
    }

    @Test(arguments: [("10/s", false), ("3/s", false), ("2/s", true), ("60/m", true)])
    func fewRequestsAreScarce(text: String, isScarce: Bool) throws {
        let rate = try #require(RequestRate(text))
        let pace = RequestPace(rate)
        #expect(pace.isScarce == isScarce)
        #expect(RequestQuota(pace).isKnown == isScarce)
    }

    @Test func limitCanBeRemoved() throws {
        var pace = RequestPace(RequestRate(1, per: .hour))
        pace.asked(now: 9)
        #expect(pace.delay(now: 10) > 3000)
        pace.limit(to: nil)
        #expect(pace.delay(now: 10) == 0 && !pace.isScarce)
    }

    /// After its window the quota is full again, before a response has said so.
    @Test func quotaIsFullAfterReset() {
        var pace = RequestPace()
        pace.asked(now: 0)
        let quota = StatedQuota(remaining: 0, reset: 20, total: 8, window: 20)
        pace.stated([quota], isServed: true, unanswered: 0, now: 0)
        #expect(pace.delay(now: 20) > 0 && pace.delay(now: 21) == 0)
        for _ in 0..<6 {
            #expect(pace.delay(now: 21) == 0)
            pace.asked(now: 21)
        }
        for _ in 0..<2 { pace.asked(now: 21) }
        #expect(pace.delay(now: 21) == 20)
    }

    // MARK: Retry-After

    /// The wait holds for every request; a longer one replaces it, a shorter one does not.
    @Test func refusalDelaysAllRequests() {
        var pace = RequestPace()
        pace.refused(for: 8, asked: 9, served: 0, now: 10)
        #expect(pace.delay(now: 10) == 8 && pace.delay(now: 12, beside: 3) == 6)
        pace.refused(for: 2, asked: 9, served: 0, now: 12)
        #expect(pace.delay(now: 12) == 6)
        pace.refused(for: 8, asked: 9, served: 0, now: 12)
        #expect(pace.delay(now: 18) == 2 && pace.delay(now: 20) == 0)
        #expect(!pace.isScarce)
    }

    /// A single request would wait for an hour at most, so the others do not wait longer.
    @Test(arguments: [(0.0, 0.0), (-1, 0), (3600, 3600), (3601, 0)])
    func demandedWaitIsBounded(seconds: Double, delay: Double) {
        var pace = RequestPace()
        pace.refused(for: seconds, asked: 0, served: 0, now: 0)
        #expect(pace.delay(now: 0) == delay)
    }

    /// The server serves two requests and refuses a third: two at a time go on.
    @Test func servedConnectionsGoOn() {
        var pace = RequestPace()
        pace.refused(for: 600, asked: 0, served: 2, now: 1)
        #expect(pace.delay(now: 1, beside: 2) > 0 && pace.delay(now: 1, beside: 1) == 0)
        #expect(pace.delay(now: 599, beside: 2) == RequestPace.recheck)
        #expect(pace.pauseLeft(now: 1, beside: 2) == 600)
        // Responses to requests that were sent before.
        pace.serves(3, now: 2)
        #expect(pace.delay(now: 2, beside: 2) == 0 && pace.delay(now: 2, beside: 3) > 0)
        #expect(pace.delay(now: 601, beside: 9) == 0)
    }

    /// The server refuses a request that takes the place of a served one: it counts requests.
    @Test func refusalOfNextRequestDelaysAll() {
        var pace = RequestPace()
        pace.refused(for: 60, asked: 0, served: 2, now: 1)
        pace.refused(for: 60, asked: 0.5, served: 2, now: 2)
        #expect(pace.delay(now: 3, beside: 1) == 0)
        pace.refused(for: 60, asked: 3, served: 1, now: 4)
        #expect(pace.delay(now: 4) == 60)
        pace.serves(2, now: 5)
        #expect(pace.delay(now: 5) == 59 && pace.delay(now: 64) == 0)
        // The next pause begins anew.
        pace.refused(for: 60, asked: 64, served: 1, now: 65)
        #expect(pace.delay(now: 65) == 0)
    }

    /// A queue gives the slot of a task to another only if the wait is long.
    @Test(arguments: [(5.0, nil), (6, 6), (600, 600)] as [(Double, Double?)])
    func longWaitIsRest(seconds: Double, rest: Double?) {
        var quota = RequestQuota()
        quota.pace.refused(for: seconds, asked: 0, served: 0, now: 0)
        #expect(quota.longRest(now: 0) == rest)
    }
}

@Suite struct RequestRateTests {
    @Test(arguments: [
        ("10/s", "10/s"), ("10", "10/s"), ("600/m", "600/m"), ("5000/h", "5000/h"),
        ("1000000", "1000000/s"),
    ])
    func parsesRates(text: String, description: String) {
        #expect(RequestRate(text)?.description == description)
    }

    @Test(arguments: [
        "", "0", "0/s", "-1", "1000001", "10/", "/s", "10/d", "10/s/s", "1.5/s", "10 /s", "x",
        "99999999999999999999",
    ])
    func refusesOtherTexts(text: String) { #expect(RequestRate(text) == nil) }
}
