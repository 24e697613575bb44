import Assembler
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct LossCheckTests {
    typealias Step = LossCheck.Step

    private let begun = RemoteIdentity(size: 9, etag: "\"1\"")
    private let date = "Sun, 13 Sep 2020 12:26:40 GMT"

    private func file(
        size: Int64 = 9, etag: String? = nil, lastModified: String? = nil, ranges: Bool = true
    ) -> RemoteFile {
        RemoteFile(
            url: "http://a/f", effectiveURL: "http://a/f", redirects: 0,
            identity: RemoteIdentity(size: size, etag: etag, lastModified: lastModified),
            acceptsRanges: ranges, suggestedName: "f", digests: [], probedBy: "GET")
    }

    private func steps(
        _ count: Int, _ reason: StartOverReason, _ offered: RemoteFile, isOneStream: Bool = false,
        isProven: Bool = true, begun: RemoteIdentity? = nil
    ) -> [Step] {
        var check = LossCheck()
        return (0..<count).map { _ in
            check.step(
                reason, begun: (begun ?? self.begun, isOneStream), offered: offered,
                isProven: isProven)
        }
    }

    @Test func acceptsChangeAfterFourResponses() {
        let reason = StartOverReason.etagChanged(was: "\"1\"", now: "\"2\"")
        let breach = ContractBreach.otherETag(expected: "\"1\"", got: "\"2\"")
        #expect(
            steps(4, reason, file(etag: "\"2\""))
                == [
                    .askAgain(pause: 1, breach), .askAgain(pause: 2, breach),
                    .askAgain(pause: 3, breach), .accept,
                ])
    }

    @Test func provesOfferOfHeadWithGet() {
        #expect(steps(2, .noRanges, file(ranges: false), isProven: false) == [.prove, .prove])
        #expect(steps(1, .urlChanged, file(), isProven: false) == [.prove])
    }

    @Test func changedURLIsAcceptedImmediately() {
        #expect(steps(1, .urlChanged, file()) == [.accept])
    }

    @Test func knownStreamIsRepeatedOnceWithoutPause() {
        let expected: [Step] = [.askAgain(pause: nil, .wholeFileForRange), .accept]
        #expect(steps(2, .noRanges, file(ranges: false), isOneStream: true) == expected)
        #expect(
            steps(1, .noRanges, file(ranges: false))
                == [.askAgain(pause: 1, .wholeFileForRange)])
    }

    @Test func doubtedDateIsLeftToSample() {
        let mine = RemoteIdentity(size: 9, etag: "\"1\"", lastModified: date)
        let offered = file(etag: "\"1\"", lastModified: "Sun, 13 Sep 2020 12:26:41 GMT")
        let reason = StartOverReason.lastModifiedChanged(was: date, now: offered.lastModified)
        #expect(steps(1, reason, offered, begun: mine) == [.accept])
    }

    /// The validator was trusted when the part was started.
    ///
    /// The server still states it, but it is not trusted any more.
    @Test func distrustedValidatorIsAcceptedAsLost() {
        let mine = RemoteIdentity(size: 9, lastModified: date, lastModifiedIsStrong: true)
        var offered = file(lastModified: date)
        #expect(steps(1, .noValidator, offered, begun: mine) != [.accept])
        offered.identity.distrust(.lastModified)
        #expect(steps(1, .noValidator, offered, begun: mine) == [.accept])
    }

    @Test func pageReplacesNoPart() {
        let reason = StartOverReason.sizeChanged(was: 9, now: 4)
        let page = file(size: 4, ranges: false)
        #expect(
            steps(4, reason, page).last == .refuse(.otherSize(expected: 9, got: 4)))
        #expect(steps(4, reason, page, begun: RemoteIdentity(size: 9)).last == .accept)
        #expect(steps(4, reason, file(size: 4)).last == .accept)
        #expect(steps(4, reason, file(size: 4, etag: "\"2\"", ranges: false)).last == .accept)
        #expect(
            steps(4, reason, file(size: 4, lastModified: date, ranges: false)).last == .accept)
    }
}
