import Assembler
import Foundation
import TestSupport
import Testing

/// `--resume-unverified`: a part is continued where only a sample proves that the file is the same.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ResumeUnverifiedTests {
    private static let size: Int64 = 3_000_000
    private static let option = ["--resume-unverified"]

    /// A file without a strong validator, and a part of it: the first 200 000 bytes of each quarter.
    private func staged(
        etag: String? = nil, lastModified: String? = nil
    ) throws -> (stage: Stage, kept: Int64) {
        let stage = try Stage(size: Self.size)
        stage.change { ($0.etag, $0.lastModified) = (etag, lastModified) }
        return (stage, try stage.leavePart(each: 200_000))
    }

    private func reasons(_ outcome: ChildProcess.Outcome) throws -> [String?] {
        try outcome.notices("started_over").map(\.reason)
    }

    /// What is not proof, and no contradiction either.
    enum Weakness: CaseIterable {
        case none, weakTag, dateToCome, tagThatCame
    }

    @Test(arguments: Weakness.allCases)
    func continuesWhereTheSampleIsTheSame(weakness: Weakness) throws {
        let (stage, kept) = try staged(
            etag: weakness == .weakTag ? "W/\"v1\"" : nil,
            // Not older than the reply: the file may yet change without another date.
            lastModified: weakness == .dateToCome ? httpDate(unixTime: 4_000_000_000) : nil)
        if weakness == .tagThatCame { stage.change { $0.etag = "\"v1\"" } }
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

    @Test func anotherFileStartsOver() throws {
        let (stage, _) = try staged()
        stage.change { $0.content = Content(size: Self.size, seed: 2) }
        let outcome = try stage.run(Self.option + ["--json"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try reasons(outcome) == ["sample_differs"])
        #expect(outcome.errorOutput.contains("differ from those of the earlier part"))
        #expect(try outcome.events("finished").last?.bytesResumed == 0)
    }

    /// The first bytes and the last that are recorded are always among what is compared.
    @Test(arguments: [true, false])
    func aChangeAtAnEndIsFound(first: Bool) throws {
        let (stage, _) = try staged()
        let end = try #require(stage.manifest()?.extents.extents.last?.range.end)
        let place = first ? 10 : end - 1
        stage.bendGET { $0.corruptAt = [place] }
        let outcome = try stage.run(Self.option + ["--json"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try reasons(outcome) == ["sample_differs"])
        // It is all of the file as it is served now.
        #expect(try stage.content.firstDifference(at: stage.path("file")) == place)
    }

    /// What contradicts is an obstacle as ever.
    enum Contradiction: String, CaseIterable {
        case otherWeakTag, tagThatWent, otherSize, otherQuery
    }

    @Test(
        arguments: zip(
            Contradiction.allCases,
            ["etag_changed", "etag_changed", "size_changed", "url_changed"]))
    func contradictionsStartOver(contradiction: Contradiction, reason: String) throws {
        let etag: String? =
            switch contradiction {
            case .otherWeakTag: "W/\"v1\""
            case .tagThatWent: "\"v1\""
            default: nil
            }
        let (stage, _) = try staged(etag: etag)
        stage.change {
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

    /// What is damaged on the disk is fetched again: it says nothing of the server's file.
    @Test func damageIsNoDifference() throws {
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

    /// A checksum proves it all: no sample is taken.
    @Test func aChecksumNeedsNoSample() throws {
        let (stage, kept) = try staged()
        let checksum = ["--checksum", "sha-256:\(stage.content.sha256Hex)"]
        let outcome = try stage.run(Self.option + checksum + ["--json"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try outcome.notices("resumed_unverified").isEmpty)
        #expect(try outcome.events("started").last?.identity == "checksum")
        #expect(try outcome.events("finished").last?.bytesResumed == kept)
    }

    /// Trouble while the sample is fetched is trouble like any other; a limit of rate and servers that
    /// cap ranges do not matter.
    @Test(arguments: [[], ["--limit-rate", "8M"]])
    func troubleIsWaitedOut(options: [String]) throws {
        let (stage, kept) = try staged()
        let tally = Tally()
        stage.change { offer in
            offer.bend = { request, reply in
                guard request.method == "GET", request.range?.last != 0 else { return }
                switch tally.add() {
                case 1: reply = .text(503)
                case 2: reply.cutAfter = 100
                case 3: reply = .closeWithoutReply
                default: break
                }
            }
        }
        let outcome = try stage.run(Self.option + options + ["--json", "-v"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try outcome.notices("retrying").count >= 3)
        #expect(try outcome.events("finished").last?.bytesResumed == kept)
    }

    /// Killed again and again, among them while the sample is fetched.
    @Test func survivesKills() throws {
        let (stage, kept) = try staged()
        // Less of the sample than would do.
        stage.bendGET { if $0.body.count > 1 { $0.stallAfter = 500 } }
        let child = try stage.start(Self.option)
        // The sample never comes whole.
        #expect(
            eventually(timeout: 120) {
                let range = stage.origin.requests.last?.range
                return range?.first == 0 && range?.last ?? 0 >= 65_535
            })
        child.signal(SIGKILL)
        _ = try child.wait()
        stage.origin.dropConnections()
        #expect(stage.recorded() == kept)
        stage.bendGET { $0.pace = 300_000 }
        let second = try stage.start(Self.option + ["-x", "4"])
        try #require(stage.waits(for: kept + 200_000, of: second))
        second.signal(SIGKILL)
        _ = try second.wait()
        stage.behave()
        let more = try #require(stage.recorded())
        let outcome = try stage.run(Self.option + ["--json"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try outcome.events("finished").last?.bytesResumed == more)
    }
}
