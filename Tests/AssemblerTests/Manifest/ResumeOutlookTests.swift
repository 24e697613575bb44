import Testing

@testable import Assembler

/// Whether a later run will resume, as reported at the end of an earlier run.
@Suite struct ResumeOutlookTests {
    private static let date = "Mon, 01 Jan 2024 00:00:00 GMT"
    private static let none = RemoteIdentity(size: 100)
    private static let tag = RemoteIdentity(size: 100, etag: "\"a\"")
    private static let weak = RemoteIdentity(size: 100, etag: "W/\"a\"")
    private static let strongDate = RemoteIdentity(
        size: 100, lastModified: date, lastModifiedIsStrong: true)
    private static let weakDate = RemoteIdentity(size: 100, lastModified: date)
    private static let unknownSize = RemoteIdentity(size: nil, etag: "\"a\"")
    /// An ETag of zeros, which is blank because of its form.
    private static let blank = RemoteIdentity(size: 100, etag: "\"000-0\"")
    private static let digest = Digest(crc32: 9)

    /// One row: the state of the earlier run, the later run, and the reason for which that run
    /// starts over.
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var identity: RemoteIdentity
        var expected: StartOverReason?
        var servesRanges = true
        var isStated = false
        var isSampled = false
        var needsChecksum = false
        var next = ResumeDecision.NextRun(
            wantsResume: true, hasChecksum: false, acceptsSample: false)
        var testDescription: String { name }

        init(
            _ name: String, _ identity: RemoteIdentity, _ expected: StartOverReason?,
            _ change: (inout Row) -> Void = { _ in }
        ) {
            (self.name, self.identity, self.expected) = (name, identity, expected)
            change(&self)
        }
    }

    private static let rows = [
        Row("a strong tag continues", tag, nil),
        Row("a strong date continues", strongDate, nil),
        Row("without ranges it starts over", tag, .noRanges) { $0.servesRanges = false },
        Row("no digest helps without ranges", tag, .noRanges) {
            $0.servesRanges = false
            $0.next.hasChecksum = true
        },
        Row("without a size it starts over", unknownSize, .noRanges),
        Row("without validators it starts over", none, .noValidator),
        Row("a weak tag is none", weak, .noValidator),
        Row("a weak date is none", weakDate, .noValidator),
        Row("a blank tag is none", blank, .noValidator),
        Row("a digest continues", none, nil) { $0.next.hasChecksum = true },
        Row("a stated digest continues", none, nil) { $0.isStated = true },
        Row("a sample continues", none, nil) { $0.next.acceptsSample = true },
        Row("where one did once, it does again", none, nil) { $0.isSampled = true },
        Row("no sample speaks for bytes of several servers", none, .noValidator) {
            $0.needsChecksum = true
            $0.next.acceptsSample = true
        },
        Row("a run that does not want to starts over", tag, .notWanted) {
            $0.next.wantsResume = false
        },
        Row("what cannot is told before what is not wanted", none, .noValidator) {
            $0.next.wantsResume = false
        },
    ]

    @Test(arguments: rows) func outlookNamesTheReason(row: Row) {
        let full = "https://example.org/f?key=1"
        var header = Manifest.Header(
            identity: row.identity, url: "https://example.org/f", fullURL: full, generation: 1,
            needsChecksum: row.needsChecksum)
        if row.isStated { header.requiredDigests = [Self.digest.description] }
        if row.isSampled { header.isSampled = true }
        var offered = row.identity
        offered.distrustBlank(date: nil)
        #expect(
            ResumeDecision.obstacle(
                toContinuing: header, offered: offered, servesRanges: row.servesRanges,
                by: row.next) == row.expected)
        // The later run makes the same decision.
        let manifest = Result { () throws(Manifest.ReadError) in
            let seed = Manifest.seed(generation: header.generation)
            var manifest = try Manifest(reading: SealedLine.of(header, seed: seed))
            manifest.extents.add(Extent(ByteRange(0, 10), crc: 1))
            return manifest
        }
        let isSampled = row.next.acceptsSample || row.isSampled
        let decision = ResumeDecision(
            .init(
                manifest: manifest, partSize: 100, offered: offered, fullURL: full,
                url: "https://example.org/f", servesRanges: row.servesRanges,
                checksum: row.next.hasChecksum ? Self.digest : nil,
                wantsResume: row.next.wantsResume, mayOverwrite: false,
                sampled: isSampled ? header.generation : nil),
            partPath: "p", manifestPath: "m")
        switch decision {
        case .resume: #expect(row.expected == nil)
        // Both reasons apply; the decision checks first whether resuming is wanted.
        case .startOver(.notWanted): #expect(!row.next.wantsResume)
        case .startOver(let reason):
            // Both reasons apply if ranges and validators are missing.
            #expect(reason == row.expected || row.expected == .noRanges && reason == .noValidator)
        default: Issue.record("\(decision)")
        }
    }
}
