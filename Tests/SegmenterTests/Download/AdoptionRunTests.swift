import Assembler
import Testing

@testable import Segmenter

@Suite struct AdoptionRunTests {
    /// Digest, wish to go on with a sample, full length: what is in the way.
    @Test(
        arguments: [
            (true, false, false, nil), (true, true, false, nil), (true, false, true, nil),
            (true, true, true, nil), (false, true, false, nil), (false, false, false, .noProof),
            (false, true, true, .onlyDigestTells), (false, false, true, .onlyDigestTells),
        ] as [(Bool, Bool, Bool, AdoptionObstacle?)])
    func somethingMustDecide(
        hasDigest: Bool, sampleSuffices: Bool, isOfFullLength: Bool, expected: AdoptionObstacle?
    ) {
        let obstacle = AdoptionRun.obstacle(
            hasDigest: hasDigest, sampleSuffices: sampleSuffices, isOfFullLength: isOfFullLength)
        #expect(obstacle == expected)
    }

    @Test func aPartThatWasTakenOverIsComparedOnce() {
        var samples = Samples()
        samples.adopt(generation: "g", decides: false)
        samples.forgetPart()
        #expect(samples.generation == "g")
        #expect(!samples.areNeeded)
        samples.adopt(generation: "h", decides: true)
        #expect(samples.areNeeded)
    }
}
