import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct RateMeterTests {
    /// Feeds ten samples a second at a rate in bytes per second, and returns the last rate shown.
    private static func feed(
        _ meter: inout RateMeter, from start: Double, to end: Double, bytes: inout Int64,
        rate: Int64
    ) -> Double {
        var shown = 0.0
        for tick in Int(start * 10) + 1...Int(end * 10) {
            bytes += rate / 10
            shown = meter.rate(bytes: bytes, now: Double(tick) / 10)
        }
        return shown
    }

    @Test func showsSteadyRate() {
        var meter = RateMeter()
        var bytes: Int64 = 0
        #expect(meter.rate(bytes: 0, now: 0) == 0, "one sample gives no rate")
        for second in 0..<30 {
            let shown = Self.feed(
                &meter, from: Double(second), to: Double(second + 1), bytes: &bytes,
                rate: 1_000_000)
            #expect(abs(shown - 1_000_000) < 1, "second \(second)")
        }
    }

    @Test func fallsToZeroWithinFiveSecondsOfStall() {
        var meter = RateMeter()
        var bytes: Int64 = 0
        _ = meter.rate(bytes: 0, now: 0)
        _ = Self.feed(&meter, from: 0, to: 20, bytes: &bytes, rate: 1_000_000)
        let after2 = Self.feed(&meter, from: 20, to: 22, bytes: &bytes, rate: 0)
        #expect((500_000...700_000).contains(after2))
        let after4 = Self.feed(&meter, from: 22, to: 24, bytes: &bytes, rate: 0)
        #expect((100_000...300_000).contains(after4))
        #expect(Self.feed(&meter, from: 24, to: 25, bytes: &bytes, rate: 0) == 0)
    }

    @Test func followsChangeWithinWindow() {
        var meter = RateMeter()
        var bytes: Int64 = 0
        _ = meter.rate(bytes: 0, now: 0)
        _ = Self.feed(&meter, from: 0, to: 20, bytes: &bytes, rate: 1_000_000)
        let shown = Self.feed(&meter, from: 20, to: 25, bytes: &bytes, rate: 4_000_000)
        #expect(abs(shown - 4_000_000) < 1)
    }

    @Test func longPauseBetweenSamplesIsNoRate() {
        var meter = RateMeter()
        _ = meter.rate(bytes: 0, now: 0)
        _ = meter.rate(bytes: 1_000_000, now: 1)
        #expect(meter.rate(bytes: 1_000_000, now: 100) == 0)
        #expect(meter.rate(bytes: 1_000_000, now: 100) == 0, "the time is unchanged")
    }

    @Test func ignoresBytesBeforeFirstSample() {
        var meter = RateMeter()
        _ = meter.rate(bytes: 1 << 40, now: 7)
        #expect(meter.rate(bytes: (1 << 40) + 500, now: 8) == 500)
    }
}
