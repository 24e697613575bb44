import Assembler
import Foundation
import TestSupport
import Testing

/// Tests that `--resume-unverified` resumes a part if only a sample shows that the file is the
/// same.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ResumeUnverifiedTests {
    private static let size: Int64 = 3_000_000
    private static let option = ["--resume-unverified"]

    /// Stages a file without a strong validator, and a part with the first 200 000 bytes of each
    /// quarter.
    private func staged(
        etag: String? = nil, lastModified: String? = nil
    ) throws -> (stage: Stage, kept: Int64) {
        let stage = try Stage(size: Self.size)
        stage.origin.change { ($0.etag, $0.lastModified) = (etag, lastModified) }
        return (stage, try stage.leavePart(each: 200_000))
    }

    private func reasons(_ outcome: Run.Outcome) throws -> [String?] {
        try outcome.notices("started_over").map(\.reason)
    }

    /// Metadata that neither shows nor refutes that the file is the same.
    enum Weakness: CaseIterable {
        case none, weakTag, dateToCome, tagThatCame
    }

    @Test(arguments: Weakness.allCases)
    func resumesIfSampleMatches(weakness: Weakness) throws {
        let (stage, kept) = try staged(
            etag: weakness == .weakTag ? "W/\"v1\"" : nil,
            // The date is later than the reply, so the file may change without another date.
            lastModified: weakness == .dateToCome ? httpDate(unixTime: 4_000_000_000) : nil)
        if weakness == .tagThatCame { stage.origin.change { $0.etag = "\"v1\"" } }
        let dry = try stage.run(Self.option + ["--dry-run", "--json"])
        #expect(dry.output.contains("\"action\":\"resume\""), "\(dry.output)")
        let count = stage.origin.requests.count
        let outcome = try stage.run(Self.option + ["--json"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
        #expect(try reasons(outcome) == [])
        #expect(try outcome.notices("resumed_unverified").count == 1)
        #expect(outcome.errorOutput.contains("nothing else shows that the file is the same"))
        #expect(try outcome.events("started").last?.identity == "unverified")
        #expect(try outcome.events("finished").last?.bytesResumed == kept)
        let most = Self.size - kept + (256 << 10)
        #expect(stage.bytesAsked(after: count) <= most)
    }

    @Test func otherFileStartsOver() throws {
        let (stage, _) = try staged()
        stage.origin.change { $0.content = Content(size: Self.size, seed: 2) }
        let outcome = try stage.run(Self.option + ["--json"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try reasons(outcome) == ["sample_differs"])
        #expect(outcome.errorOutput.contains("differ from those of the earlier part"))
        #expect(try outcome.events("finished").last?.bytesResumed == 0)
    }

    /// Samples always contain the first and last recorded bytes.
    @Test(arguments: [true, false])
    func findsChangeAtStartOrEndOfPart(first: Bool) throws {
        let (stage, _) = try staged()
        let end = try #require(stage.manifest()?.extents.extents.last?.range.end)
        let place = first ? 10 : end - 1
        stage.origin.bendGET { $0.corruptAt = [place] }
        let outcome = try stage.run(Self.option + ["--json"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try reasons(outcome) == ["sample_differs"])
        // The file has all bytes that the server sends now.
        #expect(try stage.content.firstDifference(at: stage.path("file")) == place)
    }

    /// Metadata that shows another file, which always prevents resuming.
    enum Contradiction: String, CaseIterable {
        case otherWeakTag, tagThatWent, otherSize, otherQuery
    }

    @Test(
        arguments: zip(
            Contradiction.allCases,
            ["etag_changed", "etag_changed", "size_changed", "url_changed"]))
    func contradictingMetadataStartsOver(contradiction: Contradiction, reason: String) throws {
        let etag: String? =
            switch contradiction {
            case .otherWeakTag: "W/\"v1\""
            case .tagThatWent: "\"v1\""
            default: nil
            }
        let (stage, _) = try staged(etag: etag)
        stage.origin.change {
            $0.etag = contradiction == .otherWeakTag ? "W/\"v2\"" : nil
            if contradiction == .otherSize { $0.content = Content(size: Self.size + 1, seed: 1) }
        }
        let path = contradiction == .otherQuery ? "/file?key=2" : "/file"
        let outcome = try stage.run(Self.option + ["--json"], path: path)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try reasons(outcome) == [reason])
        #expect(try outcome.notices("resumed_unverified").isEmpty)
    }

    /// Damaged bytes on the disk are downloaded again; they do not show that the server's file
    /// differs.
    @Test func damagedPartIsNotOtherFile() throws {
        let (stage, kept) = try staged()
        try stage.damage("file.part", at: 10)
        let outcome = try stage.run(Self.option + ["--json"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try reasons(outcome) == [])
        #expect(try outcome.notices("damaged").count == 1)
        let resumed = try #require(try outcome.events("finished").last?.bytesResumed)
        #expect(resumed > 0 && resumed < kept)
    }

    /// A checksum verifies the whole file, so segget takes no sample.
    @Test func checksumNeedsNoSample() throws {
        let (stage, kept) = try staged()
        let checksum = ["--checksum", "sha-256:\(stage.content.sha256Hex)"]
        let outcome = try stage.run(Self.option + checksum + ["--json"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try outcome.notices("resumed_unverified").isEmpty)
        #expect(try outcome.events("started").last?.identity == "checksum")
        #expect(try outcome.events("finished").last?.bytesResumed == kept)
    }

    /// Failures during the sample are retried; a rate limit does not matter.
    @Test(arguments: [[], ["--limit-rate", "8M"]])
    func retriesFailuresDuringSample(options: [String]) throws {
        let (stage, kept) = try staged()
        let tally = Tally()
        stage.origin.bend { request, reply in
            guard request.method == "GET", request.range?.last != 0 else { return }
            switch tally.add() {
            case 1: reply = .text(503)
            case 2: reply.cutAfter = 100
            case 3: reply = .closeWithoutReply
            default: break
            }
        }
        let outcome = try stage.run(Self.option + options + ["--json", "-v"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try outcome.notices("retrying").count >= 3)
        #expect(try outcome.events("finished").last?.bytesResumed == kept)
    }

    /// Kills also happen during the sample.
    @Test func survivesKills() throws {
        let (stage, kept) = try staged()
        // Fewer bytes than a sample needs.
        stage.origin.bendGET { if $0.body.count > 1 { $0.stallAfter = 500 } }
        let child = try stage.start(Self.option)
        // The sample is never complete.
        #expect(
            eventually(timeout: 120) {
                let range = stage.origin.requests.last?.range
                return range?.first == 0 && range?.last ?? 0 >= 65_535
            })
        child.signal(SIGKILL)
        _ = try child.wait()
        stage.origin.dropConnections()
        #expect(stage.recorded() == kept)
        stage.origin.bendGET { $0.pace = 300_000 }
        let second = try stage.start(Self.option + ["-x", "4"])
        try #require(second.waits(for: kept + 200_000))
        second.signal(SIGKILL)
        _ = try second.wait()
        stage.origin.behave()
        let more = try #require(stage.recorded())
        let outcome = try stage.run(Self.option + ["--json"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try outcome.events("finished").last?.bytesResumed == more)
    }
}
