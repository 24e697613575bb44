import TestSupport
import Testing

/// Tests the origin as a correct server, with curl.
@Suite(.timeLimit(.minutes(5)))
struct OriginFileTests {
    static let content = Content(size: 3_000_000, seed: 11)
    static let etag = "\"v1\""
    static let date = "Tue, 15 Nov 1994 12:45:26 GMT"

    static func origin() throws -> Origin {
        try Origin { request in
            .file(content, for: request, etag: etag, lastModified: date)
        }
    }

    @Test func servesWholeFile() throws {
        let origin = try Self.origin()
        let reply = try Curl.get(origin.url("/a?b=c"))
        #expect(reply.exitCode == 0)
        #expect(reply.status == 200)
        #expect(Self.content.matches(reply.body, in: 0..<3_000_000))
        #expect(reply.header("ETag") == Self.etag)
        #expect(reply.header("Last-Modified") == Self.date)
        #expect(reply.header("Accept-Ranges") == "bytes")
        #expect(reply.header("Content-Length") == "3000000")
        #expect(try #require(reply.header("Date")).hasSuffix(" GMT"))
        #expect(origin.requests.map(\.target) == ["/a?b=c"])
        #expect(origin.requests.map(\.path) == ["/a"])
        #expect(origin.bytesServed == 3_000_000)
        #expect(origin.requests[0].bytesServed == 3_000_000)
        #expect(origin.requests[0].status == 200)
        #expect(eventually { origin.openConnections == 0 })
    }

    @Test func headReplyHasNoBody() throws {
        let origin = try Self.origin()
        let reply = try Curl.get("--head", origin.url("/a"))
        #expect(reply.exitCode == 0)
        #expect(reply.header("Content-Length") == "3000000")
        #expect(origin.bytesServed == 0)
        #expect(origin.requests.map(\.method) == ["HEAD"])
    }

    @Test(
        arguments: [
            ("0-0", 0..<1), ("1000-99999", 1000..<100_000), ("2999999-", 2_999_999..<3_000_000),
            ("10-9000000", 10..<3_000_000),
        ] as [(String, Range<Int64>)])
    func servesRanges(asked: String, served: Range<Int64>) throws {
        let origin = try Self.origin()
        let reply = try Curl.get("-r", asked, origin.url("/a"))
        #expect(reply.status == 206)
        #expect(Self.content.matches(reply.body, in: served))
        #expect(
            reply.header("Content-Range")
                == "bytes \(served.lowerBound)-\(served.upperBound - 1)/3000000")
    }

    @Test func refusesRangeAfterEnd() throws {
        let origin = try Self.origin()
        let reply = try Curl.get("-r", "3000000-", origin.url("/a"))
        #expect(reply.status == 416)
        #expect(reply.header("Content-Range") == "bytes */3000000")
        #expect(reply.body.isEmpty)
    }

    @Test(arguments: [
        ("\"v1\"", 206), ("\"v2\"", 200), ("W/\"v1\"", 200), (date, 206),
        ("Tue, 15 Nov 1994 12:45:27 GMT", 200),
    ])
    func respectsIfRange(value: String, status: Int) throws {
        let origin = try Self.origin()
        let reply = try Curl.get("-r", "5-9", "-H", "If-Range: \(value)", origin.url("/a"))
        #expect(reply.status == status)
        #expect(Self.content.matches(reply.body, in: status == 206 ? 5..<10 : 0..<3_000_000))
    }

    @Test func weakTagNeverMatchesIfRange() throws {
        let origin = try Origin { .file(Self.content, for: $0, etag: "W/\"v1\"") }
        let reply = try Curl.get("-r", "5-9", "-H", "If-Range: W/\"v1\"", origin.url("/a"))
        #expect(reply.status == 200)
    }

    @Test func ignoresRangesIfDisabled() throws {
        let origin = try Origin { .file(Self.content, for: $0, ranges: false) }
        let reply = try Curl.get("-r", "5-9", origin.url("/a"))
        #expect(reply.status == 200)
        #expect(reply.body.count == 3_000_000)
        #expect(reply.header("ETag") == nil)
    }

    @Test func otherMethodsAreRefused() throws {
        let origin = try Self.origin()
        #expect(try Curl.get("-X", "DELETE", origin.url("/a")).status == 405)
    }

    @Test func keepsConnectionOpen() throws {
        let origin = try Self.origin()
        let url = origin.url("/a")
        let reply = try Curl.get("-r", "0-9", url, url, url)
        #expect(reply.connections == 1)
        #expect(
            reply.body == Array([[UInt8]](repeating: Self.content.bytes(0..<10), count: 3).joined())
        )
        #expect(origin.requests.map(\.connection) == [1, 1, 1])
        #expect(origin.requests.map(\.numberOnConnection) == [1, 2, 3])
        #expect(origin.requests.map(\.number) == [1, 2, 3])
        #expect(origin.acceptedConnections == 1)
    }

    @Test func formatsIMFFixdate() {
        #expect(httpDate(unixTime: 784_903_526) == Self.date)
        #expect(httpDate().count == 29)
    }
}
