import TestSupport
import Testing

@testable import Segmenter

@Suite struct TokenBucketTests {
    /// A run of somebody who takes all there is, at irregular times.
    private struct Run {
        var bucket: TokenBucket
        var now: Double
        /// Time and bytes of each taking.
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
    func anyFiveSecondsAreWithinThreePercent(rate: Double) {
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

    @Test func whoTookNothingForLongGetsABoundedBurst() {
        var bucket = TokenBucket(rate: 1000, now: 0)
        bucket.refill(now: 3600)
        #expect(bucket.available == 101)
        bucket.giveBack(1 << 40)
        #expect(bucket.available == 101)
    }

    @Test(arguments: [0.3, 1, 7.5])
    func theSlowestRatesGiveWholeBytes(rate: Double) {
        var bucket = TokenBucket(rate: rate, now: 0)
        var bytes: Int64 = 0
        for tick in 1...1000 * 20 {
            bucket.refill(now: Double(tick) / 20)
            bytes += bucket.available
            bucket.take(upTo: bucket.available)
        }
        #expect(abs(Double(bytes) - 1000 * rate) <= 2)
    }

    /// What another rate left behind neither holds the new one up nor adds to it.
    @Test func aChangeOfRateTakesEffectAtOnce() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        let rates: [Double] = [1e3, 1e5, 1e7, 1e9]
        var run = Run(bucket: TokenBucket(rate: 1e6, now: 0), now: 0)
        for _ in 0..<200 {
            let rate = rates.randomElement(using: &random) ?? 1
            // Now and then without anything being taken before.
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

    @Test func timeThatStandsStillOrGoesBackGivesNothing() {
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
