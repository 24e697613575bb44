import Assembler
import Foundation
import Glibc
import TestSupport
import Testing

/// Tests that `--adopt` accepts only verified files, and leaves refused ones unchanged.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct AdoptedProofTests {
    private static let size: Int64 = 20_000_000
    private static let begun: Int64 = 12_000_000

    private func staged() throws -> Stage {
        let stage = try Stage(size: Self.size, seed: 78)
        try stage.leavePrefix("old", Self.begun)
        return stage
    }

    /// Expects that the run fails with this code and message, and changes no file.
    private func expectRefusal(
        _ stage: Stage, _ arguments: [String], _ code: Int32, _ words: String,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        let names = try stage.names()
        let before = try names.map(stage.facts)
        let outcome = try stage.run(["--adopt", "old"] + arguments)
        #expect(outcome.end == .exit(code), "\(outcome.errorOutput)", sourceLocation: location)
        #expect(
            outcome.errorOutput.contains(words), "\(outcome.errorOutput)",
            sourceLocation: location)
        #expect(try stage.names() == names, sourceLocation: location)
        #expect(try names.map(stage.facts) == before, sourceLocation: location)
    }

    // MARK: Another version

    @Test(arguments: AdoptionProof.allCases) func refusesOtherVersion(proof: AdoptionProof) throws {
        let stage = try staged()
        stage.origin.change { $0.content = Content(size: Self.size, seed: 79) }
        try expectRefusal(stage, proof.arguments(stage), 76, "differ from what the server sends")
    }

    /// One byte differs at an offset that samples usually do not cover.
    @Test(arguments: [false, true])
    func differentByteOutsideSamplesIsFound(isInPlace: Bool) throws {
        let stage = try staged()
        let name = isInPlace ? "file.part" : "old"
        if isInPlace { try #require(rename(stage.path("old"), stage.path(name)) == 0) }
        let place = Int64.random(in: 1_000_000..<11_000_000)
        try stage.damage(name, at: place)
        let before = try stage.facts(name)
        let outcome = try stage.run(["--adopt", name] + stage.rightChecksum)
        let isSampled = stage.origin.requests.contains {
            $0.range?.bytes(of: Self.size).contains(place) == true
        }
        #expect(outcome.end == .exit(isSampled ? 76 : 65), "\(outcome.errorOutput)")
        if !isSampled { #expect(outcome.errorOutput.contains("it is left unchanged")) }
        #expect(try !stage.names().contains("file"))
        let after = try stage.facts(name)
        #expect(after.content == before.content && after.inode == before.inode)
        if isInPlace {
            #expect(try stage.names() == [name])
        } else {
            #expect(after == before)
        }
    }

    @Test func rightChecksumSucceedsAfterWrongOne() throws {
        let stage = try staged()
        let wrong = try stage.run(["--adopt", "old"] + Stage.wrongChecksum)
        #expect(wrong.end == .exit(65), "\(wrong.errorOutput)")
        let count = stage.origin.requests.count
        // segget does not start over automatically.
        let again = try stage.run(["--adopt", "old"] + Stage.wrongChecksum)
        #expect(again.end == .exit(76), "\(again.errorOutput)")
        #expect(again.errorOutput.contains("had the wrong checksum"))
        let right = try stage.run(["--adopt", "old"] + stage.rightChecksum)
        #expect(right.end == .exit(0), "\(right.errorOutput)")
        #expect(try stage.isRight())
        #expect(stage.bytesServed(after: count) < 1 << 20)
        #expect(
            try stage.content.firstDifference(at: stage.path("old"), in: 0..<Self.begun) == nil)
    }

    @Test func refusesLongerFile() throws {
        let stage = try staged()
        stage.origin.change { $0.content = Content(size: 5_000_000, seed: 78) }
        try expectRefusal(stage, stage.rightChecksum, 76, "they are different files")
    }

    /// The remote file changes while segget downloads the rest; the adopted bytes are not deleted.
    @Test(arguments: AdoptionProof.allCases)
    func remoteChangeKeepsAdoptedBytes(proof: AdoptionProof) throws {
        let stage = try staged()
        let isOld = Guarded(true)
        stage.origin.bend { request, reply in
            // After the adopted bytes.
            if let first = request.range?.first, first > Self.begun + 1_000_000 {
                isOld.withLock { $0 = false }
            }
            if !isOld.withLock({ $0 }) { reply.set("ETag", "\"v2\"") }
        }
        let outcome = try stage.run(
            ["--retries", "2", "--adopt", "old"] + proof.arguments(stage))
        #expect(outcome.end == .exit(76), "\(outcome.errorOutput)")
        #expect(try #require(stage.recorded()) >= Self.begun)
        stage.origin.behave()
        let again = try stage.run(["--adopt", "old"] + proof.arguments(stage))
        #expect(again.end == .exit(0), "\(again.errorOutput)")
        #expect(try stage.isRight())
    }

    // MARK: Required evidence

    @Test func adoptRequiresEvidence() throws {
        let stage = try staged()
        try expectRefusal(stage, [], 64, "give `--checksum`, or `--resume-unverified`")
    }

    /// The server's advertised digest is the only evidence; it counts in later runs as well.
    @Test(arguments: [true, false]) func advertisedDigestDecides(isRight: Bool) throws {
        let stage = try staged()
        let digest = Data(isRight ? stage.content.sha256 : [UInt8](repeating: 7, count: 32))
        let isHeld = Guarded(true)
        stage.origin.change { offer in
            offer.etag = nil
            offer.bend = { request, reply in
                reply.set("Repr-Digest", "sha-256=:\(digest.base64EncodedString()):")
                guard isHeld.withLock({ $0 }), (request.range?.first ?? 0) >= Self.begun else {
                    return
                }
                reply.stallAfter = 200_000
            }
        }
        let before = try stage.facts("old")
        let process = try stage.start(["--adopt", "old"])
        #expect(process.waits(for: Self.begun + 200_000))
        process.signal(SIGKILL)
        _ = try process.wait()
        stage.origin.dropConnections()
        isHeld.withLock { $0 = false }
        #expect(stage.manifest()?.header.required.count == 1)
        let outcome = try stage.run(["--adopt", "old"])
        #expect(outcome.end == .exit(isRight ? 0 : 65), "\(outcome.errorOutput)")
        #expect(try stage.names().contains("file") == isRight)
        #expect(try stage.facts("old") == before)
    }

    @Test func refusesServerWithoutRanges() throws {
        let stage = try staged()
        stage.origin.change { $0.servesRanges = false }
        try expectRefusal(stage, stage.rightChecksum, 76, "serves no byte ranges")
        stage.origin.hideSize()
        try expectRefusal(stage, stage.rightChecksum, 76, "serves no byte ranges")
    }

    // MARK: Refused files

    enum Obstacle: CaseIterable {
        case missing, folder, link, hardLink, otherOwner, pipe, open, truncated, versionZero
    }

    @Test(arguments: Obstacle.allCases)
    func refusedFileRemainsUnchanged(obstacle: Obstacle) throws {
        let stage = try staged()
        let (path, other) = (stage.path("old"), stage.path("other"))
        var (code, words): (Int32, String) = (64, "")
        var writer: Int32?
        defer { writer.map { _ = close($0) } }
        switch obstacle {
        case .missing:
            try stage.remove("old")
            words = "there is no file `old`"
        case .folder:
            try stage.remove("old")
            try #require(mkdir(path, 0o700) == 0)
            words = "is not a regular file"
        case .link:
            try #require(rename(path, other) == 0 && symlink("other", path) == 0)
            words = "is not a regular file"
        case .hardLink:
            try #require(link(path, other) == 0)
            words = "more than one name"
        case .otherOwner:
            try #require(chown(path, geteuid() + 1, getegid()) == 0)
            words = "another user"
        case .pipe:
            try stage.remove("old")
            try #require(mkfifo(path, 0o600) == 0)
            words = "is not a regular file"
        case .open:
            writer = Glibc.open(path, O_WRONLY | O_CLOEXEC)
            (code, words) = (73, "another program is using `old`")
        case .truncated:
            try Data([0, 1, 0]).write(to: URL(fileURLWithPath: path + ".aria2"))
            words = "it is truncated"
        case .versionZero:
            try Data([0, 0, 0, 0]).write(to: URL(fileURLWithPath: path + ".aria2"))
            words = "its format has version 0"
        }
        let count = stage.origin.requests.count
        try expectRefusal(stage, stage.rightChecksum, code, words)
        #expect(stage.bytesServed(after: count) < 1000, "nothing of it is worth a sample")
    }

    @Test(arguments: [
        ["--output", "-"], ["--no-resume"], ["--timestamping"], ["--continue-from", "other.part"],
        ["http://127.0.0.1:1/second"],
    ]) func conflictingOptionsAreRefused(arguments: [String]) throws {
        let stage = try staged()
        let outcome = try stage.run(["--adopt", "old"] + arguments)
        #expect(outcome.end == .exit(64), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("`--adopt`"))
        #expect(stage.origin.requests.isEmpty)
    }
}
