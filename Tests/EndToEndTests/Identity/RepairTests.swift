import Assembler
import Foundation
import Glibc
import TestSupport
import Testing

/// Tests `segget repair`.
struct RepairTests {
    private static let size: Int64 = 60_000_000

    private func damaged(_ offsets: [Int64], way: [String] = []) throws -> Stage {
        let stage = try Stage(size: Self.size, seed: 21)
        let outcome = try stage.run(["-q", "--keep-manifest"] + way)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for offset in offsets { try stage.damage("file", at: offset) }
        return stage
    }

    private func start(_ stage: Stage, _ arguments: [String] = [], path: String = "/file") throws
        -> Run
    {
        try Run(
            ["repair", "file", stage.origin.url(path)] + arguments, in: stage.folder)
    }

    private func repair(_ stage: Stage, _ arguments: [String] = [], path: String = "/file") throws
        -> Run.Outcome
    {
        try start(stage, arguments, path: path).wait()
    }

    /// Returns the number of bytes in the extents that contain these offsets.
    private func lost(_ stage: Stage, _ offsets: [Int64]) throws -> Int64 {
        try #require(stage.manifest()).extents.extents
            .filter { extent in
                offsets.contains { extent.range.start <= $0 && $0 < extent.range.end }
            }
            .reduce(0) { $0 + $1.range.count }
    }

    @Test(.timeLimit(.minutes(5)), arguments: [true, false])
    func downloadsOnlyDamagedExtents(proves: Bool) throws {
        let offsets: [Int64] = [1, Self.size - 1]
        let stage = try damaged(offsets)
        let missing = try lost(stage, offsets)
        // The length of extents depends on the load of the machine, but is less than the whole
        // file.
        #expect(missing < Self.size)
        let requests = stage.origin.requests.count
        let digest = "sha-256:\(stage.content.sha256Hex)"
        let outcome = try repair(stage, proves ? ["--checksum", digest] : [])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        if proves { #expect(outcome.errorOutput.contains("verified \(digest)")) }
        #expect(try stage.isRight())
        #expect(stage.bytesAsked(after: requests) == missing)
        // The file can be verified and repaired again.
        #expect(try stage.names() == ["file", "file.segget"])
        #expect(try Run(["verify", "file"], in: stage.folder).wait().end == .exit(0))
        let after = stage.origin.requests.count
        let again = try repair(stage)
        #expect(again.end == .exit(0) && again.errorOutput.contains("already complete"))
        #expect(stage.origin.requests.count == after, "nothing to ask for")
    }

    @Test(.timeLimit(.minutes(5)), arguments: [Self.size - 1_000_000, Self.size + 10])
    func repairsFileOfWrongLength(length: Int64) throws {
        let stage = try damaged([])
        try #require(truncate(stage.path("file"), off_t(length)) == 0)
        let outcome = try repair(stage)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
    }

    @Test(.timeLimit(.minutes(5))) func updatesAttributes() throws {
        let stage = try damaged([5], way: ["--xattr"])
        #expect(try repair(stage).end == .exit(0))
        try stage.remove("file.segget")
        let verified = try Run(["verify", "file"], in: stage.folder).wait()
        #expect(verified.end == .exit(0), "\(verified.errorOutput)")
        #expect(verified.output.contains("by the extended attributes"))
    }

    /// Returns the bytes of the file and of its manifest.
    private func snapshot(_ stage: Stage) throws -> [[UInt8]] {
        #expect(try stage.names() == ["file", "file.segget"])
        return [try stage.read("file"), try stage.read("file.segget")]
    }

    @Test(.timeLimit(.minutes(5))) func refusesOtherVersion() throws {
        let stage = try damaged([5])
        let before = try snapshot(stage)
        let requests = stage.origin.requests.count
        stage.origin.change { $0.etag = "\"v2\"" }
        let tag = try repair(stage)
        #expect(tag.end == .exit(76), "\(tag.errorOutput)")
        #expect(tag.errorOutput.contains("ETag was"))
        #expect(try snapshot(stage) == before)
        stage.origin.change { $0.etag = nil }
        #expect(try repair(stage).end == .exit(76))
        stage.origin.change { offer in
            offer.etag = "\"v1\""
            offer.servesRanges = false
        }
        #expect(try repair(stage).end == .exit(76))
        stage.origin.change { $0.servesRanges = true }
        let other = try repair(stage, path: "/other")
        #expect(other.end == .exit(76), "\(other.errorOutput)")
        #expect(other.errorOutput.contains("from another URL"))
        #expect(try snapshot(stage) == before)
        // A server that ignores ranges sends some bytes before segget closes the connection.
        #expect(stage.bytesServed(after: requests) < Self.size)
        stage.origin.behave()
        #expect(try repair(stage).end == .exit(0))
        #expect(try stage.isRight())
    }

    /// The remote file changes after the repair has begun.
    @Test(.timeLimit(.minutes(5))) func refusesVersionThatChangesDuringRepair() throws {
        let stage = try damaged([5, 30_000_000])
        let before = try snapshot(stage)
        stage.origin.bend { request, reply in
            guard request.method == "GET" else { return }
            reply.set("ETag", "\"v2\"")
        }
        let outcome = try repair(stage, ["--retries", "2"])
        #expect(outcome.end == .exit(76), "\(outcome.errorOutput)")
        #expect(try snapshot(stage) == before)
    }

    @Test(.timeLimit(.minutes(5))) func wrongChecksumLeavesFileUnchanged() throws {
        let stage = try damaged([5])
        let before = try snapshot(stage)
        let wrong = "md5:" + String(repeating: "0", count: 32)
        let outcome = try repair(stage, ["--checksum", wrong])
        #expect(outcome.end == .exit(65), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("it is left unchanged"))
        #expect(try snapshot(stage) == before)
        #expect(try repair(stage).end == .exit(0))
        let intact = try repair(stage, ["--checksum", wrong])
        #expect(intact.end == .exit(65), "\(intact.errorOutput)")
        #expect(try stage.isRight())
    }

    @Test(.timeLimit(.minutes(5))) func repairRequiresManifest() throws {
        let stage = try damaged([5])
        try stage.remove("file.segget")
        let before = try stage.read("file")
        for arguments in [[], ["--checksum", "crc32:00000000"]] {
            let outcome = try repair(stage, arguments)
            #expect(outcome.end == .exit(64), "\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains("no kept manifest"))
            #expect(outcome.errorOutput.contains("`--overwrite`"))
        }
        #expect(try stage.read("file") == before)
        try stage.remove("file")
        let outcome = try repair(stage)
        #expect(outcome.end == .exit(64))
        #expect(outcome.errorOutput.contains("there is nothing to repair at `file`"))
    }

    @Test(.timeLimit(.minutes(5))) func repairCompletesPart() throws {
        let stage = try Stage(size: Self.size, seed: 22)
        let kept = try stage.leavePart(each: 4_000_000)
        let extent = try #require(stage.manifest()?.extents.extents.first).range
        try stage.damage("file.part", at: extent.start)
        let requests = stage.origin.requests.count
        let outcome = try repair(stage)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        let missing = Self.size - kept + extent.count
        #expect(stage.bytesAsked(after: requests) <= missing)
    }

    // MARK: Interruption

    @Test(.timeLimit(.minutes(5)), arguments: [SIGKILL, SIGTERM])
    func interruptedRepairResumes(signal: Int32) throws {
        let offsets: [Int64] = [1, 30_000_000]
        let stage = try damaged(offsets)
        let before = try stage.read("file")
        let missing = try lost(stage, offsets)
        stage.origin.bendGET { $0.stallAfter = 200_000 }
        let process = try start(stage, ["-x", "2"])
        // The part's manifest records the intact ranges, and some received bytes.
        let kept = Self.size - missing + 100_000
        try #require(
            process.waits {
                stage.manifest()?.finished == nil && (stage.recorded() ?? 0) >= kept
            })
        process.signal(signal)
        _ = try process.wait()
        stage.origin.dropConnections()
        #expect(try stage.read("file") == before, "the file is as it was")
        #expect(try stage.names() == ["file", "file.part", "file.segget"])
        stage.origin.behave()
        let requests = stage.origin.requests.count
        let outcome = try repair(stage)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file", "file.segget"])
        #expect(stage.bytesAsked(after: requests) <= missing - 100_000)
    }

    /// A repair with another URL's file, which only a checksum allows, must match the file's
    /// recorded digests, also after it was resumed.
    ///
    /// A repair without the checksum does not resume it.
    @Test(.timeLimit(.minutes(5))) func resumedRepairMustMatchRecordedDigests() throws {
        // All extents are damaged, so that the whole other file is downloaded.
        let stage = try damaged(Array(stride(from: 1, to: Self.size, by: 4 << 20)))
        let before = try stage.read("file")
        let other = try Stage(size: Self.size, seed: 23, in: stage.folder)
        let checksum = ["--checksum", "sha256:\(other.content.sha256Hex)"]
        other.origin.bendGET { $0.stallAfter = 200_000 }
        let process = try start(other, checksum + ["-x", "2"])
        try #require(
            process.waits {
                stage.manifest()?.finished == nil && other.origin.bytesServed > 400_000
            })
        process.signal(SIGTERM)
        _ = try process.wait()
        other.origin.behave()
        let alone = try repair(stage)
        #expect(alone.end == .exit(76), "\(alone.errorOutput)")
        let continued = try repair(other, checksum)
        #expect(continued.end == .exit(65), "\(continued.errorOutput)")
        #expect(try stage.read("file") == before)
    }

    @Test(.timeLimit(.minutes(5))) func killsDuringRepairKeepFileOrRepairIt() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("kills of a repair: seed \(seed)")
        var random = SplitMix64(seed: seed)
        let stage = try damaged([1, 30_000_000])
        let wrong = try stage.read("file")
        let manifest = try stage.read("file.segget")
        var done = 0
        for _ in 0..<12 {
            let process = try start(stage, ["-q"])
            let patience = Double.random(in: 0...0.4, using: &random)
            if !eventually(timeout: patience, { !process.isRunning }) { process.signal(SIGKILL) }
            let outcome = try process.wait()
            #expect(
                outcome.end == .exit(0) || outcome.end == .signal(SIGKILL),
                "seed \(seed): \(outcome.errorOutput)")
            let isRight = try stage.isRight()
            if outcome.end == .exit(0) { #expect(isRight, "seed \(seed)") }
            let now = try stage.read("file")
            #expect(isRight || now == wrong, "seed \(seed): neither as it was nor right")
            guard isRight else { continue }
            // Restore the damaged file and begin again.
            done += 1
            for name in try stage.names() { try stage.remove(name) }
            try stage.write(wrong, to: "file")
            try stage.write(manifest, to: "file.segget")
        }
        print("kills of a repair: \(done) came to their end")
        let outcome = try repair(stage)
        #expect(outcome.end == .exit(0), "seed \(seed): \(outcome.errorOutput)")
        #expect(try stage.isRight(), "seed \(seed)")
    }
}
