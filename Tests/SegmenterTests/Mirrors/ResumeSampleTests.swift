import Assembler
import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct ResumeSampleTests {
    /// Each of the longest ranges of zeros is compared, and some of the others.
    @Test(arguments: 0..<100)
    func comparesRangesOfZeros(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let count = Int.random(in: 0...40, using: &random)
        var blanks = RangeSet()
        for index in 0..<Int64(count) {
            let length = Int64.random(in: 1...100_000, using: &random)
            blanks.insert(ByteRange(index << 20, index << 20 + length))
        }
        let places = ResumeSample.places(inBlanks: blanks) { .random(in: 0..<1, using: &random) }
        #expect(places.allSatisfy { place in blanks.gaps(in: place).isEmpty })
        #expect(places.allSatisfy { $0.count > 0 && $0.count <= 2 << 16 })
        let longest = blanks.ranges.sorted { $0.count > $1.count }.prefix(8)
        for blank in longest {
            #expect(places.contains { $0.start >= blank.start && $0.end <= blank.end })
        }
    }

    @Test func emptyPartHasNoSample() {
        #expect(ResumeSample.places(in: RangeSet()) { 0.5 }.isEmpty)
    }

    @Test func smallPartIsComparedWhole() {
        let little = ByteRange(1000, 1000 + MirrorSample.length)
        #expect(ResumeSample.places(in: RangeSet(little)) { 0.5 } == [little])
    }

    /// The sample is within the received bytes, has the first and the last of them, and is short.
    @Test func sampleHasBothEndsAndIsShort() {
        forEachSeed(2000) { seed, random in
            var done = RangeSet()
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let start = Int64.random(in: 0...3_000_000, using: &random)
                done.insert(ByteRange(start, start + .random(in: 1...600_000, using: &random)))
            }
            let places = ResumeSample.places(in: done) { .random(in: 0..<1, using: &random) }
            let bytes = places.reduce(0) { $0 + $1.count }
            #expect(places.allSatisfy { !$0.isEmpty && done.contains($0) }, "seed \(seed)")
            #expect(zip(places, places.dropFirst()).allSatisfy { $0.end < $1.start })
            #expect(places.first?.start == done.ranges.first?.start, "seed \(seed)")
            #expect(places.last?.end == done.ranges.last?.end, "seed \(seed)")
            #expect(bytes <= 4 * MirrorSample.length, "seed \(seed)")
        }
    }
}
