import Assembler

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

// Rows about partial responses with status code 200, and about content codings.
extension ResponseCheckTests {
    /// Partial responses with status code 200, which some servers send for a range.
    static let partsBy200: [Row] = [
        .partial(
            "the requested part", status: 200,
            fields: ["content-range": "bytes 100-199/1000"], is: good),
        .partial(
            "the part, without a length", status: 200,
            fields: ["content-range": "bytes 100-199/1000", "content-length": nil], is: good),
        .partial(
            "the part of another version", status: 200,
            fields: ["content-range": "bytes 100-199/1000", "etag": "\"b\""],
            is: .breach(.otherETag(expected: "\"a\"", got: "\"b\""))),
        .partial(
            "another total", status: 200, fields: ["content-range": "bytes 100-199/999"],
            is: .breach(.otherSize(expected: 1000, got: 999))),
        .partial(
            "less than requested", status: 200,
            fields: ["content-range": "bytes 100-149/1000", "content-length": "50"],
            is: .breach(.otherRange(asked: asked, got: ByteRange(100, 150)))),
        .partial(
            "another start", status: 200, fields: ["content-range": "bytes 0-99/1000"],
            is: .breach(.otherRange(asked: asked, got: ByteRange(0, 100)))),
        .partial(
            "the length of the whole", status: 200,
            fields: ["content-range": "bytes 100-199/1000", "content-length": "1000"],
            is: .breach(.otherLength(expected: 100, got: 1000))),
        .partial(
            "no total", status: 200, fields: ["content-range": "bytes 100-199/*"],
            is: .breach(.contentRangeUnusable("bytes 100-199/*"))),
        .partial(
            "an invalid Content-Range", status: 200, fields: ["content-range": "100-199"],
            is: .breach(.contentRangeUnusable("100-199"))),
        .partial(
            "several ranges", status: 200,
            fields: ["content-type": "multipart/byteranges; boundary=x"],
            is: .breach(.severalRanges)),
        .whole(
            "a part that was not requested",
            fields: ["content-range": "bytes 0-99/1000", "content-length": "100"],
            is: .breach(.otherRange(asked: ByteRange(0, 1000), got: ByteRange(0, 100)))),
        .whole(
            "the whole file with its range",
            fields: ["content-range": "bytes 0-999/1000", "content-length": "1000"],
            is: .accept(ByteRange(0, 1000))),
    ]

    static let codings: [Row] = [
        .partial("the same coding", coded, fields: ["content-encoding": "gzip"], is: good),
        .partial(
            "the same coding in capitals", coded, fields: ["content-encoding": "GZIP"], is: good),
        .partial(
            "another coding", coded, fields: ["content-encoding": "br"],
            is: .breach(.contentCoding("br"))),
        .partial("no coding", coded, is: .breach(.contentCoding("identity"))),
        .partial("values without a coding", fields: ["content-encoding": "utf-8, none"], is: good),
        Row(
            name: "200: decoded", identity: decoded, asked: nil, sentIfRange: false,
            isDecoded: true, status: 200,
            fields: [
                "content-encoding": "gzip", "content-length": "70", "etag": "\"z\"",
                "last-modified": tuesday,
            ], expected: .accept(nil)),
        Row(
            name: "200: decoded before, not encoded", identity: decoded, asked: nil,
            sentIfRange: false, isDecoded: true, status: 200, fields: ["content-length": "70"],
            expected: .breach(.contentCoding("identity"))),
    ]
}

extension RemoteIdentity {
    /// Returns a changed copy of this identity.
    func with(_ change: (inout RemoteIdentity) -> Void) -> RemoteIdentity {
        var copy = self
        change(&copy)
        return copy
    }
}
