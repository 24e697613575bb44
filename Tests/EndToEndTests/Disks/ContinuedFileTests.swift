import Foundation
import TestSupport
import Testing

/// `--continue` with a shorter file that another program began to download.
@Suite(.timeLimit(.minutes(5)))
struct ContinuedFileTests {
    /// The evidence that the shorter file is the beginning of the server's.
    enum Decider: CaseIterable, Sendable {
        case checksum, stated, nothing, otherBeginning, otherMiddle
    }

    @Test(arguments: UnmarkedStage.Way.allCases, Decider.allCases)
    func continuesShorterFileOnlyWithDigest(way: UnmarkedStage.Way, decider: Decider) throws {
        let trial = try UnmarkedStage()
        let stage = trial.stage
        guard way != .list || decider != .checksum else { return }
        var bytes = stage.content.bytes(0..<UnmarkedStage.begun)
        if decider == .otherBeginning { bytes[3] ^= 1 }
        // Mostly outside the sample, which covers the beginning and the end.
        if decider == .otherMiddle { bytes[300_000] ^= 1 }
        try stage.write(bytes, to: "file")
        let before = try stage.facts("file")
        var arguments = ["-c"]
        if decider == .checksum { arguments += ["--checksum", stage.content.sha256Hex] }
        if decider != .checksum, decider != .nothing {
            trial.state(digest: stage.content.sha256)
        }
        let outcome = try trial.run(way, arguments)
        let text = outcome.errorOutput
        switch decider {
        case .checksum, .stated:
            #expect(outcome.end == .exit(0), "\(text)")
            #expect(try stage.isRight())
            #expect(try stage.names() == ["file"])
            let missing = UnmarkedStage.size - UnmarkedStage.begun
            #expect(stage.bytesServed(after: 0) < missing + 400_000)
        case .nothing, .otherBeginning:
            #expect(outcome.end == .exit(73), "\(text)")
            if way != .queue { #expect(text.contains("--adopt"), "\(text)") }
            #expect(try stage.facts("file") == before)
            #expect(try stage.names() == ["file"])
        case .otherMiddle:
            // The sample may include the changed byte.
            #expect([.exit(65), .exit(73)].contains(outcome.end), "\(text)")
            #expect(try stage.facts("file") == before)
        }
    }

    /// The queue adds a number to a name that is taken, unless it continues that file.
    @Test(arguments: [true, false]) func taskWithoutNameContinuesFile(hasDigest: Bool) throws {
        let trial = try UnmarkedStage()
        let stage = trial.stage
        try stage.write(stage.content.bytes(0..<UnmarkedStage.begun), to: "file")
        if hasDigest { trial.state(digest: stage.content.sha256) }
        let queue = ["--queue", trial.home.path("q.db")]
        let environment = ["SEGGET_NO_CONFIG": "1"]
        for command in [["add", "-c", stage.origin.url("/file")], ["run"]] {
            let outcome = try Run(
                command + queue, in: stage.folder, environment: environment
            ).wait()
            #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        }
        #expect(try stage.names() == (hasDigest ? ["file"] : ["file", "file.1"]))
        #expect(try stage.isRight(hasDigest ? "file" : "file.1"))
    }

    @Test func optionOfListContinuesFile() throws {
        let trial = try UnmarkedStage()
        let stage = trial.stage
        try stage.write(stage.content.bytes(0..<UnmarkedStage.begun), to: "file")
        trial.state(digest: stage.content.sha256)
        let list = try trial.home.write("list", "\(stage.origin.url("/file"))\n  continue=true\n")
        let outcome = try Run(["-i", list], in: stage.folder).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
    }
}
