import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct ForbiddingTests {
    @Test func refusalAloneIsFinal() {
        var forbidding = Forbidding()
        let answer1 = forbidding.mayPass(1, isBeside: false)
        #expect(!answer1)
        let answer2 = forbidding.mayPass(1, isBeside: false, isLimited: true)
        #expect(!answer2)
        #expect(forbidding.meaning == .unknown)
    }

    /// A file that is always refused fails after a few attempts, and the next file at once.
    @Test func refusalBesideOthersIsFinalAfterTries() {
        var forbidding = Forbidding()
        for refusals in 1..<Forbidding.tries {
            let mayPass = forbidding.mayPass(refusals, isBeside: true)
            #expect(mayPass)
        }
        let answer3 = forbidding.mayPass(Forbidding.tries, isBeside: true)
        #expect(!answer3)
        #expect(forbidding.meaning == .refusal)
        let answer4 = forbidding.mayPass(1, isBeside: true, isLimited: true)
        #expect(!answer4)
    }

    @Test func servedAfterRefusalShowsLimit() {
        var forbidding = Forbidding()
        let answer5 = forbidding.mayPass(1, isBeside: true)
        #expect(answer5)
        forbidding.served()
        let answer6 = forbidding.mayPass(Forbidding.tries, isBeside: true)
        #expect(answer6)
        // These retries are limited, too.
        let answer7 = forbidding.mayPass(Forbidding.triesAtLimit, isBeside: true)
        #expect(!answer7)
    }

    @Test func knownLimitExplainsRefusal() {
        var forbidding = Forbidding()
        let answer8 = forbidding.mayPass(Forbidding.tries, isBeside: true, isLimited: true)
        #expect(answer8)
    }
}
