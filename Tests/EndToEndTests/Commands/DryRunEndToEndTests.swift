import Foundation
import TestSupport
import Testing

/// Tests that `--dry-run` shows the planned action and changes nothing.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct DryRunEndToEndTests {
    /// Returns the object that `--dry-run --json` prints.
    private func report(_ outcome: Run.Outcome) throws -> [String: Any] {
        try #require(try jsonEvents(outcome.output).first)
    }

    @Test func reportsNewDownload() throws {
        let stage = try Stage(size: 8 << 20)
        let outcome = try stage.run(["--dry-run"], path: "/file?token=hush")
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        for text in [
            "would:        download 8.00 MiB", "to:           file", "up to 8 connections",
        ] {
            #expect(outcome.output.contains(text), "\(outcome.output)")
        }
        #expect(!outcome.output.contains("hush"))
        let json = try report(try stage.run(["--dry-run", "--json", "-d", ".", "-x", "3"]))
        #expect(json["action"] as? String == "begin")
        #expect(json["path"] as? String == "file")
        #expect(json["connections"] as? Int == 3)
        #expect(json["bytes_kept"] as? Int == 0)
        #expect((json["probed"] as? [String: Any])?["size"] as? Int == 8 << 20)
        #expect(try stage.names() == [])
        #expect(stage.origin.bytesServed == 0)
    }

    @Test func reportsResuming() throws {
        let stage = try Stage(size: 24 << 20)
        let kept = try stage.leavePart(each: 2 << 20)
        let before = try stage.snapshot()
        let requests = stage.origin.requests.count
        let resumed = try report(try stage.run(["--dry-run", "--json"]))
        #expect(resumed["action"] as? String == "resume")
        #expect((resumed["bytes_kept"] as? Int64) == kept)
        let anew = try report(try stage.run(["--dry-run", "--json", "--no-resume"]))
        #expect(anew["action"] as? String == "start_over")
        #expect(anew["reason"] as? String == "not_wanted")
        stage.origin.change { $0.etag = "\"v2\"" }
        let changed = try stage.run(["--dry-run"])
        #expect(changed.exitCode == 0)
        #expect(changed.output.contains("start over, download 24.0 MiB: the remote file changed"))
        #expect(try stage.snapshot() == before)
        // One byte for each `GET` that confirms a `HEAD`.
        #expect(stage.bytesServed(after: requests) <= 16)
    }

    @Test func reportsDiskThatIsTooSmall() throws {
        let disk = try Tmpfs(size: 1 << 20)
        let stage = try Stage(size: 4_000_000, in: disk.path)
        let outcome = try stage.run(["--dry-run", "--json"])
        #expect(outcome.exitCode == 74)
        #expect(try report(outcome)["kind"] as? String == "no_space")
        #expect(stage.origin.bytesServed <= 1)
        #expect(try stage.names() == [])
        // The space of an existing part counts as available.
        try disk.resize(to: 5 << 20)
        try stage.leavePart(each: 500_000)
        #expect(
            try report(try stage.run(["--dry-run", "--json"]))["action"] as? String == "resume")
    }

    @Test func reportsExistingFile() throws {
        let stage = try Stage(size: 100_000)
        #expect(try stage.run(["--keep-manifest"]).exitCode == 0)
        let before = try stage.snapshot()
        let served = stage.origin.bytesServed
        for arguments in [[], ["-N"], ["-o", "file"], ["-o", "file", "-N"]] {
            let outcome = try stage.run(["--dry-run", "--json"] + arguments)
            #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
            #expect(try report(outcome)["action"] as? String == "leave", "\(arguments)")
        }
        #expect(stage.origin.bytesServed - served <= 8)
        #expect(try stage.run(["--dry-run"]).output.contains("nothing: the file is complete"))
        stage.origin.change { $0.etag = "\"v2\"" }
        #expect(try stage.run(["--dry-run"]).exitCode == 73)
        let newer = try report(try stage.run(["--dry-run", "--json", "-N"]))
        #expect(newer["action"] as? String != "leave")
        #expect(try stage.snapshot() == before)
    }

    @Test func reportsSeveralFiles() throws {
        let stage = try Stage(size: 1000)
        let second = stage.origin.url("/other/file")
        let outcome = try stage.run(["--dry-run", "--json", second])
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        let paths = try jsonEvents(outcome.output).map { $0["path"] as? String }
        #expect(paths == ["file", "file.1"])
        #expect(try stage.names() == [])
    }

    @Test func hasExitCodeOfDownload() throws {
        let stage = try Stage(size: 1000)
        try Data("old".utf8).write(to: URL(fileURLWithPath: stage.path("file")))
        let exists = try stage.run(["--dry-run", "--json"])
        #expect(exists.exitCode == 73)
        #expect(try report(exists)["kind"] as? String == "destination_exists")
        #expect(try stage.run(["--dry-run", "--overwrite"]).exitCode == 0)
        let numbered = try stage.run(["--dry-run", "--auto-rename"])
        #expect(numbered.exitCode == 0)
        #expect(numbered.output.contains("file.1\n"))
        #expect(try stage.run(["--dry-run", "-d", "file"]).exitCode == 73)
        try Data("foreign".utf8).write(to: URL(fileURLWithPath: stage.path("other.part")))
        #expect(try stage.run(["--dry-run", "-o", "other"]).exitCode == 73)
        stage.origin.bend { _, reply in reply = .text(404) }
        #expect(try stage.run(["--dry-run", "-o", "third"]).exitCode == 69)
        #expect(try stage.names() == ["file", "other.part"])
        #expect(stage.origin.requests.allSatisfy { $0.method == "HEAD" || $0.status == 404 })
    }
}

extension Stage {
    /// Returns the bytes of every file in the folder.
    fileprivate func snapshot() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try names() {
            files[name] = try Data(contentsOf: URL(fileURLWithPath: path(name)))
        }
        return files
    }
}
