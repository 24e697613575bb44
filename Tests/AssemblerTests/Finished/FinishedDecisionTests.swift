import Testing

@testable import Assembler

@Suite struct FinishedDecisionTests {
    private static let url = "https://example.org/f"
    private static let full = "https://example.org/f?key=1"
    private static let date = "Mon, 01 Jan 2024 00:00:00 GMT"
    private static let strong = RemoteIdentity(size: 100, etag: "\"a\"")
    private static let dated = RemoteIdentity(
        size: 100, lastModified: date, lastModifiedIsStrong: true)

    /// One row: the known facts, the files, the server's offer and the expected decision.
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var known = FinishedDecisionTests.strong
        var size: Int64 = 100
        var offered = FinishedDecisionTests.strong
        var fullURL = FinishedDecisionTests.full
        var url = FinishedDecisionTests.url
        var otherURLs: [String] = []
        var expected: FinishedDecision

        init(
            _ name: String, _ expected: FinishedDecision, _ change: (inout Row) -> Void = { _ in }
        ) {
            testDescription = name
            self.expected = expected
            change(&self)
        }
    }

    static let rows: [Row] = [
        Row("the same", .same),
        Row("the same by its date", .same) { ($0.known, $0.offered) = (dated, dated) },
        Row("resized", .doubtful(.resized(was: 100, now: 99))) { $0.size = 99 },
        Row("another size is offered", .doubtful(.remote(.sizeChanged(was: 100, now: 101)))) {
            $0.offered.size = 101
        },
        Row("another tag", .doubtful(.remote(.etagChanged(was: "\"a\"", now: "\"b\"")))) {
            $0.offered.etag = "\"b\""
        },
        Row("no tag any more", .doubtful(.remote(.etagChanged(was: "\"a\"", now: nil)))) {
            $0.offered.etag = nil
        },
        Row("a weak tag proves nothing", .doubtful(.remote(.noValidator))) {
            $0.known.etag = "W/\"a\""
            $0.offered.etag = "W/\"a\""
        },
        Row("a weak date proves nothing", .doubtful(.remote(.noValidator))) {
            $0.known = RemoteIdentity(size: 100, lastModified: date)
            $0.offered = $0.known
        },
        Row("another date", .doubtful(.remote(.lastModifiedChanged(was: date, now: "x")))) {
            $0.known = dated
            $0.offered = RemoteIdentity(size: 100, lastModified: "x", lastModifiedIsStrong: true)
        },
        Row("a size that was never stated", .same) {
            $0.known.size = nil
            $0.offered.size = nil
        },
        Row("another query, and the same strong tag", .same) {
            $0.fullURL = url + "?key=2"
        },
        Row("another query, and only a date", .doubtful(.otherURL)) {
            ($0.known, $0.offered) = (dated, dated)
            $0.fullURL = url + "?key=2"
        },
        Row("another query, the same date and no tag", .doubtful(.otherURL)) {
            $0.known = RemoteIdentity(
                size: 100, etag: "\"a\"", lastModified: date, lastModifiedIsStrong: true)
            $0.offered = dated
            $0.fullURL = url + "?key=2"
        },
        Row("another path with the same tag", .doubtful(.otherURL)) {
            $0.fullURL = "https://example.org/g"
            $0.url = $0.fullURL
        },
        Row("a mirror with the same tag", .same) {
            $0.fullURL = "https://example.org/g"
            $0.url = $0.fullURL
            $0.otherURLs = [full]
        },
        Row("a mirror, and only a date", .doubtful(.otherURL)) {
            ($0.known, $0.offered) = (dated, dated)
            $0.fullURL = "https://example.org/g"
            $0.url = $0.fullURL
            $0.otherURLs = [full]
        },
    ]

    @Test(arguments: rows) func decides(row: Row) {
        let facts = FinishedFacts(
            header: .init(identity: row.known, url: Self.url, fullURL: Self.full, generation: 7),
            size: 100, digests: [Digest(crc32: 1)], extents: [])
        let decision = FinishedDecision(
            facts, size: row.size, offered: row.offered, fullURL: row.fullURL, url: row.url,
            otherURLs: row.otherURLs)
        #expect(decision == row.expected)
    }

    /// `size`, `time`, known ETag, offered size, offered ETag, offered time, expected decision.
    static let times: [(Int64, Int64, String?, Int64?, String?, Int64?, TimestampDecision)] = [
        (100, 50, nil, 100, nil, 50, .keep),
        (100, 50, nil, 100, nil, 49, .keep),
        (100, 50, nil, 100, nil, 51, .fetch),
        (100, 50, nil, nil, nil, 50, .keep),
        (100, 50, nil, 99, nil, 49, .fetch),
        (100, 50, nil, 100, nil, nil, .fetch),
        (100, 50, nil, 100, "\"a\"", 49, .keep),
        (100, 50, "\"a\"", 100, "\"a\"", 51, .keep),
        (100, 50, "\"a\"", 100, "\"b\"", 49, .fetch),
        (100, 50, "\"a\"", 100, nil, 49, .keep),
        (100, 50, "\"a\"", 101, "\"a\"", 49, .fetch),
    ]

    @Test(arguments: times.indices) func decidesByTime(index: Int) {
        let (size, time, tag, offeredSize, offeredTag, modified, expected) = Self.times[index]
        // The base is long after the epoch, because dates near it are placeholders.
        let base: Int64 = 1_700_000_000
        let decision = TimestampDecision(
            size: size, time: base + time, known: tag.map { RemoteIdentity(size: size, etag: $0) },
            offered: RemoteIdentity(size: offeredSize, etag: offeredTag),
            modified: modified.map { base + $0 })
        #expect(decision == expected)
    }
}
