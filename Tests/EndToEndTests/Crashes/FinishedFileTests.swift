import Assembler
import Foundation
import Glibc
import TestSupport
import Testing

/// Tests runs whose destination exists already, complete or not.
struct FinishedFileTests {
    private static let size: Int64 = 3_000_000

    /// The options that let a later run recognize the file.
    static let ways: [[String]] = [
        ["--xattr"], ["--keep-manifest"], ["--xattr", "--keep-manifest"],
    ]

    private func names(_ way: [String]) -> [String] {
        way.contains("--keep-manifest") ? ["file", "file.segget"] : ["file"]
    }

    private func finished(_ way: [String]) throws -> Stage {
        let stage = try Stage(size: Self.size, seed: 5)
        let outcome = try stage.run(way)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.names() == names(way))
        return stage
    }

    /// Expects a run to refuse the existing file and to leave it unchanged.
    private func expectRefusal(
        _ stage: Stage, _ arguments: [String], because reason: String, path: String = "/file"
    ) throws {
        let before = try stage.names().map { try stage.read($0) }
        let requests = stage.origin.requests.count
        let outcome = try stage.run(arguments + ["-o", "file"], path: path)
        #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains(reason), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("exists already"), "\(outcome.errorOutput)")
        #expect(try stage.names().map { try stage.read($0) } == before)
        #expect(stage.bytesServed(after: requests) <= 1)
    }

    @Test(.timeLimit(.minutes(5)), arguments: ways)
    func completeFileIsNotDownloadedAgain(way: [String]) throws {
        let stage = try finished(way)
        let inode = try stage.identity(of: "file")
        for arguments in [[], ["-o", "file"]] {
            let requests = stage.origin.requests.count
            let outcome = try stage.run(arguments)
            #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains("already complete"), "\(outcome.errorOutput)")
            #expect(stage.bytesServed(after: requests) == 0)
            #expect(stage.origin.requests.count == requests + 1, "asked whether it is the same")
            #expect(try stage.identity(of: "file") == inode)
            #expect(try stage.names() == names(way))
        }
        let json = try stage.run(["--json", "-q"])
        let last = try #require(try jsonEvents(json.output).last)
        #expect(last["event"] as? String == "finished")
        #expect(last["unchanged"] as? String == "already_complete")
        #expect(last["bytes_received"] as? Int == 0)
    }

    /// A power cut leaves this state on a file system without atomic renames.
    @Test func secondNameOfKeptManifestIsRemoved() throws {
        let stage = try finished(["--keep-manifest"])
        let second = stage.path("file.segget~")
        #expect(link(stage.path("file.segget"), second) == 0)
        let probe = try Run(["probe", stage.origin.url("/file")], in: stage.folder).wait()
        #expect(probe.end == .exit(0))
        #expect(try stage.names() == ["file", "file.segget", "file.segget~"], "probe only looks")
        #expect(try stage.run([]).end == .exit(0))
        #expect(try stage.names() == ["file", "file.segget"])
        // Another program's file, or one that another process is writing.
        try Data("{".utf8).write(to: URL(fileURLWithPath: second))
        #expect(try stage.run([]).end == .exit(0))
        #expect(try stage.names() == ["file", "file.segget", "file.segget~"])
    }

    @Test(.timeLimit(.minutes(5)), arguments: ways)
    func refusesOtherVersion(way: [String]) throws {
        let stage = try finished(way)
        stage.origin.change { $0.etag = "\"v2\"" }
        try expectRefusal(stage, [], because: "ETag was")
        stage.origin.change { $0.etag = nil }
        try expectRefusal(stage, [], because: "ETag was")
        stage.origin.change { offer in
            offer.etag = "\"v1\""
            offer.content = Content(size: Self.size + 1, seed: 6)
        }
        try expectRefusal(stage, [], because: "size was")
    }

    @Test(.timeLimit(.minutes(5)), arguments: ways)
    func refusesDamagedFile(way: [String]) throws {
        let stage = try finished(way)
        try stage.damage("file", at: Self.size / 2)
        try expectRefusal(stage, [], because: "is damaged")
        try #require(truncate(stage.path("file"), off_t(Self.size - 1)) == 0)
        try expectRefusal(stage, [], because: "now has")
    }

    @Test(.timeLimit(.minutes(5))) func refusesFileOfOtherURL() throws {
        let stage = try finished(["--xattr"])
        try expectRefusal(stage, [], because: "from another URL", path: "/other")
        // A new signature in the URL of the same resource, with the same strong ETag.
        #expect(try stage.run(["-o", "file"], path: "/file?signature=2").end == .exit(0))
    }

    @Test(.timeLimit(.minutes(5))) func refusesFileOfUnknownOrigin() throws {
        // Another program downloaded the file: it has no attributes, and another modification time.
        let stage = try Stage(size: Self.size, seed: 5)
        try stage.content.write(to: stage.path("file"))
        try expectRefusal(stage, [], because: "nothing shows whether")
    }

    @Test(.timeLimit(.minutes(5))) func usesValidatorFromGETOnly() throws {
        let stage = try finished(["--xattr"])
        stage.origin.bend { request, reply in
            if request.method == "HEAD" { reply.set("ETag", nil) }
        }
        let requests = stage.origin.requests.count
        let outcome = try stage.run()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("already complete"))
        #expect(stage.bytesServed(after: requests) <= 1)
    }

    /// A matching digest suffices without manifest, attributes and network.
    @Test(.timeLimit(.minutes(5))) func matchingChecksumNeedsNoNetwork() throws {
        let stage = try finished([])
        let requests = stage.origin.requests.count
        let right = "sha-256:\(stage.content.sha256Hex)"
        let outcome = try stage.run(["-o", "file", "--checksum", right])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("already complete; checked \(right)"))
        #expect(stage.origin.requests.count == requests)
        #expect(try stage.run(["--checksum", right]).end == .exit(0))
        let wrong = "sha-256:" + String(repeating: "0", count: 64)
        try expectRefusal(stage, ["--checksum", wrong], because: "has the wrong checksum")
    }

    /// `--overwrite` downloads the file again, even if it is known to be complete.
    @Test(.timeLimit(.minutes(5)), arguments: ways)
    func overwriteDownloadsAgain(way: [String]) throws {
        let stage = try finished(way)
        let before = try stage.identity(of: "file")
        let requests = stage.origin.requests.count
        let outcome = try stage.run(way + ["--overwrite"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(stage.bytesServed(after: requests) >= Self.size)
        #expect(try stage.identity(of: "file") != before)
        #expect(try stage.isRight())
        #expect(try stage.names() == names(way))
    }

    /// The manifest of a removed or moved file does not count as one of a crashed run.
    @Test(.timeLimit(.minutes(5))) func startsWithKeptManifestOfMissingFile() throws {
        let stage = try finished(["--keep-manifest"])
        try stage.remove("file")
        let outcome = try stage.run(["--keep-manifest"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(!outcome.errorOutput.contains("starting over"), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
    }

    // MARK: Kills around publishing

    /// A power cut may leave any content in a file that was not yet renamed.
    @Test(
        .timeLimit(.minutes(5)), arguments: [true, false], ["{\"generation\":\"\n", "\u{11}\u{11}"])
    func keepsManifestAfterCrashDuringPublishing(isRenamed: Bool, rewrite: String) throws {
        let stage = try Stage(size: Self.size)
        try stage.leaveFinishedPart()
        if isRenamed {
            try FileManager.default.moveItem(
                atPath: stage.path("file.part"), toPath: stage.path("file"))
        }
        try stage.write(Array(rewrite.utf8), to: "file.segget~")
        stage.origin.stop()
        let outcome = try stage.run(["-o", "file", "--retries", "0", "--keep-manifest"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file", "file.segget"])
        #expect(stage.manifest()?.finished == Self.size)
        let verified = try Run(["verify", "file"], in: stage.folder).wait()
        #expect(verified.end == .exit(0), "\(verified.errorOutput)")
    }

    @Test(.timeLimit(.minutes(5))) func killsAtAnyMomentYieldNoWrongFile() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("kills with a kept manifest: seed \(seed)")
        var random = SplitMix64(seed: seed)
        let stage = try Stage(size: Self.size, seed: 7)
        let arguments = ["-q", "--keep-manifest", "--xattr"]
        for _ in 0..<25 {
            let process = try stage.start(arguments)
            let patience = Double.random(in: 0...0.2, using: &random)
            if !eventually(timeout: patience, { !process.isRunning }) { process.signal(SIGKILL) }
            let outcome = try process.wait()
            #expect(
                outcome.end == .exit(0) || outcome.end == .signal(SIGKILL),
                "seed \(seed): \(outcome.errorOutput)")
            guard try stage.names().contains("file") else { continue }
            #expect(try stage.isRight(), "seed \(seed)")
            if Bool.random(using: &random) { try stage.remove("file") }
        }
        let outcome = try stage.run(arguments)
        #expect(outcome.end == .exit(0), "seed \(seed): \(outcome.errorOutput)")
        #expect(try stage.isRight(), "seed \(seed)")
        #expect(try stage.names() == ["file", "file.segget"], "seed \(seed)")
        let verified = try Run(["verify", "file"], in: stage.folder).wait()
        #expect(verified.end == .exit(0), "seed \(seed): \(verified.errorOutput)")
    }
}

/// Tests that later runs recognize files of unusual size.
struct UnusualFinishedFileTests {
    @Test(.timeLimit(.minutes(5)), arguments: FinishedFileTests.ways)
    func recognizesEmptyFile(way: [String]) throws {
        let stage = try Stage(size: 0)
        #expect(try stage.run(way).end == .exit(0))
        let outcome = try stage.run()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("already complete"))
        let verified = try Run(["verify", "file"], in: stage.folder).wait()
        #expect(verified.end == .exit(0), "\(verified.output)\(verified.errorOutput)")
    }

    /// The server never states the size.
    @Test(.timeLimit(.minutes(5)), arguments: FinishedFileTests.ways)
    func recognizesFileOfUnknownSize(way: [String]) throws {
        let stage = try Stage(size: 2_000_000)
        stage.origin.hideSize()
        #expect(try stage.run(way).end == .exit(0))
        let outcome = try stage.run()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("already complete"), "\(outcome.errorOutput)")
        let verified = try Run(["verify", "file"], in: stage.folder).wait()
        #expect(verified.end == .exit(0), "\(verified.output)\(verified.errorOutput)")
        try stage.damage("file", at: 1_999_999)
        #expect(try stage.run().end == .exit(73))
    }

    /// The manifest has extents even if the server does not support ranges.
    @Test(.timeLimit(.minutes(5))) func keepsExtentsOfFileWithoutRanges() throws {
        let stage = try Stage(size: 20_000_000)
        stage.origin.change { $0.servesRanges = false }
        #expect(try stage.run(["--keep-manifest"]).end == .exit(0))
        let extents = try #require(stage.manifest()).extents.extents
        #expect(extents.allSatisfy { $0.range.count <= 8 << 20 })
        #expect(try Run(["verify", "file"], in: stage.folder).wait().end == .exit(0))
    }
}
