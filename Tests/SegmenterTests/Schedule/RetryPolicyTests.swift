import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct RetryPolicyTests {
    private let policy = RetryPolicy(retries: 10)

    @Test(
        arguments: [
            (0, 0.5), (1, 0.5), (2, 1), (3, 2), (4, 4), (5, 8), (6, 16), (7, 30), (8, 30), (16, 30),
            (63, 30), (64, 30), (1000, 30), (Int.max, 30), (-5, 0.5),
        ] as [(Int, Double)])
    func boundDoublesUpToCap(failures: Int, bound: Double) {
        let almostOne = 1.0.nextDown
        #expect(policy.delay(failures: failures, retryAfter: nil, random: 0) == 0)
        #expect(policy.delay(failures: failures, retryAfter: nil, random: 0.5) == bound / 2)
        let longest = policy.delay(failures: failures, retryAfter: nil, random: almostOne)
        #expect(longest <= bound && longest > bound * 0.999)
    }

    @Test func delaysSpreadOverWholeRange() {
        var random = SplitMix64(seed: 1)
        let delays = (0..<4000).map { _ in
            policy.delay(
                failures: 4, retryAfter: nil, random: Double.random(in: 0..<1, using: &random))
        }
        let buckets = Dictionary(grouping: delays) { Int($0) }.mapValues(\.count)
        #expect(buckets.keys.sorted() == [0, 1, 2, 3])
        #expect(buckets.values.allSatisfy { (850...1150).contains($0) }, "\(buckets)")
    }

    @Test(arguments: [0, 1, 5, 29, 30, 31, 120, 3600, 86_400] as [Double], [1, 2, 9])
    func delayIsAtLeastRetryAfter(seconds: Double, failures: Int) {
        for random in [0, 0.25, 0.999] {
            let delay = policy.delay(failures: failures, retryAfter: seconds, random: random)
            #expect(delay >= seconds)
            #expect(delay < seconds + 1)
        }
        let spread = policy.delay(failures: failures, retryAfter: seconds, random: 0.9)
        #expect(spread > seconds, "retries do not coincide")
    }

    @Test func boundsAttemptsWithoutProgress() {
        #expect((0..<20).filter(policy.allows) == Array(0...10))
        let never = RetryPolicy(retries: 0)
        #expect((0..<20).filter(never.allows) == [0])
    }
}
