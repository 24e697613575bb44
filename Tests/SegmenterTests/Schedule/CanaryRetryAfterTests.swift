import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct CanaryRetryAfterTests {
    private static let stalled = [0: StallDetector.Connection(quiet: 5)]

    /// Returns the time of the canary after one with this result, in seconds.
    private func next(after end: StallDetector.CanaryEnd, due: Double?) -> Double? {
        var detector = StallDetector()
        guard detector.step(Self.stalled, now: 0) == .sendCanary else { return nil }
        guard !detector.canaryEnded(end, received: 0, due: due) else { return nil }
        for tick in 1...1000 where detector.step(Self.stalled, now: Double(tick) / 10) != .nothing {
            return Double(tick) / 10
        }
        return nil
    }

    @Test func refusedCanaryRespectsRetryAfter() {
        #expect(next(after: .refused, due: nil) == 0.5)
        #expect(next(after: .refused, due: 20) == 20)
        #expect(next(after: .refused, due: 0.2) == 0.5)
    }
}
