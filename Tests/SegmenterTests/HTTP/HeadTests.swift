import Assembler
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests how a response to `HEAD` is used.
@Suite struct HeadTests {
    /// Each row has the status code and the header fields of a response to `HEAD`, and its defect.
    @Test(
        arguments: [
            (200, ["content-length": "5", "accept-ranges": "bytes"], nil),
            (200, ["content-length": "5", "accept-ranges": "Bytes"], nil),
            (200, ["content-length": "5"], "did not offer byte ranges"),
            (200, ["content-length": "5", "accept-ranges": "none"], "did not offer byte ranges"),
            (200, ["accept-ranges": "bytes"], "stated no length"),
            (200, ["content-length": "5, 5", "accept-ranges": "bytes"], nil),
            (200, ["content-length": "5, 6", "accept-ranges": "bytes"], "stated no length"),
            (
                200, ["content-length": "9223372036854775807", "accept-ranges": "bytes"],
                "stated no length"
            ),
            (200, ["content-length": "-1", "accept-ranges": "bytes"], "stated no length"),
            (200, ["content-length": "0", "accept-ranges": "bytes"], "stated a length of 0"),
            (
                200, ["content-length": "5", "accept-ranges": "bytes", "content-encoding": "gzip"],
                "stated a content coding"
            ),
            (
                200,
                ["content-length": "5", "accept-ranges": "bytes", "content-encoding": "utf-8"],
                nil
            ),
            (
                200,
                [
                    "content-length": "5", "accept-ranges": "bytes",
                    "content-range": "bytes 0-4/10",
                ], "stated a range"
            ),
            (204, ["content-length": "5", "accept-ranges": "bytes"], "was answered 204"),
            (206, ["content-length": "5", "accept-ranges": "bytes"], "was answered 206"),
            (403, ["content-length": "5", "accept-ranges": "bytes"], "was answered 403"),
            (404, [:], "was answered 404"), (405, [:], "was answered 405"),
            (501, [:], "was answered 501"), (503, [:], "was answered 503"),
        ] as [(Int, [String: String], String?)])
    func reportsProblemOfHead(status: Int, fields: [String: String], problem: String?) {
        let reply = Reply(status: status, fields: fields)
        let coding = reply.coding.map {
            ContentCoding($0, names: ["file.bin"], type: nil, decodable: ["gzip"])
        }
        #expect(Probe.headProblem(reply, coding) == problem)
    }

    private static let monday = "Mon, 01 Jan 2024 00:00:00 GMT"
    private static let tuesday = "Tue, 02 Jan 2024 00:00:00 GMT"

    /// Validators that only `HEAD` states are kept, unless the response to `GET` contradicts them.
    @Test func keepsValidatorsThatOnlyHeadStates() {
        let said = RemoteIdentity(
            size: 10, etag: "\"a\"", lastModified: Self.monday, lastModifiedIsStrong: true)
        func remembered(_ got: RemoteIdentity) -> RemoteIdentity {
            var got = got
            got.remember(said)
            return got
        }
        let bare = remembered(RemoteIdentity(size: 10))
        #expect(bare.etag == "\"a\"" && bare.lastModified == Self.monday)
        #expect(bare.lastModifiedIsStrong && bare.headOnly == [.etag, .lastModified])
        // A validator that `GET` does not state is not sent as a condition.
        #expect(bare.ifRange == nil && bare.strongValidator == "\"a\"")
        let tagged = remembered(RemoteIdentity(size: 10, etag: "\"a\""))
        #expect(tagged.lastModified == Self.monday && tagged.headOnly == .lastModified)
        #expect(tagged.ifRange == "\"a\"")
        for other in [
            RemoteIdentity(size: 11), RemoteIdentity(size: 10, etag: "\"b\""),
            RemoteIdentity(size: 10, lastModified: Self.tuesday),
            RemoteIdentity(size: 10, coding: "gzip"),
        ] {
            #expect(remembered(other) == other)
        }
        #expect(remembered(said) == said)
    }
}
