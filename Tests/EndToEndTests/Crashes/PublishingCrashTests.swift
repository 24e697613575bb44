import Assembler
import Foundation
import TestSupport
import Testing

/// What a kill around publishing leaves, and how the next run finishes it without network.
struct PublishingCrashTests {
    private static let size: Int64 = 2_000_000

    private func finish(
        _ stage: Stage, _ arguments: [String] = []
    ) throws -> ChildProcess.Outcome {
        stage.origin.stop()
        let outcome = try stage.run(["-o", "file", "--retries", "0"] + arguments)
        #expect(stage.origin.requests.isEmpty)
        return outcome
    }

    @Test(.timeLimit(.minutes(5)), arguments: [[], ["--overwrite"], ["--checksum"]])
    func renamesWhatWasAboutToBeRenamed(arguments: [String]) throws {
        let stage = try Stage(size: Self.size)
        try stage.leaveFinishedPart()
        let checksum = arguments == ["--checksum"] ? ["sha256=\(stage.content.sha256Hex)"] : []
        let outcome = try finish(stage, arguments + checksum)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }

    /// The rename was done, the removal of the manifest was not.
    @Test(.timeLimit(.minutes(5))) func tidiesUpAfterTheRename() throws {
        let stage = try Stage(size: Self.size)
        try stage.content.write(to: stage.path("file"))
        try stage.writeManifest(try stage.finishedRecords(try stage.identity(of: "file")))
        let outcome = try finish(stage)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }

    /// Where renameat2(2) is unknown, link(2) comes before unlink(2): both names may be there.
    @Test(.timeLimit(.minutes(5))) func tidiesUpBetweenLinkAndUnlink() throws {
        let stage = try Stage(size: Self.size)
        try stage.leaveFinishedPart()
        try FileManager.default.linkItem(
            atPath: stage.path("file.part"), toPath: stage.path("file"))
        let outcome = try finish(stage)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }

    /// The data did not survive, although the record did: a power cut.
    @Test(.timeLimit(.minutes(5))) func fetchesAgainWhatWasLost() throws {
        let stage = try Stage(size: Self.size)
        try stage.leaveFinishedPart()
        try stage.damage("file.part", at: Self.size - 1)
        let outcome = try stage.run(["-o", "file"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("failed their CRC-32"))
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }

    /// The same, found out after the rename: the file at the name is wrong.
    @Test(.timeLimit(.minutes(5))) func trustsNoPublishedFileWithoutACheck() throws {
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

    /// Another file has taken the name since.
    @Test(.timeLimit(.minutes(5))) func replacesNothingThatCameLater() throws {
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

    /// The digest that is asked for now is not the one of what was finished.
    @Test(.timeLimit(.minutes(5))) func finishesNothingWithAWrongDigest() throws {
        let stage = try Stage(size: Self.size)
        try stage.leaveFinishedPart()
        let wrong = "md5:" + String(repeating: "0", count: 32)
        let outcome = try stage.run(["-o", "file", "--checksum", wrong])
        #expect(outcome.end == .exit(65), "\(outcome.errorOutput)")
        #expect(try stage.names() == ["file.part", "file.segget"])
    }

    /// The record is about a part that is not there any more.
    @Test(.timeLimit(.minutes(5))) func ignoresARecordAboutAnotherFile() throws {
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
