import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct RateLimitTests {
    @Test(
        arguments: [
            (nil, nil), (0, nil), (-1, nil), (.nan, nil), (.infinity, nil), (1, 1), (5e9, 5e9),
        ] as [(Double?, Double?)])
    func invalidRateIsNoLimit(given: Double?, limit: Double?) {
        #expect(RateLimit(given).bytesPerSecond == limit)
    }

    /// `-` halves the limit, and `+` doubles it.
    ///
    /// The measured rate is 1,000,000 bytes per second.
    @Test(
        arguments: [
            (8000, "-", 4000), (8000, "--", 2000), (8000, "----", 1024), (8000, "-----", 1024),
            (500, "-", 500), (8000, "+", 16_000), (8000, "-+", 8000), (8000, "-++", 16_000),
            (nil, "-", 500_000), (nil, "--", 250_000), (nil, "-+", nil), (nil, "--+", 500_000),
            (nil, "--++", nil), (nil, "+", nil), (nil, "-++", nil), (nil, "-+-", 500_000),
            (1e308, "++", 1e308),
        ] as [(Double?, String, Double?)])
    func halvesAndDoubles(from given: Double?, steps: String, to limit: Double?) {
        var rate = RateLimit(given)
        for step in steps {
            if step == "-" { rate.halve(measured: 1_000_000) } else { rate.double() }
        }
        #expect(rate.bytesPerSecond == limit)
    }

    @Test func halvingNeedsMeasuredRate() {
        var rate = RateLimit(nil)
        rate.halve(measured: 0)
        #expect(rate.bytesPerSecond == nil)
        rate.halve(measured: 100)
        #expect(rate.bytesPerSecond == 1024)
    }
}
