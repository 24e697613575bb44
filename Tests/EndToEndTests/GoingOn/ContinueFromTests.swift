import Assembler
import Foundation
import TestSupport
import Testing

/// Tests that `--continue-from` resumes a part under a new URL.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ContinueFromTests {
    private static let size: Int64 = 3_000_000
    private static let date = httpDate(unixTime: 1_600_000_000)

    /// Stages a part that was begun under another URL: the first 200 000 bytes of each quarter.
    private func staged(
        etag: String? = nil, lastModified: String? = nil
    ) throws -> (stage: Stage, kept: Int64) {
        let stage = try Stage(size: Self.size)
        stage.origin.change { ($0.etag, $0.lastModified) = (etag, lastModified) }
        return (stage, try stage.leavePart(each: 200_000, path: "/file?key=1"))
    }

    private func run(_ stage: Stage, _ options: String...) throws -> Run.Outcome {
        try stage.run(
            ["--json", "--continue-from", "file.part"] + options, path: "/new/link?key=2")
    }

    /// The evidence that the new URL has the same file.
    enum Proof: CaseIterable {
        case tag, date, checksum, advertised, sample, sampleOfOtherTags
    }

    @Test(arguments: Proof.allCases)
    func resumesPartOfSameFile(proof: Proof) throws {
        let (stage, kept) = try staged(
            etag: [.tag, .sampleOfOtherTags].contains(proof) ? "\"v1\"" : nil,
            lastModified: proof == .date ? Self.date : nil)
        var options: [String] = []
        switch proof {
        case .tag, .date: break
        case .checksum: options = ["--checksum", "sha-256:\(stage.content.sha256Hex)"]
        case .advertised:
            let digest = Data(stage.content.sha256).base64EncodedString()
            stage.origin.bend { $1.set("Repr-Digest", "sha-256=:\(digest):") }
        case .sample: options = ["--resume-unverified"]
        case .sampleOfOtherTags:
            // Another server's ETag differs for the same file too.
            stage.origin.change { $0.etag = "\"other\"" }
            options = ["--resume-unverified"]
        }
        let count = stage.origin.requests.count
        let outcome = try stage.run(
            ["--json", "--continue-from", "file.part"] + options, path: "/new/link?key=2")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
        #expect(try outcome.events("finished").last?.bytesResumed == kept)
        #expect(try outcome.notices("started_over").isEmpty)
        let sample: Int64 = proof == .tag ? 0 : 256 << 10
        #expect(stage.bytesAsked(after: count) <= Self.size - kept + sample + 1)
        #expect(try outcome.notices("part_agreed").count == (proof == .tag ? 0 : 1))
    }

    /// The reason why the new URL may not have the same file.
    enum Obstacle: String, CaseIterable {
        case nothing = "no_validator"
        case otherTag = "etag_changed"
        case otherDate = "last_modified_changed"
        case otherSize = "size_changed"
        case noRanges = "no_ranges"
        case sample = "sample_differs"
    }

    /// The part and its manifest remain unchanged.
    @Test(arguments: Obstacle.allCases)
    func refusedPartStaysUnchanged(obstacle: Obstacle) throws {
        let (stage, kept) = try staged(
            etag: obstacle == .otherTag || obstacle == .noRanges ? "\"v1\"" : nil,
            lastModified: obstacle == .otherDate ? Self.date : nil)
        var options: [String] = []
        stage.origin.change {
            switch obstacle {
            case .nothing: break
            case .otherTag: $0.etag = "\"v2\""
            case .otherDate: $0.lastModified = httpDate(unixTime: 1_600_000_001)
            case .otherSize: $0.content = Content(size: Self.size + 1, seed: 1)
            case .noRanges: $0.servesRanges = false
            case .sample:
                $0.content = Content(size: Self.size, seed: 2)
                options = ["--resume-unverified"]
            }
        }
        let before = try contents(stage)
        let dry = try stage.run(
            ["--dry-run", "--continue-from", "file.part"] + options, path: "/new/link?key=2")
        #expect(dry.end == .exit(76), "\(dry.errorOutput)")
        let outcome = try stage.run(
            ["--json", "--continue-from", "file.part"] + options, path: "/new/link?key=2")
        #expect(outcome.end == .exit(76), "\(outcome.errorOutput)")
        let error = try #require(try outcome.events("error").last)
        #expect(error.kind == "not_continued")
        #expect(error.bytesKept == kept)
        #expect(outcome.errorOutput.contains("it is left unchanged"), "\(outcome.errorOutput)")
        #expect(!outcome.errorOutput.contains("key=2"))
        #expect(try contents(stage) == before)
        // The old URL still resumes the part.
        stage.origin.change {
            ($0.content, $0.servesRanges) = (Content(size: Self.size, seed: 1), true)
            $0.etag = obstacle == .otherTag || obstacle == .noRanges ? "\"v1\"" : nil
            $0.lastModified = obstacle == .otherDate ? Self.date : nil
        }
        let old = try stage.run(
            ["--json", "--checksum", "sha-256:\(stage.content.sha256Hex)"], path: "/file?key=1")
        #expect(old.end == .exit(0), "\(old.errorOutput)")
        #expect(try old.events("finished").last?.bytesResumed == kept)
    }

    private func contents(_ stage: Stage) throws -> [Data] {
        #expect(try stage.names() == ["file.part", "file.segget"])
        return try stage.names().map { try Data(contentsOf: URL(fileURLWithPath: stage.path($0))) }
    }

    /// A digest decides at the end: a difference that a sample does not show is not published.
    @Test func digestRefusesPartOfOtherVersion() throws {
        let (stage, _) = try staged(etag: "\"v1\"")
        let wanted = Content(size: Self.size, seed: 1)
        // In the first quarter, of which a sample contains the first 64 KiB and hardly ever this
        // byte.
        stage.origin.change { $0.etag = "\"v2\"" }
        stage.origin.bendGET { $0.corruptAt = [2_000_000] }
        let outcome = try run(stage, "--checksum", "sha-256:\(wanted.sha256Hex)")
        #expect(outcome.end == .exit(65), "\(outcome.errorOutput)")
        #expect(!(try stage.names().contains("file")))
    }

    /// The part now belongs to the new URL, under which a stopped run resumes.
    @Test func partBelongsToNewURL() throws {
        let (stage, kept) = try staged(etag: "\"v1\"")
        stage.origin.bendGET { $0.stallAfter = 100_000 }
        let process = try stage.start(
            ["-x", "4", "--continue-from", "file.part"], path: "/new/link?key=2")
        #expect(process.waits(for: kept + 400_000))
        process.signal(SIGKILL)
        _ = try process.wait()
        stage.origin.dropConnections()
        stage.origin.behave()
        let more = try #require(stage.recorded())
        #expect(stage.manifest()?.header.url.hasSuffix("/new/link") == true)
        let outcome = try stage.run(["--json", "-o", "file"], path: "/new/link?key=2")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try outcome.events("finished").last?.bytesResumed == more)
    }

    /// A later run does not trust an earlier sample, and compares another one.
    @Test func laterRunComparesAnotherSample() throws {
        let (stage, kept) = try staged(etag: "\"v1\"")
        stage.origin.change { offer in
            offer.etag = "\"v2\""
            offer.bend = { request, reply in
                // Checks of the first byte and samples are shorter.
                let length = request.range?.bytes(of: Self.size).count ?? 0
                if request.method == "GET", length > 100_000 { reply.stallAfter = 100_000 }
            }
        }
        let process = try stage.start(
            ["-x", "4", "--resume-unverified", "--continue-from", "file.part"],
            path: "/new/link?key=2")
        #expect(process.waits(for: kept + 400_000))
        process.signal(SIGKILL)
        _ = try process.wait()
        stage.origin.dropConnections()
        stage.origin.behave()
        let more = try #require(stage.recorded())
        #expect(stage.manifest()?.header.isSampled == true)
        let outcome = try stage.run(["--json", "-o", "file"], path: "/new/link?key=2")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try outcome.notices("resumed_unverified").count == 1)
        #expect(try outcome.events("finished").last?.bytesResumed == more)
        #expect(try outcome.events("finished").last?.sampled == true)
    }

    /// Kills at random offsets under one URL after another; recorded bytes are not downloaded
    /// again.
    @Test func resumesAcrossManyURLs() throws {
        let size: Int64 = 16_000_000
        let stage = try Stage(size: size)
        var random = SplitMix64(seed: 3)
        try stage.leavePart(each: 200_000, path: "/file?key=0")
        for link in 1...6 {
            let each = Int64.random(in: 50_000...400_000, using: &random)
            stage.origin.bendGET { $0.stallAfter = each }
            let before = try #require(stage.recorded())
            let process = try stage.start(
                ["-x", "4", "--continue-from", "file.part"], path: "/link/\(link)?key=\(link)")
            #expect(process.waits(for: before + 4 * each))
            process.signal(SIGKILL)
            _ = try process.wait()
            stage.origin.dropConnections()
        }
        stage.origin.behave()
        let kept = try #require(stage.recorded())
        let outcome = try stage.run(
            ["--json", "--continue-from", "file.part"], path: "/last?key=7")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try outcome.events("finished").last?.bytesResumed == kept)
        #expect(stage.bytesServed(after: 0) <= size * 102 / 100 + Stage.stolen)
    }

    /// Wrong usage sends no request and changes no file.
    @Test(
        arguments: [
            (["--continue-from", "none.part"], "no_part", "there is no part"),
            (["--continue-from", "bare.part"], "no_part", "--adopt"),
            (["--continue-from", "file"], nil, "ends in `.part`"),
            (["--continue-from", ".part"], nil, "ends in `.part`"),
            (["--continue-from", "file.part", "-o", "x"], nil, "already names the file"),
            (["--continue-from", "file.part", "--no-resume"], nil, "--no-resume"),
            (["--continue-from", "file.part", "--adopt", "x"], nil, "--adopt"),
            (["--continue-from", "file.part", "http://127.0.0.1:1/x"], nil, "one file"),
        ] as [([String], String?, String)])
    func refusesWrongUsage(arguments: [String], kind: String?, message: String) throws {
        let stage = try Stage(size: Self.size)
        try Data([1]).write(to: URL(fileURLWithPath: stage.path("bare.part")))
        let outcome = try stage.run(["--json"] + arguments)
        #expect(outcome.end == .exit(64), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains(message), "\(outcome.errorOutput)")
        if let kind { #expect(try outcome.events("error").last?.kind == kind) }
        #expect(stage.origin.requests.isEmpty)
        #expect(try stage.names() == ["bare.part"])
    }

    /// The part's path overrides the configured folder.
    @Test func partPathOverridesConfiguredFolder() throws {
        let (stage, kept) = try staged(etag: "\"v1\"")
        let settings = try Sandbox()
        let file = try settings.write("settings", "directory = \(settings.path)\n")
        let outcome = try run(stage, "--config", file)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try outcome.events("finished").last?.bytesResumed == kept)
        #expect(try stage.isRight())
    }
}
