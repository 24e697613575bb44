import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// A time that counts its comparisons.
private struct CountedTime: Comparable {
    final class Counter { var steps = 0 }

    let time: Double
    let counter: Counter

    static func == (left: Self, right: Self) -> Bool { left.time == right.time }

    static func < (left: Self, right: Self) -> Bool {
        left.counter.steps += 1
        return left.time < right.time
    }
}

@Suite struct FinishQueueTests {
    @Test func findsConnectionThatFinishesLast() {
        forEachSeed(50) { seed, random in
            var queue = FinishQueue<Int>()
            var model: [Int: Int] = [:]
            for step in 0..<300 {
                let connection = Int.random(in: 0..<20, using: &random)
                if Int.random(in: 0..<3, using: &random) == 0 {
                    queue.remove(connection)
                    model[connection] = nil
                } else {
                    let time = Int.random(in: 0..<30, using: &random)
                    queue.set(connection, to: time)
                    model[connection] = time
                }
                let last = model.max { ($0.value, -$0.key) < ($1.value, -$1.key) }
                let isRight = queue.last?.connection == last?.key && queue.last?.time == last?.value
                #expect(isRight, "seed \(seed), step \(step)")
                if !isRight { return }
            }
        }
    }

    /// The number of comparisons for an event grows with the logarithm of the number of
    /// connections.
    @Test(arguments: [1, 2, 4, 16, 64, 256, 1024])
    func costsLogarithmically(count: Int) {
        let counter = CountedTime.Counter()
        var queue = FinishQueue<CountedTime>()
        var random = SplitMix64(seed: 1)
        var most = 0
        for event in 0..<20 * count {
            let before = counter.steps
            let connection = Int.random(in: 0..<count, using: &random)
            if event > count, event % 7 == 0 {
                queue.remove(connection)
            } else {
                let time = Double.random(in: 0..<1, using: &random)
                queue.set(connection, to: CountedTime(time: time, counter: counter))
            }
            most = max(most, counter.steps - before)
        }
        let levels = count.bitWidth - count.leadingZeroBitCount
        #expect(most <= 4 * levels)
    }
}
