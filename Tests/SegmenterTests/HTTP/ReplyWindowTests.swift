import Assembler
import Testing

@testable import SegmenterRules

/// Responses about a range of a file, as those about a file.
@Suite struct ReplyWindowTests {
    private let window = RemoteWindow(ByteRange(1000, 3000), of: 10_000)

    private func shown(
        _ status: Int, _ fields: [String: String], asked: ByteRange? = nil,
        by method: RequestMethod = .get
    ) -> Reply {
        var reply = Reply(status: status, fields: fields)
        reply.show(window, asked: asked, by: method)
        return reply
    }

    @Test func requestedRangesAreInsideTheWindow() {
        #expect(window.remote(nil) == ByteRange(1000, 3000))
        #expect(window.remote(ByteRange(0, 500)) == ByteRange(1000, 1500))
        #expect(window.remote(ByteRange(500, 4 << 20)) == ByteRange(1500, 3000))
        #expect(window.remote(ByteRange(1999, .max)) == ByteRange(2999, 3000))
    }

    @Test func partsAreShifted() {
        let reply = shown(
            206, ["content-range": "bytes 1500-1999/10000", "etag": "\"a\""],
            asked: ByteRange(500, 1000))
        #expect(reply.status == 206)
        #expect(reply["content-range"] == "bytes 500-999/2000")
        #expect(reply["etag"] == "\"a\"")
    }

    @Test func wholeWindowIsAWholeFile() {
        let reply = shown(
            206, ["content-range": "bytes 1000-2999/10000", "content-length": "2000"])
        #expect(reply.status == 200)
        #expect(reply["content-range"] == nil)
        #expect(reply.contentLength == 2000)
    }

    @Test func headStatesTheLengthOfTheWindow() {
        #expect(shown(200, ["content-length": "10000"], by: .head).contentLength == 2000)
        // Another size is another version.
        #expect(shown(200, ["content-length": "10001"], by: .head).contentLength == 10_001)
        #expect(shown(200, ["content-length": "2000"], by: .head).contentLength == nil)
    }

    /// The body of a server that ignores the range is never taken for that of the window, not even
    /// without a length, and if the whole window was requested.
    @Test(arguments: [nil, "10000", "2000", "9999"], [nil, ByteRange(0, 500)])
    func wholeFileIsNotTheWindow(length: String?, asked: ByteRange?) {
        for field in [nil, "bytes 0-9999/10000"] {
            let fields = ["content-length": length, "content-range": field, "etag": "\"a\""]
            let reply = shown(200, fields.compactMapValues(\.self), asked: asked)
            let check = ResponseCheck(
                asked: asked, identity: RemoteIdentity(size: 2000, etag: "\"a\""),
                sentIfRange: false)
            guard case .breach = check.verdict(on: reply) else {
                Issue.record("\(reply) was accepted")
                return
            }
        }
    }

    @Test(arguments: [
        "bytes 1000-1499/2000", "bytes 0-1999/2000", "bytes 0-499/10000", "bytes 1000-1499/9999",
        "bytes 2900-3000/10000",
    ])
    func otherPartsAreNotTheWindow(field: String) {
        let reply = shown(206, ["content-range": field], asked: ByteRange(0, 500))
        let check = ResponseCheck(
            asked: ByteRange(0, 500), identity: RemoteIdentity(size: 2000), sentIfRange: false)
        guard case .breach = check.verdict(on: reply) else {
            Issue.record("\(field) was accepted as \(reply["content-range"] ?? "nothing")")
            return
        }
    }

    @Test func digestsOfTheWholeFileAreRemoved() {
        let reply = shown(
            206,
            [
                "content-range": "bytes 1000-1499/10000", "repr-digest": "sha-256=:AA==:",
                "x-linked-etag": "\"00\"", "content-digest": "sha-256=:BB==:",
            ], asked: ByteRange(0, 500))
        #expect(reply["repr-digest"] == nil && reply["x-linked-etag"] == nil)
        #expect(reply["content-digest"] != nil)
    }

    @Test func unsatisfiedRangeStatesTheWindow() {
        #expect(shown(416, ["content-range": "bytes */10000"])["content-range"] == "bytes */2000")
        #expect(shown(416, ["content-range": "bytes */9"])["content-range"] == "bytes */9")
    }
}
