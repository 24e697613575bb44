import Assembler
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests the consequences of responses without the requested bytes.
@Suite struct SourceRefusalTests {
    private let otherTag = ContractBreach.otherETag(expected: "\"a\"", got: "\"b\"")
    private let otherDate = ContractBreach.otherLastModified(expected: "then", got: "now")

    private func source() throws -> Source { Source(primary: try SourceTrial.setup()) }

    @Test(
        arguments: [
            (200, .drop(.failed(.transfer(.status(200), attempts: 1)))),
            (301, .resolve), (400, .drop(.failed(.transfer(.status(400), attempts: 1)))),
            (401, .resolve), (403, .resolve), (404, .resolve), (407, .resolve), (410, .resolve),
            (429, .again), (500, .again), (503, .again),
            (501, .drop(.failed(.transfer(.status(501), attempts: 1)))),
        ] as [(Int, Source.Refusal)])
    func statusDeterminesRefusal(status: Int, refusal: Source.Refusal) throws {
        var source = try source()
        let got = source.refused(
            status, to: .init(), isOneStream: false, isAboveLimit: false, date: 0)
        #expect(got == refusal)
        let stream = source.refused(
            status, to: .init(), isOneStream: true, isAboveLimit: false, date: 0)
        #expect(stream == .again)
    }

    /// A link that was replaced while a request was in flight is not resolved a second time.
    @Test func refusalOfReplacedURLIsRetriedAtNewOne() throws {
        var source = try source()
        let request = Slot.Request(url: source.url)
        _ = source.lead(to: try #require(WebURL("http://host0/file?2")))
        let got = source.refused(
            404, to: request, isOneStream: false, isAboveLimit: false, date: 0)
        #expect(got == .againAtNewURL)
        let again = source.refused(
            404, to: .init(url: source.url), isOneStream: false, isAboveLimit: false, date: 0)
        #expect(again == .resolve)
    }

    @Test func refusalAboveLimitIsRetried() throws {
        var source = try source()
        let got = source.refused(
            403, to: .init(), isOneStream: false, isAboveLimit: true, date: 0)
        #expect(got == .again)
    }

    @Test func wholeFileIsRetriedAfterServedRanges() throws {
        let setup = try SourceTrial.setup()
        var source = try source()
        source.accepted = 1
        let request = Slot.Request()
        for _ in 0..<2 {
            let got = source.refused(.wholeFileForRange, to: request, setup, hasBytes: false)
            #expect(got == .again)
        }
        source.hasProgressed(by: nil)
        for refusal in [.again, .again, .drop(.rangesIgnored)] as [Source.Refusal] {
            let got = source.refused(.wholeFileForRange, to: request, setup, hasBytes: false)
            #expect(got == refusal)
        }
    }

    @Test func wholeFileWithoutServedRangesMeansNoRanges() throws {
        let setup = try SourceTrial.setup()
        var source = try source()
        let got = source.refused(.wholeFileForRange, to: .init(), setup, hasBytes: false)
        #expect(got == .drop(.rangesIgnored))
        let asked = source.refused(
            .wholeFileForRange, to: .init(sentIfRange: true), setup, hasBytes: false)
        #expect(asked == .againWithoutIfRange)
        let outside = source.refused(
            .rangeRefused, to: .init(sentIfRange: true), setup, hasBytes: false)
        #expect(outside == .drop(.rangesIgnored))
    }

    @Test(arguments: [false, true])
    func repeatedOtherTagIsAChange(hasContradicted: Bool) throws {
        let setup = try SourceTrial.setup(hasContradicted: hasContradicted)
        var source = try source()
        source.trust = Source.Trust()
        for _ in 0..<(hasContradicted ? 1 : Source.Trust.mismatchLimit) {
            let got = source.refused(otherTag, to: .init(), setup, hasBytes: true)
            #expect(got == .againElsewhere)
        }
        let got = source.refused(otherTag, to: .init(), setup, hasBytes: true)
        #expect(got == .drop(.changed(otherTag)))
    }

    @Test func otherDateIsDoubted() throws {
        let setup = try SourceTrial.setup()
        var source = try source()
        let got = source.refused(otherDate, to: .init(), setup, hasBytes: true)
        #expect(got == .doubt)
        #expect(source.standing == .unproven)
        #expect(source.changedByDate == .changed(otherDate))
        // A sample in a response with the usual date decides nothing. After eight of these, the
        // source is trusted.
        for _ in 0..<8 {
            #expect(source.standing == .unproven)
            let got = source.refused(
                .otherLastModified(expected: "now", got: "then"), to: .init(missedSample: true),
                setup, hasBytes: true)
            #expect(got == .againElsewhere)
        }
        #expect(source.standing == .proven)
    }

    @Test func otherDateOfStreamIsRetriedElsewhere() throws {
        let setup = try SourceTrial.setup(isOneStream: true)
        var source = Source(primary: setup)
        let got = source.refused(otherDate, to: .init(), setup, hasBytes: true)
        #expect(got == .againElsewhere)
    }
}
