import Assembler
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests the check of a response's head, as a table.
@Suite struct ResponseCheckTests {
    static let monday = "Mon, 01 Jan 2024 00:00:00 GMT"
    static let tuesday = "Tue, 02 Jan 2024 00:00:00 GMT"
    static let asked = ByteRange(100, 200)

    static let tagged = RemoteIdentity(size: 1000, etag: "\"a\"")
    static let weak = RemoteIdentity(size: 1000, etag: "W/\"a\"")
    static let dated = RemoteIdentity(
        size: 1000, lastModified: monday, lastModifiedIsStrong: true)
    static let both = RemoteIdentity(size: 1000, etag: "\"a\"", lastModified: monday)
    static let weakAndDated = RemoteIdentity(
        size: 1000, etag: "W/\"a\"", lastModified: monday)
    static let wednesday = "Wed, 03 Jan 2024 00:00:00 GMT"
    static let tagByHead = tagged.with { $0.headOnly = .etag }
    static let dateByHead = dated.with { $0.headOnly = .lastModified }
    static let coded = tagged.with { $0.coding = "gzip" }
    static let decoded = RemoteIdentity(size: nil, coding: "gzip")
    static let bare = RemoteIdentity(size: 1000)
    static let unsized = RemoteIdentity(size: nil, etag: "\"a\"")

    /// A row of the table: a request, its response, and the expected verdict.
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var identity = tagged
        var asked: ByteRange? = ResponseCheckTests.asked
        var sentIfRange = true
        var vouched: Set<String> = []
        var isDecoded = false
        var status = 206
        /// The header fields that differ; `nil` removes a field.
        var fields: [String: String?] = [:]
        var expected: ResponseCheck.Verdict
        var testDescription: String { name }

        var reply: Reply {
            var all: [String: String?] = ["etag": identity.etag]
            if status == 206 || sentIfRange && fields.keys.contains("content-range") {
                all["content-range"] = "bytes 100-199/1000"
                all["content-length"] = "100"
            }
            for (name, value) in fields { all[name] = value }
            return Reply(status: status, fields: all.compactMapValues { $0 })
        }

        /// Returns a row about a 206 to a request for 100..<200.
        static func partial(
            _ name: String, _ identity: RemoteIdentity = tagged, ifRange: Bool = true,
            vouched: Set<String> = [], status: Int = 206,
            fields: [String: String?] = [:], is expected: ResponseCheck.Verdict
        ) -> Row {
            Row(
                name: "\(status): " + name, identity: identity, sentIfRange: ifRange,
                vouched: vouched, status: status, fields: fields, expected: expected)
        }

        /// Returns a row about a 200 to a request for the whole file, or for `asked`.
        static func whole(
            _ name: String, _ identity: RemoteIdentity = tagged, asked: ByteRange? = nil,
            fields: [String: String?] = [:], is expected: ResponseCheck.Verdict
        ) -> Row {
            Row(
                name: "200: " + name, identity: identity, asked: asked, sentIfRange: asked != nil,
                status: 200, fields: fields, expected: expected)
        }
    }

    static let good = ResponseCheck.Verdict.accept(asked)

    static let ranges: [Row] = [
        .partial("the requested range", is: good),
        .partial("without a length", fields: ["content-length": nil], is: good),
        .partial(
            "shorter than requested",
            fields: ["content-range": "bytes 100-149/1000", "content-length": "50"],
            is: .accept(ByteRange(100, 150))),
        .partial(
            "one byte", fields: ["content-range": "bytes 100-100/1000", "content-length": "1"],
            is: .accept(ByteRange(100, 101))),
        .partial(
            "longer than requested",
            fields: ["content-range": "bytes 100-200/1000", "content-length": "101"],
            is: .breach(.otherRange(asked: asked, got: ByteRange(100, 201)))),
        .partial(
            "another start", fields: ["content-range": "bytes 99-198/1000"],
            is: .breach(.otherRange(asked: asked, got: ByteRange(99, 199)))),
        .partial(
            "a later start",
            fields: ["content-range": "bytes 101-199/1000", "content-length": "99"],
            is: .breach(.otherRange(asked: asked, got: ByteRange(101, 200)))),
        .partial(
            "from the beginning", fields: ["content-range": "bytes 0-99/1000"],
            is: .breach(.otherRange(asked: asked, got: ByteRange(0, 100)))),
        .partial(
            "another total", fields: ["content-range": "bytes 100-199/1001"],
            is: .breach(.otherSize(expected: 1000, got: 1001))),
        .partial(
            "a total although the size was unknown", unsized,
            is: .breach(.otherSize(expected: nil, got: 1000))),
        .partial(
            "an unknown total", fields: ["content-range": "bytes 100-199/*"],
            is: .breach(.contentRangeUnusable("bytes 100-199/*"))),
        .partial(
            "no Content-Range", fields: ["content-range": nil],
            is: .breach(.contentRangeUnusable(nil))),
        .partial(
            "an empty Content-Range", fields: ["content-range": ""],
            is: .breach(.contentRangeUnusable(""))),
        .partial(
            "an unsatisfied Content-Range", fields: ["content-range": "bytes */1000"],
            is: .breach(.contentRangeUnusable("bytes */1000"))),
        .partial(
            "several ranges",
            fields: ["content-range": nil, "content-type": "multipart/byteranges; boundary=x"],
            is: .breach(.severalRanges)),
        .partial(
            "several ranges with a Content-Range",
            fields: ["content-type": "Multipart/ByteRanges"], is: .breach(.severalRanges)),
        .partial(
            "two lengths", fields: ["content-length": "100, 99"],
            is: .breach(.contentLengthUnusable("100, 99"))),
        .partial("the same length twice", fields: ["content-length": "100, 100"], is: good),
        .partial(
            "two fields in one",
            fields: ["content-range": "bytes 100-199/1000, bytes 100-199/1000"],
            is: .breach(.contentRangeUnusable("bytes 100-199/1000, bytes 100-199/1000"))),
        .partial(
            "another length", fields: ["content-length": "99"],
            is: .breach(.otherLength(expected: 100, got: 99))),
        .partial(
            "the length of the whole", fields: ["content-length": "1000"],
            is: .breach(.otherLength(expected: 100, got: 1000))),
        .partial(
            "gzip", fields: ["content-encoding": "gzip"], is: .breach(.contentCoding("gzip"))),
        .partial("identity as a coding", fields: ["content-encoding": "Identity"], is: good),
        Row(
            name: "206 to a request without a range", asked: nil, sentIfRange: false,
            expected: .breach(.unexpectedStatus(206))),
    ]

    static let validators: [Row] = [
        .partial(
            "another tag", fields: ["etag": "\"b\""],
            is: .breach(.otherETag(expected: "\"a\"", got: "\"b\""))),
        .partial(
            "no tag", fields: ["etag": nil], is: .breach(.otherETag(expected: "\"a\"", got: nil))),
        .partial(
            "a weak tag instead of a strong one", fields: ["etag": "W/\"a\""],
            is: .breach(.otherETag(expected: "\"a\"", got: "W/\"a\""))),
        .partial(
            "a tag with another date", both, fields: ["last-modified": tuesday],
            is: .breach(.otherLastModified(expected: monday, got: tuesday))),
        .partial(
            "a tag with another date, for which a sample matched", both,
            vouched: [tuesday], fields: ["last-modified": tuesday], is: good),
        .partial(
            "a tag with a third date", both, vouched: [tuesday],
            fields: ["last-modified": wednesday],
            is: .breach(.otherLastModified(expected: monday, got: wednesday))),
        .partial("a tag without the date", both, is: good),
        .partial("no tag if only `HEAD` states one", tagByHead, fields: ["etag": nil], is: good),
        .partial(
            "another tag if only `HEAD` states one", tagByHead, fields: ["etag": "\"b\""],
            is: .breach(.otherETag(expected: "\"a\"", got: "\"b\""))),
        .partial("no date if only `HEAD` states one", dateByHead, ifRange: false, is: good),
        .partial(
            "another date if only `HEAD` states one", dateByHead, ifRange: false,
            fields: ["last-modified": tuesday],
            is: .breach(.otherLastModified(expected: monday, got: tuesday))),
        .partial("the same weak tag", weak, ifRange: false, fields: ["etag": "W/\"a\""], is: good),
        .partial(
            "another weak tag", weak, ifRange: false, fields: ["etag": "W/\"b\""],
            is: .breach(.otherETag(expected: "W/\"a\"", got: "W/\"b\""))),
        .partial("the same date", dated, fields: ["last-modified": monday], is: good),
        .partial(
            "another date", dated, fields: ["last-modified": tuesday],
            is: .breach(.otherLastModified(expected: monday, got: tuesday))),
        .partial("no date, compared by the server", dated, is: good),
        .partial(
            "no date, not compared by the server", dated, ifRange: false,
            is: .breach(.otherLastModified(expected: monday, got: nil))),
        .partial("nothing to compare", bare, ifRange: false, is: good),
        .partial(
            "a new tag", bare, ifRange: false, fields: ["etag": "\"b\""],
            is: .breach(.otherETag(expected: nil, got: "\"b\""))),
        .partial(
            "a new date", bare, ifRange: false, fields: ["last-modified": monday],
            is: .breach(.otherLastModified(expected: nil, got: monday))),
        .partial(
            "the same strong tag with a new date", fields: ["last-modified": monday],
            is: good),
        .partial(
            "a new tag with the same date", dated,
            fields: ["etag": "\"b\"", "last-modified": monday],
            is: .breach(.otherETag(expected: nil, got: "\"b\""))),
        .partial(
            "the same weak tag with another date", weakAndDated, ifRange: false,
            fields: ["last-modified": tuesday],
            is: .breach(.otherLastModified(expected: monday, got: tuesday))),
        .partial("the same weak tag without the date", weakAndDated, ifRange: false, is: good),
        .partial(
            "the same weak tag with a new date", weak, ifRange: false,
            fields: ["etag": "W/\"a\"", "last-modified": monday],
            is: .breach(.otherLastModified(expected: nil, got: monday))),
        .partial(
            "tag and size differ",
            fields: ["etag": "\"b\"", "content-range": "bytes 100-199/7000"],
            is: .breach(.otherSize(expected: 1000, got: 7000))),
    ]

    static let wholes: [Row] = [
        .whole(
            "the whole file", fields: ["content-length": "1000"], is: .accept(ByteRange(0, 1000))),
        .whole("the whole file, no length", is: .accept(ByteRange(0, 1000))),
        .whole(
            "a length beyond Int64", unsized,
            fields: ["content-length": "9223372036854775808"],
            is: .breach(.contentLengthUnusable("9223372036854775808"))),
        .whole(
            "two lengths", fields: ["content-length": "1000, 7"],
            is: .breach(.contentLengthUnusable("1000, 7"))),
        .whole(
            "a file of type multipart/byteranges",
            fields: ["content-length": "1000", "content-type": "multipart/byteranges"],
            is: .accept(ByteRange(0, 1000))),
        .whole("unknown size, no length", unsized, is: .accept(nil)),
        .whole(
            "unknown size, a length", unsized, fields: ["content-length": "70"],
            is: .accept(ByteRange(0, 70))),
        .whole(
            "another length", fields: ["content-length": "999"],
            is: .breach(.otherSize(expected: 1000, got: 999))),
        .whole(
            "another tag", fields: ["content-length": "1000", "etag": "\"b\""],
            is: .breach(.otherETag(expected: "\"a\"", got: "\"b\""))),
        .whole(
            "no date", dated, fields: ["content-length": "1000"],
            is: .breach(.otherLastModified(expected: monday, got: nil))),
        .whole("gzip", fields: ["content-encoding": "gzip"], is: .breach(.contentCoding("gzip"))),
        .whole(
            "to a range", asked: asked, fields: ["content-length": "1000"],
            is: .breach(.wholeFileForRange)),
        .whole("to a range, no length", asked: asked, is: .breach(.wholeFileForRange)),
        .whole(
            "to a range that is the file", asked: ByteRange(0, 1000),
            fields: ["content-length": "1000"], is: .breach(.wholeFileForRange)),
        .whole(
            "of the range's length to a range", asked: asked, fields: ["content-length": "100"],
            is: .breach(.otherSize(expected: 1000, got: 100))),
        .whole(
            "another version to a range", asked: asked,
            fields: ["content-length": "1000", "etag": "\"b\""],
            is: .breach(.otherETag(expected: "\"a\"", got: "\"b\""))),
        .whole(
            "gzip to a range", asked: asked, fields: ["content-encoding": "gzip"],
            is: .breach(.contentCoding("gzip"))),
    ]

    @Test(arguments: ranges + validators + wholes + partsBy200 + codings)
    func judgesResponseHead(row: Row) {
        let check = ResponseCheck(
            asked: row.asked, identity: row.identity, sentIfRange: row.sentIfRange,
            vouchedDates: row.vouched, isDecoded: row.isDecoded)
        #expect(check.verdict(on: row.reply) == row.expected)
    }

    @Test(
        arguments: [
            (201, .breach(.unexpectedStatus(201))), (204, .breach(.unexpectedStatus(204))),
            (205, .breach(.unexpectedStatus(205))), (207, .breach(.unexpectedStatus(207))),
            (301, .status(301)), (302, .status(302)),
            (304, .breach(.unexpectedStatus(304))), (416, .breach(.rangeNotSatisfiable)),
            (400, .status(400)), (401, .status(401)), (403, .status(403)), (404, .status(404)),
            (410, .status(410)), (412, .status(412)), (429, .status(429)), (500, .status(500)),
            (503, .status(503)), (599, .status(599)),
        ] as [(Int, ResponseCheck.Verdict)])
    func rejectsOtherStatusCodes(status: Int, expected: ResponseCheck.Verdict) {
        for asked in [Self.asked, nil] {
            let check = ResponseCheck(asked: asked, identity: Self.tagged, sentIfRange: true)
            // The fields match the request.
            let reply = Reply(
                status: status,
                fields: [
                    "etag": "\"a\"", "content-range": "bytes 100-199/1000",
                    "content-length": "100",
                ])
            #expect(check.verdict(on: reply) == expected)
        }
    }

    @Test(
        arguments: [
            ("bytes */1000", .rangeRefused), ("bytes */999", .rangeNotSatisfiable),
            ("bytes */*", .rangeNotSatisfiable), (nil, .rangeNotSatisfiable),
        ] as [(String?, ContractBreach)])
    func distinguishesRefusedRangeFromShorterFile(field: String?, expected: ContractBreach) {
        let check = ResponseCheck(asked: Self.asked, identity: Self.tagged, sentIfRange: true)
        let reply = Reply(status: 416, fields: field.map { ["content-range": $0] } ?? [:])
        #expect(check.verdict(on: reply) == .breach(expected))
    }

    @Test func distinguishesAnotherVersionFromBreach() {
        let versions: [ContractBreach] = [
            .otherSize(expected: 1, got: 2), .otherETag(expected: "\"a\"", got: nil),
            .otherLastModified(expected: "x", got: nil), .rangeNotSatisfiable,
        ]
        let others: [ContractBreach] = [
            .wholeFileForRange, .rangeRefused, .unexpectedStatus(204), .contentRangeUnusable(nil),
            .otherRange(asked: Self.asked, got: Self.asked), .otherLength(expected: 1, got: 2),
            .contentCoding("gzip"), .bodyTooLong, .contentLengthUnusable(""), .severalRanges,
            .headTooLong,
        ]
        #expect(versions.allSatisfy { $0.isAnotherVersion })
        #expect(!others.contains { $0.isAnotherVersion })
    }
}
