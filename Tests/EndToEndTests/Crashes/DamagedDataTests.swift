import Assembler
import Foundation
import Glibc
import TestSupport
import Testing

/// Tests resuming from a part that differs from its manifest.
struct DamagedDataTests {
    private static let size: Int64 = 100_000_000

    /// Leaves two contiguous ranges of 18 MB, each longer than the longest extent.
    private func staged() throws -> (stage: Stage, kept: Int64) {
        let stage = try Stage(size: Self.size, seed: 60)
        return (stage, try stage.leavePart(each: 18_000_000, connections: 2))
    }

    private func finish(_ stage: Stage) throws -> (outcome: Run.Outcome, asked: Int64) {
        let requests = stage.origin.requests.count
        let outcome = try stage.run()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
        return (outcome, stage.bytesAsked(after: requests))
    }

    @Test(.timeLimit(.minutes(5))) func downloadsOnlyDamagedExtentsAgain() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("damaged data: seed \(seed)")
        var random = SplitMix64(seed: seed)
        let (stage, kept) = try staged()
        let manifest = try #require(stage.manifest())
        let covered = manifest.extents.covered
        var damaged: Set<Int64> = []
        for _ in 0..<3 {
            let run = try #require(covered.ranges.randomElement(using: &random))
            let offset = Int64.random(in: run.start..<run.end, using: &random)
            try stage.damage("file.part", at: offset)
            let extent = try #require(
                manifest.extents.extents.first {
                    !$0.range.intersection(ByteRange(offset, offset + 1)).isEmpty
                })
            damaged.insert(extent.range.start)
        }
        let again = manifest.extents.extents.filter { damaged.contains($0.range.start) }
            .reduce(0) { $0 + $1.range.count }
        #expect(again <= 3 * (16 << 20))
        let (outcome, asked) = try finish(stage)
        #expect(asked == Self.size - kept + again, "seed \(seed)")
        #expect(
            outcome.errorOutput.components(separatedBy: "failed their CRC-32").count - 1
                == damaged.count, "seed \(seed): \(outcome.errorOutput)")
    }

    @Test(.timeLimit(.minutes(5)), arguments: [0, 1, 20_000_000] as [Int64])
    func downloadsRestOfTruncatedPart(length: Int64) throws {
        let (stage, _) = try staged()
        try #require(truncate(stage.path("file.part"), off_t(length)) == 0)
        let intact = try #require(stage.manifest()).extents.extents
            .filter { $0.range.end <= length }.reduce(0) { $0 + $1.range.count }
        let (outcome, asked) = try finish(stage)
        #expect(outcome.errorOutput.contains("failed their CRC-32"))
        #expect(asked == Self.size - intact)
    }

    @Test(.timeLimit(.minutes(5))) func downloadsAllAgainIfPartIsZeros() throws {
        let (stage, _) = try staged()
        try #require(truncate(stage.path("file.part"), 0) == 0)
        try #require(truncate(stage.path("file.part"), off_t(Self.size)) == 0)
        #expect(try finish(stage).asked == Self.size)
    }

    @Test(.timeLimit(.minutes(5))) func ignoresBytesAfterEndOfFile() throws {
        let (stage, kept) = try staged()
        try #require(truncate(stage.path("file.part"), off_t(Self.size + 12_345)) == 0)
        #expect(try finish(stage).asked == Self.size - kept)
    }

    /// Another file of the same size has the name of the part.
    @Test(.timeLimit(.minutes(5))) func downloadsAllAgainIfPartIsAnotherFile() throws {
        let (stage, _) = try staged()
        try Content(size: Self.size, seed: 61).write(to: stage.path("file.part"))
        #expect(try finish(stage).asked == Self.size)
    }
}

/// Tests that a damaged manifest leads to another download or to a message, never to a wrong file.
struct DamagedManifestTests {
    private static let size: Int64 = 600_000

    /// A manifest of a killed run, with a part that differs from it in one byte.
    private struct Leftover {
        let manifest: [UInt8]
        let part: [UInt8]
        let isRunning: Stage
    }

    private func leftover() throws -> Leftover {
        let stage = try Stage(size: Self.size, seed: 70)
        // Each connection receives some more bytes in each round, so that the manifest has several
        // records.
        for each in [30_000, 20_000, 10_000] as [Int64] {
            stage.origin.bendGET { $0.stallAfter = each }
            let process = try stage.start(["-x", "4"])
            let before = stage.recorded() ?? 0
            try #require(process.waits(for: before + each))
            process.signal(SIGKILL)
            _ = try process.wait()
            stage.origin.dropConnections()
        }
        stage.origin.behave()
        let extents = try #require(stage.manifest()).extents.extents
        let wrong = try #require(extents.dropFirst().first)
        try stage.damage("file.part", at: wrong.range.start + 7)
        return Leftover(
            manifest: try stage.read("file.segget"), part: try stage.read("file.part"),
            isRunning: stage)
    }

    private func check(_ leftover: Leftover, _ manifest: [UInt8], _ what: String) throws {
        let stage = leftover.isRunning
        for name in try stage.names() { try stage.remove(name) }
        try stage.write(leftover.part, to: "file.part")
        try stage.write(manifest, to: "file.segget")
        let outcome = try stage.run(["-q", "-x", "3"])
        switch outcome.end {
        case .exit(0):
            #expect(try stage.isRight(), "\(what)")
            #expect(try stage.names() == ["file"], "\(what)")
            #expect(outcome.errorOutput.isEmpty, "\(what): \(outcome.errorOutput)")
        case .exit(let code):
            #expect(code == 73, "\(what)")
            #expect(outcome.errorOutput.hasPrefix("error: "), "\(what)")
            #expect(try !stage.names().contains("file"), "\(what)")
        case .signal(let signal):
            Issue.record("\(what): ended by signal \(signal): \(outcome.errorOutput)")
        }
    }

    @Test(.timeLimit(.minutes(5))) func truncatedManifestYieldsNoWrongFile() throws {
        let leftover = try leftover()
        let count = leftover.manifest.count
        let lengths = Set(stride(from: 0, to: count, by: max(1, count / 20)))
            .union([0, 1, 2, count - 1, count - 2, count - 12])
        for length in lengths.sorted() {
            try check(leftover, Array(leftover.manifest.prefix(length)), "the first \(length)")
        }
    }

    @Test(.timeLimit(.minutes(5))) func flippedBitInManifestYieldsNoWrongFile() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("flipped bits: seed \(seed)")
        var random = SplitMix64(seed: seed)
        let leftover = try leftover()
        for _ in 0..<50 {
            let bit = Int.random(in: 0..<leftover.manifest.count * 8, using: &random)
            var manifest = leftover.manifest
            manifest[bit / 8] ^= 1 << (bit % 8)
            try check(leftover, manifest, "seed \(seed), bit \(bit)")
        }
    }
}
