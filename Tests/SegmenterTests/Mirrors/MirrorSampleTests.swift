import Assembler
import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct MirrorSampleTests {
    @Test func waitsForEnoughBytes() {
        var done = RangeSet()
        #expect(MirrorSample(done: done, moreComes: true, random: 0) == .wait)
        #expect(MirrorSample(done: done, moreComes: false, random: 0) == .nothing)
        done.insert(ByteRange(5, 100))
        #expect(MirrorSample(done: done, moreComes: true, random: 0) == .wait)
        #expect(
            MirrorSample(done: done, moreComes: false, random: 0.5) == .compare(ByteRange(5, 100)))
    }

    /// A sample is within the received bytes, and has its full length if they are long enough.
    @Test func sampleIsWithinReceivedBytes() {
        forEachSeed(2000) { seed, random in
            var done = RangeSet()
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let start = Int64.random(in: 0...1_000_000, using: &random)
                done.insert(ByteRange(start, start + .random(in: 1...200_000, using: &random)))
            }
            let sample = MirrorSample(
                done: done, moreComes: Bool.random(using: &random),
                random: .random(in: 0..<1, using: &random))
            guard case .compare(let range) = sample else { return }
            #expect(!range.isEmpty && done.contains(range), "seed \(seed)")
            let place = done.ranges.first { $0.contains(range) }
            #expect(
                range.count == min(MirrorSample.length, place?.count ?? 0), "seed \(seed)")
        }
    }

    @Test func sampleCanBeAtBothEnds() {
        let done = RangeSet(ByteRange(0, 1_000_000))
        #expect(
            MirrorSample(done: done, moreComes: true, random: 0)
                == .compare(ByteRange(0, MirrorSample.length)))
        #expect(
            MirrorSample(done: done, moreComes: true, random: 0.999_999_999)
                == .compare(ByteRange(1_000_000 - MirrorSample.length, 1_000_000)))
    }
}
