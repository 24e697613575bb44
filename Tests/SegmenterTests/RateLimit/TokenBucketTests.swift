import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct TokenBucketTests {
    /// A consumer that takes all available bytes at irregular times.
    private struct Run {
        var bucket: TokenBucket
        var now: Double
        /// The time and the number of bytes of each take.
        var takings: [(time: Double, bytes: Int64)] = []

        mutating func go(
            until end: Double, steps: ClosedRange<Double>, using random: inout SplitMix64
        ) {
            while now < end {
                now += Double.random(in: steps, using: &random)
                bucket.refill(now: now)
                let bytes = bucket.available
                bucket.take(upTo: bytes)
                takings.append((now, bytes))
            }
        }

        func bytes(after start: Double, to end: Double) -> Double {
            takings.reduce(0) { $1.time > start && $1.time <= end ? $0 + Double($1.bytes) : $0 }
        }
    }

    @Test(arguments: [10_240, 1_000_000, 123_456_789, 5e9])
    func staysWithinThreePercentOverFiveSeconds(rate: Double) {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        var run = Run(bucket: TokenBucket(rate: rate, now: 100), now: 100)
        run.go(until: 140, steps: 0.001...0.09, using: &random)
        for _ in 0..<500 {
            let start = Double.random(in: 100...134, using: &random)
            let bytes = run.bytes(after: start, to: start + 5)
            #expect(bytes <= 5.15 * rate, "seed \(seed)")
            #expect(bytes >= 4.85 * rate, "seed \(seed)")
        }
    }

    @Test func burstAfterPauseIsBounded() {
        var bucket = TokenBucket(rate: 1000, now: 0)
        bucket.refill(now: 3600)
        #expect(bucket.available == 101)
        bucket.giveBack(1 << 40)
        #expect(bucket.available == 101)
    }

    @Test(arguments: [0.3, 1, 7.5])
    func slowRatesYieldWholeBytes(rate: Double) {
        var bucket = TokenBucket(rate: rate, now: 0)
        var bytes: Int64 = 0
        for tick in 1...1000 * 20 {
            bucket.refill(now: Double(tick) / 20)
            bytes += bucket.available
            bucket.take(upTo: bucket.available)
        }
        #expect(abs(Double(bytes) - 1000 * rate) <= 2)
    }

    /// Bytes that remain from the old rate neither delay nor increase the new one.
    @Test func rateChangeAppliesImmediately() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        let rates: [Double] = [1e3, 1e5, 1e7, 1e9]
        var run = Run(bucket: TokenBucket(rate: 1e6, now: 0), now: 0)
        for _ in 0..<200 {
            let rate = rates.randomElement(using: &random) ?? 1
            // Sometimes nothing is taken for a second before the change.
            if Bool.random(using: &random) { run.now += 1 }
            let start = run.now
            run.bucket.change(to: rate, now: start)
            run.go(until: start + 5, steps: 0.001...0.05, using: &random)
            let bytes = run.bytes(after: start, to: run.now)
            let seconds = run.now - start
            #expect(bytes <= (seconds + 0.1) * rate + 1, "seed \(seed)")
            #expect(bytes >= seconds * rate * 0.98 - 1, "seed \(seed)")
        }
    }

    @Test func unchangedOrEarlierTimeAddsNothing() {
        var bucket = TokenBucket(rate: 1000, now: 10)
        bucket.refill(now: 10.05)
        bucket.take(upTo: 50)
        bucket.refill(now: 10.05)
        bucket.refill(now: 9)
        #expect(bucket.available == 0)
        bucket.refill(now: 10.06)
        #expect((9...10).contains(bucket.available))
    }
}
