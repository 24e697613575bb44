import Foundation
import Glibc
import TestSupport
import Testing

/// Permissions of unfinished files, and which users' files segget trusts.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct PrivateFilesTests {
    private func mode(_ path: String) throws -> mode_t {
        var status = stat()
        try #require(lstat(path, &status) == 0)
        return status.st_mode & 0o7777
    }

    private func start(_ stage: Stage, _ options: [String], umask: String) throws -> Run {
        try Run(
            "/bin/sh",
            ["-c", "umask \(umask); exec \"$0\" \"$@\"", try Segget.binary(), "-x", "2"]
                + options + [stage.origin.url("/file")], in: stage.folder)
    }

    /// This holds with any umask, and for a part that became readable by all between two runs.
    @Test(arguments: [("000", 0o666), ("022", 0o644), ("077", 0o600)] as [(String, mode_t)])
    func partAndManifestHaveMode0600(umask: String, finished: mode_t) throws {
        let stage = try Stage(size: 4_000_000)
        try Data("old".utf8).write(to: URL(fileURLWithPath: stage.path("file")))
        chmod(stage.path("file"), 0o640)
        try stage.leavePart(each: 500_000, connections: 2, arguments: ["--overwrite"])
        for name in ["file.part", "file.segget"] { chmod(stage.path(name), 0o666) }
        // A crash left this file, readable by all. segget must not write into it.
        try Data().write(to: URL(fileURLWithPath: stage.path("file.segget~")))
        chmod(stage.path("file.segget~"), 0o666)
        let isSeen = Guarded(false)
        stage.origin.bendGET {
            $0.pace = 50_000
            $0.release = isSeen
        }
        let child = try start(stage, ["--overwrite", "--keep-manifest"], umask: umask)
        let before = stage.recorded() ?? 0
        #expect(eventually(timeout: 120) { (stage.recorded() ?? 0) > before })
        for name in ["file.part", "file.segget"] {
            #expect(try mode(stage.path(name)) == 0o600, "\(name)")
        }
        #expect(try mode(stage.path("file")) == 0o640)
        isSeen.withLock { $0 = true }
        let outcome = try child.wait()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("resuming"), "\(outcome.errorOutput)")
        #expect(try stage.names() == ["file", "file.segget"])
        #expect(try mode(stage.path("file")) == finished)
        #expect(try mode(stage.path("file.segget")) == 0o600)
        #expect(try stage.isRight())
    }

    /// In a shared folder such as /tmp, segget does not trust files of other users.
    ///
    /// Another user could put a part there, or a finished file with matching attributes. In other
    /// folders segget trusts the files.
    @Test(
        .enabled(if: geteuid() == 0, "giving files away needs root"),
        arguments: [(0o1777, false), (0o1770, true), (0o755, true)] as [(mode_t, Bool)])
    func doesNotTrustFilesOfOtherUsers(folder: mode_t, isBelieved: Bool) throws {
        let stage = try Stage(size: 4_000_000)
        try stage.leavePart(each: 500_000, connections: 2)
        chmod(stage.folder, folder)
        chown(stage.folder, 4321, 4321)
        // segget trusts the owner of the folder.
        let files = ["file.part", "file.segget"]
        for name in files { chown(stage.path(name), folder == 0o1770 ? 4321 : 1234, 0) }
        let bytes = files.map { FileManager.default.contents(atPath: stage.path($0)) }
        let outcome = try stage.run()
        if isBelieved {
            #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains("resuming"))
            return
        }
        #expect(outcome.exitCode == 73, "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("not made by segget"))
        #expect(files.map { FileManager.default.contents(atPath: stage.path($0)) } == bytes)
        // segget does not trust another user's manifest alone either.
        chown(stage.path("file.part"), 0, 0)
        #expect(try stage.run().exitCode == 73)
        // A finished file with matching attributes, which then changes its owner.
        let complete = try stage.run(["--xattr"], path: "/whole")
        #expect(complete.exitCode == 0, "\(complete.errorOutput)")
        let again = try stage.run([], path: "/whole")
        #expect(again.exitCode == 0, "\(again.errorOutput)")
        chown(stage.path("whole"), 1234, 0)
        let foreign = try stage.run([], path: "/whole")
        #expect(foreign.exitCode == 73, "\(foreign.errorOutput)")
    }

    /// A server suggests the name of another download's part or manifest.
    @Test(arguments: [
        ("other.part", "other.1.part"), ("other.segget", "other.segget_"),
        ("other.segget~", "other.segget~_"), ("./other.SEGGET", "other.SEGGET_"),
    ])
    func suggestedNameDoesNotDamageOtherDownload(suggested: String, saved: String) throws {
        let stage = try Stage(size: 2_000_000)
        try stage.leavePart(each: 400_000, connections: 2, path: "/other")
        let files = ["other.part", "other.segget"]
        let before = files.map { FileManager.default.contents(atPath: stage.path($0)) }
        stage.origin.bend { request, reply in
            guard request.path == "/evil" else { return }
            reply.set("Content-Disposition", "attachment; filename=\"\(suggested)\"")
        }
        if suggested.hasSuffix(".part") {
            let refused = try stage.run(path: "/evil")
            #expect(refused.exitCode == 73, "\(refused.errorOutput)")
        }
        let outcome = try stage.run(["--auto-rename"], path: "/evil")
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try stage.names() == (files + [saved]).sorted())
        let after = files.map { FileManager.default.contents(atPath: stage.path($0)) }
        #expect(after == before)
        stage.origin.behave()
        let resumed = try stage.run(path: "/other")
        #expect(resumed.exitCode == 0, "\(resumed.errorOutput)")
        #expect(resumed.errorOutput.contains("resuming"))
    }
}
