import Assembler
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct AdoptionRunTests {
    /// Each row has whether there is a digest, whether a sample suffices, whether the file has its
    /// full length, and the expected obstacle.
    @Test(
        arguments: [
            (true, false, false, nil), (true, true, false, nil), (true, false, true, nil),
            (true, true, true, nil), (false, true, false, nil), (false, false, false, .noProof),
            (false, true, true, .onlyDigestTells), (false, false, true, .onlyDigestTells),
        ] as [(Bool, Bool, Bool, AdoptionObstacle?)])
    func adoptionNeedsDigestOrSample(
        hasDigest: Bool, sampleSuffices: Bool, isOfFullLength: Bool, expected: AdoptionObstacle?
    ) {
        let obstacle = AdoptionRun.obstacle(
            hasDigest: hasDigest, sampleSuffices: sampleSuffices, isOfFullLength: isOfFullLength)
        #expect(obstacle == expected)
    }

    @Test func adoptedPartIsComparedOnce() {
        var samples = Samples()
        samples.adopt(generation: "g", decides: false)
        samples.forgetPart()
        #expect(samples.generation == "g")
        #expect(!samples.areNeeded)
        samples.adopt(generation: "h", decides: true)
        #expect(samples.areNeeded)
    }
}
