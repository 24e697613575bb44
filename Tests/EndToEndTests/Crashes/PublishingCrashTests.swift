import Assembler
import Foundation
import TestSupport
import Testing

/// Tests that the next run finishes without network what a kill during publishing left.
struct PublishingCrashTests {
    private static let size: Int64 = 2_000_000

    private func finish(
        _ stage: Stage, _ arguments: [String] = []
    ) throws -> Run.Outcome {
        stage.origin.stop()
        let outcome = try stage.run(["-o", "file", "--retries", "0"] + arguments)
        #expect(stage.origin.requests.isEmpty)
        return outcome
    }

    @Test(.timeLimit(.minutes(5)), arguments: [[], ["--overwrite"], ["--checksum"]])
    func renamesFinishedPartWithoutNetwork(arguments: [String]) throws {
        let stage = try Stage(size: Self.size)
        try stage.leaveFinishedPart()
        let checksum = arguments == ["--checksum"] ? ["sha256=\(stage.content.sha256Hex)"] : []
        let outcome = try finish(stage, arguments + checksum)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }

    /// The file was renamed, but the manifest was not removed.
    @Test(.timeLimit(.minutes(5))) func removesManifestAfterRename() throws {
        let stage = try Stage(size: Self.size)
        try stage.content.write(to: stage.path("file"))
        try stage.writeManifest(try stage.finishedRecords(try stage.identity(of: "file")))
        let outcome = try finish(stage)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }

    /// Without renameat2(2), segget calls link(2) before unlink(2), so both names may exist.
    @Test(.timeLimit(.minutes(5))) func removesPartBetweenLinkAndUnlink() throws {
        let stage = try Stage(size: Self.size)
        try stage.leaveFinishedPart()
        try FileManager.default.linkItem(
            atPath: stage.path("file.part"), toPath: stage.path("file"))
        let outcome = try finish(stage)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }

    /// A power cut lost data although the manifest records it.
    @Test(.timeLimit(.minutes(5))) func downloadsLostDataAgain() throws {
        let stage = try Stage(size: Self.size)
        try stage.leaveFinishedPart()
        try stage.damage("file.part", at: Self.size - 1)
        let outcome = try stage.run(["-o", "file"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("failed their CRC-32"))
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }

    /// A power cut lost data of a file that was already renamed.
    @Test(.timeLimit(.minutes(5))) func checksPublishedFileAfterCrash() throws {
        let stage = try Stage(size: Self.size)
        try stage.content.write(to: stage.path("file"))
        try stage.writeManifest(try stage.finishedRecords(try stage.identity(of: "file")))
        try stage.damage("file", at: 10)
        let outcome = try stage.run(["-o", "file"])
        #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
        let second = try stage.run(["-o", "file", "--overwrite"])
        #expect(second.end == .exit(0), "\(second.errorOutput)")
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }

    /// Another file was created at the destination after the crash.
    @Test(.timeLimit(.minutes(5))) func doesNotReplaceLaterFile() throws {
        let stage = try Stage(size: Self.size)
        try stage.leaveFinishedPart()
        try stage.write(Array("mine".utf8), to: "file")
        let outcome = try stage.run(["-o", "file"])
        #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
        #expect(try stage.read("file") == Array("mine".utf8))
        let second = try stage.run(["-o", "file", "--overwrite"])
        #expect(second.end == .exit(0), "\(second.errorOutput)")
        #expect(try stage.isRight())
        #expect(stage.origin.bytesServed == 0)
    }

    /// The requested digest is not that of the finished file.
    @Test(.timeLimit(.minutes(5))) func doesNotFinishPartWithWrongDigest() throws {
        let stage = try Stage(size: Self.size)
        try stage.leaveFinishedPart()
        let wrong = "md5:" + String(repeating: "0", count: 32)
        let outcome = try stage.run(["-o", "file", "--checksum", wrong])
        #expect(outcome.end == .exit(65), "\(outcome.errorOutput)")
        #expect(try stage.names() == ["file.part", "file.segget"])
    }

    /// The manifest records another inode than that of the part.
    @Test(.timeLimit(.minutes(5))) func ignoresRecordAboutAnotherFile() throws {
        let stage = try Stage(size: Self.size)
        var other = try { () -> FileIdentity in
            try stage.leaveFinishedPart()
            return try stage.identity(of: "file.part")
        }()
        other.inode += 1
        try stage.writeManifest(try stage.finishedRecords(other))
        let outcome = try stage.run(["-o", "file"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
        #expect(stage.origin.bytesServed == 0)
    }
}
