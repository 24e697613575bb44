import Assembler
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct ConfidenceTests {
    private static let first = ByteRange(0, 10)
    private static let later = ByteRange(10, 20)

    @Test func limitsRequestsBeforeFirstRange() {
        var confidence = Confidence()
        #expect(confidence.most(roundTrip: nil) == 4)
        #expect(confidence.most(roundTrip: 0.009) == 4)
        // With long round trips, the limit is the governor's first number.
        #expect(confidence.most(roundTrip: 0.08) == 16)
        confidence.accepted(Self.later, now: 0)
        #expect(confidence.isProven && confidence.most(roundTrip: nil) == .max)
    }

    @Test func provenByProbesRange() {
        #expect(Confidence(isProven: true).most(roundTrip: nil) == .max)
    }

    /// A server that ignores the start of a range sends the beginning of the file too.
    @Test func firstRangeProvesAfterDelay() {
        var confidence = Confidence()
        confidence.accepted(Self.first, now: 1)
        confidence.wait(now: 1.4)
        #expect(!confidence.isProven)
        confidence.wait(now: 1.5)
        #expect(confidence.isProven)
    }

    @Test func firstRangeBesideBreachProvesNothing() {
        var confidence = Confidence()
        confidence.accepted(Self.first, now: 1)
        confidence.refused()
        confidence.wait(now: 100)
        #expect(!confidence.isProven)
        confidence.accepted(Self.later, now: 101)
        #expect(confidence.isProven)
    }

    @Test func toleratesFewBreachesBeforeProof() {
        #expect((1...3).allSatisfy { Confidence().bears($0) })
        #expect(!Confidence().bears(4))
        #expect(Confidence(isProven: true).bears(100))
    }
}
