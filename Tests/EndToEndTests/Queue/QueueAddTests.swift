import Foundation
import Glibc
import TestSupport
import Testing

/// Tests how `segget add` reads its options and lists.
struct QueueAddTests {
    @Test(.timeLimit(.minutes(5))) func relativeFilesAreFoundFromAnyFolder() throws {
        let stage = try QueueStage(size: 1000)
        stage.origin.bend { request, reply in
            let isOurs =
                request.target.hasPrefix("/1/")
                ? request.header("Authorization") == "Basic bWU6cGFzcw=="
                : request.header("Cookie") == "key=5"
            if !isOurs { reply = .text(403) }
        }
        let folder = stage.files.sandbox
        try folder.write("netrc", "machine 127.0.0.1 login me password pass\n")
        try folder.write("jar", "127.0.0.1\tFALSE\t/\tFALSE\t0\tkey\t5\n")
        try folder.write("list", "\(stage.origin.url("/3/c.iso"))\n load-cookies=jar\n")
        let ids = [
            try stage.add("/1/a.iso", "--netrc-file", "netrc"),
            try stage.add("/2/b.iso", "--cookie", "jar"),
            try stage.done("add", "-i", "list").trimmingCharacters(in: .newlines),
        ]
        let run = try Run(
            ["run", "--queue", stage.queue], in: stage.home.path,
            environment: ["SEGGET_NO_CONFIG": "1"]
        ).wait()
        #expect(run.end == .exit(0), "\(run.errorOutput)")
        for id in ids { #expect(try stage.state(id) == "completed") }
    }

    @Test(.timeLimit(.minutes(5))) func listCreatesFoldersOnlyBelowDownloads() throws {
        let stage = try QueueStage(size: 1000)
        let outside = try Sandbox()
        #expect(symlink(outside.path, stage.files.sandbox.path("link")) == 0)
        let home = URL(fileURLWithPath: stage.folder)
        // Other programs may use the plain name "new" in the temporary folder.
        let beside = "\(home.lastPathComponent)-new"
        let folders = ["sub/a", outside.path("new/deep"), "link/new", "../\(beside)"]
        let list = folders.enumerated().map { number, folder in
            "\(stage.origin.url("/\(number)/f.iso"))\n dir=\(folder)\n"
        }
        try stage.files.sandbox.write("list", list.joined())
        let ids = try stage.done("add", "-i", "list").split(separator: "\n").map(String.init)
        let run = try stage.run("run")
        #expect(run.end == .exit(73), "\(run.errorOutput)")
        #expect(try ids.map(stage.state) == ["completed"] + Array(repeating: "failed", count: 3))
        #expect(try stage.isRight("sub/a/f.iso", "/0/f.iso"))
        #expect(try outside.names().isEmpty)
        let parent = home.deletingLastPathComponent().path
        #expect(!FileManager.default.fileExists(atPath: "\(parent)/\(beside)"))
        // Folders that the user names are created.
        try stage.done("rename", ids[1], "--directory", outside.path("mine/deep"))
        try stage.done("retry", ids[1])
        #expect(try stage.run("run").end == .exit(0))
        #expect(try outside.names() == ["mine"])
    }

    /// Leaves a part on the disk, by killing `segget get`.
    private func leavePart(_ stage: QueueStage, _ path: String, _ name: String) throws {
        stage.origin.bendGET { _, reply in reply.stallAfter = 100_000 }
        let get = try Run(["get", "-q", stage.origin.url(path)], in: stage.folder)
        #expect(eventually(timeout: 120) { (stage.files.recorded(name) ?? 0) >= 800_000 })
        get.signal(SIGKILL)
        _ = try get.wait()
        stage.origin.dropConnections()
        stage.origin.behave()
    }

    @Test(.timeLimit(.minutes(5))) func recoverSkipsPartsOfTasks() throws {
        let stage = try QueueStage()
        try leavePart(stage, "/1/a.iso", "a.iso")
        let id = try stage.add("/1/a.iso", "--name", "a.iso")
        stage.origin.bend { _, reply in reply = .text(404) }
        #expect(try stage.run("run").end == .exit(69))
        #expect(try stage.names() == ["a.iso.part", "a.iso.segget"])
        let recovered = try stage.run("add", "--recover", ".")
        #expect(recovered.end == .exit(0) && recovered.output.isEmpty, "\(recovered.output)")
        #expect(recovered.errorOutput.contains("there is no part"), "\(recovered.errorOutput)")
        #expect(try stage.state(id) == "failed")
    }

    @Test(.timeLimit(.minutes(5))) func optionsApplyToRecoveredTasks() throws {
        let stage = try QueueStage()
        try leavePart(stage, "/1/a.iso", "a.iso")
        for arguments in [
            ["-d", "x"], ["--again"], ["--name", "x"], ["--auto-rename"], ["-o", "x"],
        ] {
            let outcome = try stage.start(["add", "--recover", "."] + arguments).wait()
            #expect(outcome.end == .exit(64), "\(arguments): \(outcome.errorOutput)")
        }
        let first = try stage.add("/2/b.iso", "--paused")
        // The folder of the configuration is ignored.
        let add = try Run(
            [
                "add", "--queue", stage.queue, "--recover", ".", "-H", "X-Key: 1", "--tag", "t",
                "--first",
            ],
            in: stage.folder, environment: ["SEGGET_NO_CONFIG": "1", "SEGGET_DIRECTORY": "/tmp"]
        ).wait()
        #expect(add.end == .exit(0), "\(add.errorOutput)")
        let id = add.output.trimmingCharacters(in: .newlines)
        #expect(try stage.tasks().compactMap { $0["id"] as? String } == [id, first])
        #expect(try stage.task(id)["tags"] as? [String] == ["t"])
        #expect(try stage.task(id)["wanted"] as? String == "paused")
        stage.origin.bend { request, reply in
            if request.header("X-Key") != "1" { reply = .text(403) }
        }
        try stage.done("resume", id)
        #expect(try stage.run("run").end == .exit(0))
        #expect(try stage.isRight("a.iso", "/1/a.iso"))
    }

    @Test(.timeLimit(.minutes(5))) func recoverRefusesOtherFiles() throws {
        let stage = try QueueStage()
        let file = try stage.files.sandbox.write("a.txt", "mine")
        let outcome = try stage.run("add", "--recover", file)
        #expect(outcome.end == .exit(64), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("--queue"), "\(outcome.errorOutput)")
        #expect(try stage.names() == ["a.txt"])
    }

    /// Returns the arguments of the command in the hint about a damaged queue.
    private func hinted(_ outcome: Run.Outcome) throws -> [String] {
        let hint = try #require(
            outcome.errorOutput.split(separator: "\n").first { $0.hasPrefix("hint:") })
        let command = try #require(hint.split(separator: "`").dropFirst().first)
        return command.split(separator: " ").dropFirst().map(String.init)
    }

    @Test(.timeLimit(.minutes(5)), arguments: ["", ".secrets"])
    func hintForDamagedQueueRecovers(suffix: String) throws {
        let stage = try QueueStage()
        _ = try stage.add("/1/a.iso", "-H", "Authorization: x", "--paused")
        for file in ["-wal", "-shm"] { unlink(stage.queue + suffix + file) }
        try Data(repeating: 7, count: 20_000).write(
            to: URL(fileURLWithPath: stage.queue + suffix))
        let refused = try stage.run("add", stage.origin.url("/2/b.iso"), "-H", "Authorization: x")
        #expect(refused.end == .exit(74), "\(refused.errorOutput)")
        let recovered = try Run(
            try hinted(refused), in: stage.folder, environment: ["SEGGET_NO_CONFIG": "1"]
        ).wait()
        #expect(recovered.end == .exit(0), "\(recovered.errorOutput)")
        _ = try stage.add("/2/b.iso", "-H", "Authorization: x", "--paused")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: stage.home.path("q")).contains {
                $0.contains("damaged-")
            })
    }
}
