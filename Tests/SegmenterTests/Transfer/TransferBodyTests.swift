import Assembler
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests how the received parts of a body are written or collected.
@Suite struct TransferBodyTests {
    private func take(_ count: Int, _ body: inout BodyWriting) -> (Int64, BodyWriting.Outcome) {
        let bytes = [UInt8](repeating: 7, count: count)
        return bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return (0, .tooLong) }
            let (received, outcome) = body.take(base, count)
            return (received, outcome)
        }
    }

    @Test func writesBodyToItsEnd() {
        let writer = ExtentWriter(samplingAt: 10)
        var body = BodyWriting()
        body.begin(writer, limit: 20, replyEnd: 20)
        #expect(take(6, &body) == (6, .written))
        #expect(writer.position == 16 && body.remaining == 4 && body.missing == 4)
        #expect(take(4, &body) == (4, .written))
        #expect(!body.isSatisfied && body.missing == 0)
        #expect(take(1, &body) == (0, .tooLong))
    }

    @Test func doesNotWriteBeyondShortenedLimit() {
        let writer = ExtentWriter(samplingAt: 0)
        var body = BodyWriting()
        body.begin(writer, limit: 20, replyEnd: 20)
        #expect(take(4, &body) == (4, .written))
        body.shorten(to: 8)
        body.shorten(to: 12)
        #expect(body.remaining == 4 && !body.isSatisfied)
        #expect(take(6, &body) == (4, .satisfied))
        #expect(writer.position == 8 && body.isSatisfied && body.missing == 0)
    }

    @Test func waitsForWindow() {
        let writer = ExtentWriter(samplingAt: 0)
        var body = BodyWriting()
        // A body of unknown length is written as long as bytes arrive.
        body.begin(writer, limit: .max, replyEnd: .max)
        let isEarly = body.allow(upTo: 5)
        #expect(!isEarly)
        #expect(take(6, &body) == (0, .waits))
        #expect(body.waitsForRoom && writer.position == 0)
        let isEarlyAgain = body.allow(upTo: 5)
        #expect(!isEarlyAgain && body.waitsForRoom)
        let mayContinue = body.allow(upTo: 6)
        #expect(mayContinue && !body.waitsForRoom)
        #expect(take(6, &body) == (6, .written))
        #expect(body.missing == 0)
    }

    private func keep(_ count: Int, _ body: inout BodyCollecting) -> BodyCollecting.Outcome {
        let bytes = [UInt8](repeating: 7, count: count)
        return bytes.withUnsafeBytes { bytes in
            bytes.baseAddress.map { body.take($0, count) } ?? .tooLong
        }
    }

    @Test func collectsShortBody() {
        var body = BodyCollecting()
        body.begin(length: 10, most: 100, now: 1)
        #expect(keep(4, &body) == .kept)
        #expect(body.missing == 6)
        #expect(keep(7, &body) == .tooLong)
        #expect(keep(6, &body) == .kept)
        #expect(body.missing == 0 && body.bytes.count == 10)
        #expect(!body.isLate(1.9) && body.isLate(2))
    }

    @Test func collectedBodyOfUnknownLengthIsBounded() {
        var body = BodyCollecting()
        body.begin(length: nil, most: 10, now: 0)
        #expect(keep(10, &body) == .kept)
        #expect(keep(1, &body) == .full)
        #expect(body.missing == 0 && body.bytes.count == 10)
        body.patience = .infinity
        #expect(!body.isLate(1000))
    }

    @Test func challengeIsReplacedByFinalResponse() {
        var head = ReplyHead()
        let isFinal = head.take(Reply(status: 401))
        #expect(!isFinal)
        #expect(head.reply == nil && head.challenge?.status == 401)
        let isFinalNow = head.take(Reply(status: 206))
        #expect(isFinalNow)
        #expect(head.challenge == nil)
        head.settle(on: Reply(status: 206))
        #expect(head.reply?.status == 206)
    }

    @Test func headSizeIsBounded() {
        var lines = ReplyHead()
        let (few, many) = ((0..<4096).map { _ in lines.count(2) }, lines.count(2))
        #expect(few.allSatisfy { $0 } && !many)
        var bytes = ReplyHead()
        let (short, long) = (bytes.count(256 << 10), bytes.count(1))
        #expect(short && !long)
    }
}
