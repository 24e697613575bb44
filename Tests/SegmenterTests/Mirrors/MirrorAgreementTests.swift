import Assembler
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct MirrorAgreementTests {
    typealias Change = @Sendable (inout RemoteFile, inout RemoteFile) -> Void

    /// A row of the table: changes of a mirror and a primary that have no validators.
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var expected: MirrorAgreement
        var checksum: Digest?
        var change: Change
        var testDescription: String { name }

        init(
            _ name: String, _ expected: MirrorAgreement, checksum: Digest? = nil,
            _ change: @escaping Change
        ) {
            self.name = name
            self.expected = expected
            self.checksum = checksum
            self.change = change
        }
    }

    private static func digest(_ algorithm: DigestAlgorithm, _ byte: UInt8) -> Digest {
        guard
            let digest = Digest(algorithm, Array(repeating: byte, count: algorithm.byteCount))
        else { preconditionFailure("wrong length") }
        return digest
    }

    private static let date = "Sun, 13 Sep 2020 12:26:40 GMT"
    private static let later = "Sun, 13 Sep 2020 12:26:41 GMT"
    private static let sha = digest(.sha256, 1)
    private static let other = digest(.sha256, 2)

    private static func file() -> RemoteFile {
        RemoteFile(
            url: "https://a/f", effectiveURL: "https://a/f", redirects: 0,
            identity: RemoteIdentity(size: 100), acceptsRanges: true, suggestedName: "f",
            digests: [], probedBy: "HEAD")
    }

    static let rows: [Row] = [
        Row("nothing but the size", .standby) { _, _ in },
        Row("equal strong tags", .together(.etag)) {
            $0.identity.etag = "\"a\""
            $1.identity.etag = "\"a\""
        },
        Row("equal strong tags and dates", .together(.etag)) {
            $0.identity = RemoteIdentity(size: 100, etag: "\"a\"", lastModified: date)
            $1.identity = $0.identity
        },
        Row("equal strong tags, other dates", .standby) {
            $0.identity = RemoteIdentity(size: 100, etag: "\"a\"", lastModified: date)
            $1.identity = RemoteIdentity(size: 100, etag: "\"a\"", lastModified: later)
        },
        Row("equal weak tags", .standby) {
            $0.identity.etag = "W/\"a\""
            $1.identity.etag = "W/\"a\""
        },
        Row("other tags", .standby) {
            $0.identity.etag = "\"a\""
            $1.identity.etag = "\"b\""
        },
        Row("one tag", .standby) { mirror, _ in mirror.identity.etag = "\"a\"" },
        Row("equal dates", .standby) {
            $0.identity = RemoteIdentity(
                size: 100, lastModified: date, lastModifiedIsStrong: true)
            $1.identity = $0.identity
        },
        Row("another size", .contradicts(.otherSize(expected: 100, got: 99))) { mirror, primary in
            (mirror.identity.etag, primary.identity.etag) = ("\"a\"", "\"a\"")
            mirror.identity.size = 99
        },
        Row(
            "another size, with a checksum", .contradicts(.otherSize(expected: 100, got: 99)),
            checksum: sha
        ) { mirror, _ in mirror.identity.size = 99 },
        Row("an unknown size", .standby, checksum: sha) { mirror, _ in mirror.identity.size = nil },
        Row("no ranges", .standby, checksum: sha) { mirror, _ in mirror.acceptsRanges = false },
        Row("a primary without ranges", .standby, checksum: sha) { _, primary in
            primary.acceptsRanges = false
        },
        Row("a checksum", .together(.checksum), checksum: sha) { _, _ in },
        Row("a weak checksum", .together(.checksum), checksum: digest(.md5, 1)) { _, _ in },
        Row("a CRC", .standby, checksum: Digest(crc32: 1)) { _, _ in },
        Row("a checksum and other tags", .together(.checksum), checksum: sha) {
            $0.identity.etag = "\"a\""
            $1.identity.etag = "\"b\""
        },
        Row("equal digests", .together(.digest)) {
            $0.digests = [sha]
            $1.digests = [digest(.md5, 1), sha]
        },
        Row("equal weak digests", .standby) {
            $0.digests = [digest(.md5, 1)]
            $1.digests = [digest(.md5, 1)]
        },
        Row("other digests", .contradicts(.otherDigest(expected: sha, got: other))) {
            ($0.identity.etag, $1.identity.etag) = ("\"a\"", "\"a\"")
            $0.digests = [other]
            $1.digests = [sha]
        },
        Row(
            "a digest against the checksum",
            .contradicts(.otherDigest(expected: sha, got: other)), checksum: sha
        ) {
            $0.digests = [other]
            $1.digests = [other]
        },
        Row("digests of two kinds", .standby) {
            $0.digests = [digest(.sha512, 1)]
            $1.digests = [sha]
        },
    ]

    @Test(arguments: rows)
    func judgesAgreement(row: Row) {
        var (mirror, primary) = (Self.file(), Self.file())
        row.change(&mirror, &primary)
        #expect(MirrorAgreement(mirror, with: primary, checksum: row.checksum) == row.expected)
    }
}
