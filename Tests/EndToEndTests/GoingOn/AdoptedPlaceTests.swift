import Assembler
import Foundation
import Glibc
import TestSupport
import Testing

/// Tests `--adopt` with the other program's file at different paths.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct AdoptedPlaceTests {
    private static let size: Int64 = 8_000_000
    private static let begun: Int64 = 5_000_000

    private func staged(_ name: String) throws -> Stage {
        let stage = try Stage(size: Self.size, seed: 80)
        try stage.leavePrefix(name, Self.begun)
        return stage
    }

    private func expectRest(
        _ stage: Stage, _ arguments: [String], after count: Int = 0, names: [String],
        at location: SourceLocation = #_sourceLocation
    ) throws {
        let outcome = try stage.run(arguments)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)", sourceLocation: location)
        #expect(try stage.isRight(), sourceLocation: location)
        #expect(try stage.names() == names, sourceLocation: location)
        let most = Self.size - Self.begun + (256 << 10)
        #expect(stage.bytesAsked(after: count) <= most, sourceLocation: location)
    }

    /// A browser that downloaded to the same folder may use this name.
    @Test(arguments: AdoptionProof.allCases)
    func adoptsFileAtPartName(proof: AdoptionProof) throws {
        let stage = try staged("file.part")
        try expectRest(
            stage, ["--adopt", "file.part"] + proof.arguments(stage), names: ["file"])
    }

    @Test func refusesOtherFileAtPartName() throws {
        let stage = try staged("old")
        try stage.leavePrefix("file.part", 1000)
        let before = try ["old", "file.part"].map(stage.facts)
        let outcome = try stage.run(["--adopt", "old"] + stage.rightChecksum)
        #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("was not made by segget"))
        #expect(try ["old", "file.part"].map(stage.facts) == before)
        try expectRest(
            stage, ["--adopt", "old", "--overwrite"] + stage.rightChecksum,
            after: stage.origin.requests.count, names: ["file", "old"])
    }

    /// curl writes to the final name from the start.
    @Test(arguments: AdoptionProof.allCases, [true, false])
    func adoptsFileAtDestination(proof: AdoptionProof, isNamed: Bool) throws {
        let stage = try staged("file")
        let arguments = ["--adopt", "file"] + (isNamed ? ["-o", "file"] : [])
        try expectRest(stage, arguments + proof.arguments(stage), names: ["file"])
        // The file is complete now, and a checksum confirms it.
        let count = stage.origin.requests.count
        let again = try stage.run(arguments + stage.rightChecksum)
        #expect(again.end == .exit(0) && again.errorOutput.contains("already complete"))
        #expect(stage.bytesServed(after: count) < 1000)
    }

    @Test func wrongDigestLeavesDestinationUnchanged() throws {
        let stage = try staged("file")
        let before = try stage.facts("file")
        let outcome = try stage.run(["--adopt", "file"] + Stage.wrongChecksum)
        #expect(outcome.end == .exit(65), "\(outcome.errorOutput)")
        #expect(try stage.facts("file") == before)
    }

    @Test func adoptsCompleteFileAtOtherPath() throws {
        let stage = try staged("old")
        try stage.leavePrefix("old", Self.size)
        let before = try stage.facts("old")
        let outcome = try stage.run(["--adopt", "old"] + stage.rightChecksum)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try stage.facts("old") == before)
        #expect(stage.bytesAsked(after: 0) <= 256 << 10)
    }

    @Test(arguments: AdoptionProof.allCases)
    func adoptsFileOnOtherFileSystem(proof: AdoptionProof) throws {
        let memory = try Tmpfs(size: 64 << 20)
        let stage = try Stage(size: Self.size, seed: 80)
        let path = memory.path("old")
        try Data(stage.content.bytes(0..<Self.begun)).write(to: URL(fileURLWithPath: path))
        try expectRest(stage, ["--adopt", path] + proof.arguments(stage), names: ["file"])
        #expect(try stage.content.firstDifference(at: path, in: 0..<Self.begun) == nil)
    }

    @Test func refusesIfDiskIsTooSmall() throws {
        let memory = try Tmpfs(size: Self.size + (1 << 20))
        let stage = try Stage(size: Self.size, seed: 80, in: memory.path)
        try stage.leavePrefix("old", Self.begun)
        let before = try stage.facts("old")
        let outcome = try stage.run(["--adopt", "old"] + stage.rightChecksum)
        #expect(outcome.end == .exit(74), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("too little space"))
        #expect(try stage.facts("old") == before)
        #expect(try stage.names() == ["old"])
        // A moved file needs no additional disk space.
        try expectRest(
            stage, ["--adopt", "old", "--resume-unverified"], after: stage.origin.requests.count,
            names: ["file"])
    }

    /// A run that is killed just before it renames the file leaves this state.
    @Test func adoptsDespiteManifestWithoutPart() throws {
        let stage = try staged("old")
        let extent = Extent(ByteRange(0, Self.begun), crc: 7)
        try stage.writeManifest([Manifest.Record(extents: [extent])])
        let dry = try stage.run(["--adopt", "old", "--resume-unverified", "--dry-run", "--json"])
        #expect(dry.output.contains("\"action\":\"adopt\""), "\(dry.output)\(dry.errorOutput)")
        try expectRest(
            stage, ["--adopt", "old", "--resume-unverified"], after: stage.origin.requests.count,
            names: ["file"])
    }

    @Test func adoptsIntoCreatedFolder() throws {
        let stage = try staged("old")
        let outcome = try stage.run(["--adopt", "old", "-d", "new", "--resume-unverified"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight("new/file"))
        #expect(try stage.names() == ["new"])
    }

    @Test(arguments: ["old", "file.part", "file"]) func dryRunChangesNothing(name: String) throws {
        let stage = try staged(name)
        let before = try stage.facts(name)
        let outcome = try stage.run(
            ["--adopt", name, "--dry-run", "--json", "--resume-unverified"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.output.contains("\"action\":\"adopt\""))
        #expect(outcome.output.contains("\"bytes_kept\":\(Self.begun)"))
        #expect(try stage.facts(name) == before)
        #expect(try stage.names() == [name])
        let refused = try stage.run(["--adopt", name, "--dry-run"])
        #expect(refused.end == .exit(64), "\(refused.errorOutput)")
    }
}
