import Foundation
import TestSupport
import Testing

/// Tests `--adopt` with partial files that other programs actually wrote.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct AdoptedToolsTests {
    private static let size: Int64 = 12_000_000
    /// The number of existing bytes that segget may download again as a sample.
    private static let sample: Int64 = 256 << 10

    /// Creates a file of which each connection of another program received some bytes.
    private func staged(
        _ tool: ForeignDownload
    ) throws -> (stage: Stage, there: Int64, seed: UInt64) {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        let stage = try Stage(size: Self.size, seed: 77)
        let each = Int64.random(in: 300_000...2_500_000, using: &random)
        return (stage, try tool.leave("old", of: stage, each: each), seed)
    }

    @Test(arguments: ForeignDownload.allCases, AdoptionProof.allCases)
    func downloadsOnlyMissingBytes(tool: ForeignDownload, proof: AdoptionProof) throws {
        let (stage, there, seed) = try staged(tool)
        let before = try stage.facts("old")
        let count = stage.origin.requests.count
        let outcome = try stage.run(["--json", "--adopt", "old"] + proof.arguments(stage))
        #expect(outcome.end == .exit(0), "seed \(seed): \(outcome.errorOutput)")
        #expect(try stage.isRight())
        let adopted = try #require(try outcome.notices("adopted").first?.bytes)
        #expect(adopted == there, "seed \(seed)")
        #expect(try outcome.events("finished").last?.bytesResumed == adopted)
        #expect(stage.bytesAsked(after: count) <= Self.size - there + Self.sample)
        switch proof {
        case .checksum:
            #expect(try stage.facts("old") == before)
            #expect(try stage.names() == ["file", "old"] + (tool.isAria2 ? ["old.aria2"] : []))
        case .sample: #expect(try stage.names() == ["file"])
        }
    }

    /// Without its control file, aria2's file is as long as the remote one, or full of holes.
    @Test(arguments: [ForeignDownload.aria2None, .aria2Prealloc, .aria2Falloc])
    func adoptsAria2FileWithoutControlFile(tool: ForeignDownload) throws {
        let (stage, there, seed) = try staged(tool)
        try stage.remove("old.aria2")
        let before = try stage.facts("old")
        if before.size == Self.size {
            let sampled = try stage.run(["--adopt", "old", "--resume-unverified"])
            #expect(sampled.end == .exit(64), "seed \(seed): \(sampled.errorOutput)")
            #expect(sampled.errorOutput.contains("has the size of the remote file"))
            #expect(try stage.facts("old") == before && stage.names() == ["old"])
        }
        let count = stage.origin.requests.count
        let outcome = try stage.run(["--adopt", "old"] + stage.rightChecksum)
        #expect(outcome.end == .exit(0), "seed \(seed): \(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try stage.facts("old") == before)
        // segget treats zeros at the ends of written ranges as missing.
        let most = Self.size - there + Self.sample + (64 << 10)
        #expect(stage.bytesAsked(after: count) <= most, "seed \(seed)")
    }

    @Test(.enabled(if: chromium != nil), arguments: AdoptionProof.allCases)
    func adoptsChromiumDownload(proof: AdoptionProof) throws {
        let stage = try Stage(size: Self.size, seed: 77)
        let each = Int64.random(in: 300_000...6_000_000)
        stage.origin.bendGET { $0.stallAfter = each }
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Servers/download_with_chromium.py").path
        // Chromium buffers bytes for its next write; those are not in the file yet.
        let least = min(each - 200_000, each / 2)
        let download = try Run(
            "/usr/bin/env",
            ["python3", script, stage.origin.url("/file"), stage.folder, "\(least)"],
            in: stage.folder
        ).wait()
        try #require(download.end == .exit(0), "\(download.errorOutput)")
        stage.origin.dropConnections()
        stage.origin.hearOut()
        stage.origin.behave()
        let name = "downloads/file.crdownload"
        let before = try stage.facts(name)
        let count = stage.origin.requests.count
        let outcome = try stage.run(["--adopt", name] + proof.arguments(stage))
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(stage.bytesAsked(after: count) <= Self.size - before.size + Self.sample)
        if proof == .checksum { #expect(try stage.facts(name) == before) }
    }

    /// The path of the browser, or `nil` if it is not installed.
    private static let chromium = ["/usr/bin/chromium"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
}
