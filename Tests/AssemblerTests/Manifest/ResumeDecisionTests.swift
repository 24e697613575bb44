import Testing

@testable import Assembler

@Suite struct ResumeDecisionTests {
    private static let url = "https://example.org/f"
    private static let full = "https://example.org/f?key=1"
    private static let strong = RemoteIdentity(size: 100, etag: "\"a\"")
    private static let dated = RemoteIdentity(
        size: 100, lastModified: "Mon, 01 Jan 2024 00:00:00 GMT", lastModifiedIsStrong: true)

    private static let checksum = Digest(crc32: 9)

    typealias Change = @Sendable (inout ResumeDecision.Situation) -> Void

    /// One row: the difference from an earlier run that can be resumed, and the expected decision.
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var expected: String
        var change: Change
        var testDescription: String { name }

        init(_ name: String, _ expected: String, _ change: @escaping Change) {
            self.name = name
            self.expected = expected
            self.change = change
        }
    }

    private static func manifest(
        _ identity: RemoteIdentity = strong, hasExtents: Bool = true, rejected: String? = nil,
        finished: Int64? = nil, needsChecksum: Bool = false, isSampled: Bool? = nil
    ) -> Result<Manifest, Manifest.ReadError> {
        var header = Manifest.Header(
            identity: identity, url: url, fullURL: full, generation: 1,
            needsChecksum: needsChecksum)
        header.isSampled = isSampled
        let seed = Manifest.seed(generation: header.generation)
        return Result { () throws(Manifest.ReadError) in
            var manifest = try Manifest(reading: SealedLine.of(header, seed: seed))
            if hasExtents { manifest.extents.add(Extent(ByteRange(0, 10), crc: 1)) }
            manifest.rejected = rejected
            manifest.finished = finished
            return manifest
        }
    }

    private static func words(_ decision: ResumeDecision) -> String {
        switch decision {
        case .begin: "begin"
        case .resume(let manifest):
            "resume \(manifest.extents.covered.count)"
                + (manifest.header.needsChecksum == true ? ", by the checksum only" : "")
        case .startOver(let reason): "start over: \(reason)"
        case .refuse(let path): "refuse \(path)"
        }
    }

    /// The primary URL differs from the one with which the part was begun.
    private static func mirror(_ now: inout ResumeDecision.Situation) {
        (now.url, now.fullURL) = ("https://example.org/g", "https://example.org/g?key=1")
        now.otherURLs = [full, now.fullURL]
    }

    /// A new link replaced the URL with which the part was begun.
    private static func newLink(_ now: inout ResumeDecision.Situation) {
        (now.url, now.fullURL) = ("https://example.org/g", "https://example.org/g?key=1")
        now.isNewLink = true
    }

    private static let otherTag = StartOverReason.etagChanged(was: "\"a\"", now: "\"b\"")

    /// No validators, and a sample that matched.
    private static func sampled(_ now: inout ResumeDecision.Situation) {
        now.manifest = manifest(RemoteIdentity(size: 100))
        now.offered = RemoteIdentity(size: 100)
        now.sampled = "0000000000000001"
    }

    private static func over(_ reason: StartOverReason) -> String { "start over: \(reason)" }

    private static let otherDate = StartOverReason.lastModifiedChanged(
        was: both.lastModified, now: "x")

    private static let byChecksum = "resume 10, by the checksum only"

    /// Identified by a strong ETag and by a strong date.
    private static let both = RemoteIdentity(
        size: 100, etag: "\"a\"", lastModified: dated.lastModified, lastModifiedIsStrong: true)

    static let rows: [Row] = [
        Row("continues", "resume 10") { _ in },
        Row("nothing is there", "begin") { ($0.manifest, $0.partSize) = (nil, nil) },
        Row("an empty part is there", "begin") { ($0.manifest, $0.partSize) = (nil, 0) },
        Row("a foreign part", "refuse P") { $0.manifest = nil },
        Row("a foreign part may go", over(.manifestUnreadable)) {
            $0.manifest = nil
            $0.mayOverwrite = true
        },
        Row("a foreign manifest", "refuse M") {
            $0.manifest = .failure(.unreadable(isOurs: false))
        },
        Row("a foreign manifest without a part", "refuse M") {
            $0.manifest = .failure(.unreadable(isOurs: false))
            $0.partSize = nil
        },
        Row("a foreign manifest may go", over(.manifestUnreadable)) {
            $0.manifest = .failure(.unreadable(isOurs: false))
            $0.mayOverwrite = true
        },
        Row("a damaged manifest", over(.manifestUnreadable)) {
            $0.manifest = .failure(.unreadable(isOurs: true))
        },
        Row("another format version", over(.manifestVersion(9))) {
            $0.manifest = .failure(.version(9))
        },
        Row("a kept manifest without a part", "begin") {
            $0.manifest = manifest(finished: 100)
            $0.partSize = nil
        },
        Row("a kept manifest with a part", "resume 10") { $0.manifest = manifest(finished: 100) },
        Row("not wanted", over(.notWanted)) { $0.wantsResume = false },
        Row("rejected", over(.rejected)) { $0.manifest = manifest(rejected: "md5:00") },
        Row("rejected, and nothing recorded", over(.rejected)) {
            $0.manifest = manifest(hasExtents: false, rejected: "md5:00")
        },
        Row("rejected, even with a checksum", over(.rejected)) {
            $0.manifest = manifest(rejected: "md5:00")
            $0.checksum = checksum
        },
        Row("rejected, and that is the digest that is expected now", byChecksum) {
            $0.manifest = manifest(rejected: checksum.description)
            $0.checksum = checksum
        },
        Row(
            "the same, and the server has another version",
            over(.etagChanged(was: "\"a\"", now: "\"b\""))
        ) {
            $0.manifest = manifest(rejected: checksum.description)
            $0.checksum = checksum
            $0.offered.etag = "\"b\""
        },
        Row("the part is gone", over(.partMissing)) { $0.partSize = nil },
        Row("an empty part with a manifest", "resume 10") { $0.partSize = 0 },
        Row("another size", over(.sizeChanged(was: 100, now: 101))) { $0.offered.size = 101 },
        Row("another size, even with a checksum", over(.sizeChanged(was: 100, now: 101))) {
            $0.offered.size = 101
            $0.checksum = checksum
        },
        Row("another tag", over(.etagChanged(was: "\"a\"", now: "\"b\""))) {
            $0.offered.etag = "\"b\""
        },
        Row("another date", over(.lastModifiedChanged(was: dated.lastModified, now: "x"))) {
            $0.manifest = manifest(dated)
            $0.offered = RemoteIdentity(size: 100, lastModified: "x", lastModifiedIsStrong: true)
        },
        Row("the same date", "resume 10") {
            $0.manifest = manifest(dated)
            $0.offered = dated
        },
        Row("the same tag, another date", over(otherDate)) {
            $0.manifest = manifest(both)
            $0.offered.lastModified = "x"
        },
        Row("the same tag, another date, and a sample was the same", "resume 10") {
            $0.manifest = manifest(both)
            $0.offered.lastModified = "x"
            $0.sampled = "0000000000000001"
        },
        Row("the same tag, another date, and a sample of another part", over(otherDate)) {
            $0.manifest = manifest(both)
            $0.offered.lastModified = "x"
            $0.sampled = "0123456789abcdef"
        },
        Row("the same tag, another date, with a checksum", "resume 10, by the checksum only") {
            $0.manifest = manifest(both)
            $0.offered.lastModified = "x"
            $0.checksum = checksum
        },
        Row("another query, the same tag, another date", over(otherDate)) {
            $0.manifest = manifest(both)
            $0.offered.lastModified = "x"
            $0.fullURL = url + "?key=2"
        },
        Row("another query, the same tag, another date, sampled", over(.urlChanged)) {
            $0.manifest = manifest(both)
            $0.offered.lastModified = "x"
            $0.fullURL = url + "?key=2"
            $0.sampled = "0000000000000001"
        },
        Row("a mirror, the same tag, another date", over(otherDate)) {
            mirror(&$0)
            $0.manifest = manifest(both)
            $0.offered.lastModified = "x"
        },
        Row("no validator", over(.noValidator)) {
            $0.manifest = manifest(RemoteIdentity(size: 100))
            $0.offered = RemoteIdentity(size: 100)
        },
        Row("a checksum in place of a validator", byChecksum) {
            $0.manifest = manifest(RemoteIdentity(size: 100))
            $0.offered = RemoteIdentity(size: 100)
            $0.checksum = checksum
        },
        Row("a validator, and a checksum besides", "resume 10") { $0.checksum = checksum },
        Row("a sample in place of a validator", "resume 10") { sampled(&$0) },
        Row("a sample of another part", over(.noValidator)) {
            sampled(&$0)
            $0.sampled = "0000000000000002"
        },
        Row("a sample of what only a checksum holds together", over(.noValidator)) {
            sampled(&$0)
            $0.manifest = manifest(RemoteIdentity(size: 100), needsChecksum: true)
        },
        Row("a sample, another weak tag", over(.etagChanged(was: "W/\"a\"", now: "W/\"b\""))) {
            sampled(&$0)
            $0.manifest = manifest(RemoteIdentity(size: 100, etag: "W/\"a\""))
            $0.offered.etag = "W/\"b\""
        },
        Row("a sample, a tag that has gone", over(.etagChanged(was: "\"a\"", now: nil))) {
            sampled(&$0)
            $0.manifest = manifest()
        },
        Row("a sample, another size", over(.sizeChanged(was: 100, now: 99))) {
            sampled(&$0)
            $0.offered.size = 99
        },
        Row("a sample, another query", over(.urlChanged)) {
            sampled(&$0)
            $0.fullURL = url + "?key=2"
        },
        Row("a sample, no ranges", over(.noRanges)) {
            sampled(&$0)
            $0.servesRanges = false
        },
        Row("a sample, not wanted", over(.notWanted)) {
            sampled(&$0)
            $0.wantsResume = false
        },
        Row("no ranges", over(.noRanges)) { $0.servesRanges = false },
        Row("no size", over(.noRanges)) {
            $0.manifest = manifest(RemoteIdentity(size: nil))
            $0.offered = RemoteIdentity(size: nil)
        },
        Row("another query, same strong tag", "resume 10") { $0.fullURL = url + "?key=2" },
        Row("another query, strong date only", over(.urlChanged)) {
            $0.manifest = manifest(dated)
            $0.offered = dated
            $0.fullURL = url + "?key=2"
        },
        Row("another query, checksum", byChecksum) {
            $0.manifest = manifest(dated)
            $0.offered = dated
            $0.fullURL = url + "?key=2"
            $0.checksum = checksum
        },
        Row("another path, same strong tag", over(.urlChanged)) {
            ($0.url, $0.fullURL) = ("https://example.org/g", "https://example.org/g?key=1")
        },
        Row("another path, checksum", byChecksum) {
            ($0.url, $0.fullURL) = ("https://example.org/g", "https://example.org/g?key=1")
            $0.checksum = checksum
        },
        Row("a mirror, same strong tag", "resume 10") { mirror(&$0) },
        Row("a mirror, another tag", over(.etagChanged(was: "\"a\"", now: "\"b\""))) {
            mirror(&$0)
            $0.offered.etag = "\"b\""
        },
        Row("a mirror, another tag, checksum", byChecksum) {
            mirror(&$0)
            $0.offered.etag = "\"b\""
            $0.checksum = checksum
        },
        Row("a mirror, another size, checksum", over(.sizeChanged(was: 100, now: 101))) {
            mirror(&$0)
            $0.offered.size = 101
            $0.checksum = checksum
        },
        Row("a mirror, the same date only", over(.urlChanged)) {
            mirror(&$0)
            $0.manifest = manifest(dated)
            $0.offered = dated
        },
        Row("a mirror, the same date and no tag", over(.urlChanged)) {
            mirror(&$0)
            $0.manifest = manifest(both)
            $0.offered = dated
        },
        Row("another query, the same date and no tag", over(.urlChanged)) {
            $0.fullURL = url + "?key=2"
            $0.manifest = manifest(both)
            $0.offered = dated
        },
        Row("a mirror without ranges, checksum", over(.noRanges)) {
            mirror(&$0)
            ($0.servesRanges, $0.checksum) = (false, checksum)
        },
        Row("a mirror, rejected", over(.rejected)) {
            mirror(&$0)
            $0.manifest = manifest(rejected: "md5:00")
            $0.checksum = checksum
        },
        Row(
            "the same URL with mirrors, another tag, checksum",
            over(.etagChanged(was: "\"a\"", now: "\"b\""))
        ) {
            $0.otherURLs = ["https://example.org/g"]
            $0.offered.etag = "\"b\""
            $0.checksum = checksum
        },
        Row("a mirror of other files, same strong tag", over(.urlChanged)) {
            mirror(&$0)
            $0.otherURLs = ["https://example.org/h"]
        },
        Row("a new link, the same strong tag", "resume 10") { newLink(&$0) },
        Row("a new link, another tag", over(otherTag)) {
            newLink(&$0)
            $0.offered.etag = "\"b\""
        },
        Row("a new link, another tag, checksum", byChecksum) {
            newLink(&$0)
            $0.offered.etag = "\"b\""
            $0.checksum = checksum
        },
        Row("a new link, another tag, an advertised digest", "resume 10") {
            newLink(&$0)
            $0.offered.etag = "\"b\""
            $0.advertised = [checksum]
        },
        Row("a new link of the same resource, another tag, an advertised digest", over(otherTag)) {
            ($0.fullURL, $0.isNewLink) = (url + "?key=2", true)
            $0.offered.etag = "\"b\""
            $0.advertised = [checksum]
        },
        Row("a new link, the same strong tag, two digests that differ", over(.urlChanged)) {
            newLink(&$0)
            $0.checksum = checksum
            $0.advertised = [Digest(crc32: 8)]
        },
        Row("a new link, the same strong tag, held together by a sample", over(.noValidator)) {
            newLink(&$0)
            $0.manifest = manifest(isSampled: true)
        },
        Row("a new link, the same strong tag, held together by a sample, sampled", "resume 10") {
            newLink(&$0)
            $0.manifest = manifest(isSampled: true)
            $0.sampled = "0000000000000001"
        },
        Row("the same strong tag, held together by a sample", over(.noValidator)) {
            $0.manifest = manifest(isSampled: true)
        },
        Row("a mirror, the same strong tag, held together by a sample", over(.noValidator)) {
            mirror(&$0)
            $0.manifest = manifest(isSampled: true)
        },
        Row("a mirror, the same strong tag, held together by a sample, sampled", "resume 10") {
            mirror(&$0)
            $0.manifest = manifest(isSampled: true)
            $0.sampled = "0000000000000001"
        },
        Row("the same, sampled again", "resume 10") {
            $0.manifest = manifest(isSampled: true)
            $0.sampled = "0000000000000001"
        },
        Row("the same, checksum", byChecksum) {
            $0.manifest = manifest(isSampled: true)
            $0.checksum = checksum
        },
        Row("a new link, another tag, sampled", "resume 10") {
            newLink(&$0)
            $0.offered.etag = "\"b\""
            $0.sampled = "0000000000000001"
        },
        Row("a new link of the same resource, another tag, sampled", over(otherTag)) {
            ($0.fullURL, $0.isNewLink) = (url + "?key=2", true)
            $0.offered.etag = "\"b\""
            $0.sampled = "0000000000000001"
        },
        Row("a new link of the same resource, no validator, sampled", "resume 10") {
            sampled(&$0)
            ($0.fullURL, $0.isNewLink) = (url + "?key=2", true)
        },
        Row("a new link, the same date only", over(.noValidator)) {
            newLink(&$0)
            $0.manifest = manifest(dated)
            $0.offered = dated
        },
        Row("a new link, the same date, sampled", "resume 10") {
            newLink(&$0)
            $0.manifest = manifest(dated)
            $0.offered = dated
            $0.sampled = "0000000000000001"
        },
        Row("a new link, no validator", over(.noValidator)) {
            newLink(&$0)
            $0.manifest = manifest(RemoteIdentity(size: 100))
            $0.offered = RemoteIdentity(size: 100)
        },
        Row("a new link, a sample of what only a checksum holds together", over(.noValidator)) {
            sampled(&$0)
            newLink(&$0)
            $0.manifest = manifest(RemoteIdentity(size: 100), needsChecksum: true)
        },
        Row("a new link, another size, checksum", over(.sizeChanged(was: 100, now: 101))) {
            newLink(&$0)
            $0.offered.size = 101
            $0.checksum = checksum
        },
        Row(
            "a new link, another coding, checksum", over(.codingChanged(was: nil, now: "gzip"))
        ) {
            newLink(&$0)
            $0.offered.coding = "gzip"
            $0.checksum = checksum
        },
        Row("a new link without ranges, the same strong tag", over(.noRanges)) {
            newLink(&$0)
            $0.servesRanges = false
        },
        Row("a new link that is the old one, another tag, checksum", over(otherTag)) {
            $0.isNewLink = true
            $0.offered.etag = "\"b\""
            $0.checksum = checksum
        },
        Row("nothing recorded is no loss: tag", "begin") {
            $0.manifest = manifest(hasExtents: false)
            $0.offered.etag = "\"b\""
        },
        Row("nothing recorded is no loss: not wanted", "begin") {
            $0.manifest = manifest(hasExtents: false)
            $0.wantsResume = false
        },
        Row("nothing recorded, and nothing against it", "resume 0") {
            $0.manifest = manifest(hasExtents: false)
        },
    ]

    @Test(arguments: rows)
    func decides(row: Row) {
        var situation = ResumeDecision.Situation(
            manifest: Self.manifest(), partSize: 100, offered: Self.strong, fullURL: Self.full,
            url: Self.url, servesRanges: true, checksum: nil, wantsResume: true,
            mayOverwrite: false)
        row.change(&situation)
        let decision = ResumeDecision(situation, partPath: "P", manifestPath: "M")
        #expect(Self.words(decision) == row.expected)
    }
}
