import Foundation
import Glibc
import TestSupport
import Testing

/// Tests damaged files, full disks and other problems: segget explains them and overwrites nothing.
struct QueueBadDayTests {
    private func bytes(_ path: String) -> Data? { FileManager.default.contents(atPath: path) }

    @Test(.timeLimit(.minutes(5))) func damagedQueueIsNotOverwritten() throws {
        let stage = try QueueStage()
        _ = try stage.add("/1/a.iso", "--paused")
        let damaged = Data(repeating: 7, count: 100_000)
        try damaged.write(to: URL(fileURLWithPath: stage.queue))
        for arguments in [["list"], ["add", "http://127.0.0.1/x"], ["run"]] {
            let outcome = try stage.start(arguments).wait()
            #expect(outcome.end == .exit(74), "\(arguments): \(outcome.errorOutput)")
            #expect(
                outcome.errorOutput.contains(stage.queue) && outcome.errorOutput.contains("hint:"))
        }
        #expect(bytes(stage.queue) == damaged)
    }

    @Test(.timeLimit(.minutes(5))) func queueOfLaterVersionStaysUnchanged() throws {
        let stage = try QueueStage()
        _ = try stage.add("/1/a.iso", "--paused")
        let sql = "INSERT INTO grdb_migrations VALUES ('999')"
        let tool = try Run(
            "/usr/bin/python3",
            [
                "-c",
                "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit()",
                stage.queue, sql,
            ]
        ).wait()
        try #require(tool.end == .exit(0), "\(tool.errorOutput)")
        let before = bytes(stage.queue)
        let outcome = try stage.run("add", "http://127.0.0.1/x")
        #expect(outcome.end == .exit(74), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("later version"), "\(outcome.errorOutput)")
        #expect(bytes(stage.queue) == before)
    }

    @Test(
        .timeLimit(.minutes(5)), .enabled(if: geteuid() == 0, "mounting needs root"))
    func fullDiskLosesNoTask() throws {
        let stage = try QueueStage(size: 1000)
        let disk = try Tmpfs(size: 1 << 20)
        func run(_ arguments: String...) throws -> Run.Outcome {
            try Run(
                [arguments[0], "--queue", "\(disk.path)/queue.sqlite"] + arguments.dropFirst(),
                in: stage.folder
            ).wait()
        }
        let first = try run("add", stage.origin.url("/1/a.iso"))
        #expect(first.end == .exit(0), "\(first.errorOutput)")
        let filler = open(disk.path("filler"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        let page = [UInt8](repeating: 1, count: 4096)
        while write(filler, page, page.count) == page.count {}
        #expect(errno == ENOSPC)
        close(filler)
        let second = try run("add", stage.origin.url("/2/b.iso"))
        #expect(second.end == .exit(74), "\(second.errorOutput)")
        unlink(disk.path("filler"))
        let list = try run("list", "--json")
        #expect(list.output.contains("/1/a.iso") && !list.output.contains("/2/b.iso"))
        #expect(try run("run").end == .exit(0))
        #expect(try stage.isRight("a.iso", "/1/a.iso"))
    }

    @Test(.timeLimit(.minutes(5))) func longSearchTextIsRefused() throws {
        let stage = try QueueStage(size: 1000)
        _ = try stage.add("/1/a.iso", "--paused")
        func refusals() throws -> [String] {
            try [5000, 60_000].map { length in
                let list = try stage.run("list", "--text", String(repeating: "a", count: length))
                #expect(list.end == .exit(64), "\(list.errorOutput)")
                return list.errorOutput
            }
        }
        let alone = try refusals()
        #expect(alone.allSatisfy { $0.contains("at most 4096 bytes") && !$0.contains("damaged") })
        let worker = try stage.work("--keep-running")
        #expect(try refusals() == alone)
        worker.signal(SIGTERM)
        _ = try worker.wait()
    }

    @Test(.timeLimit(.minutes(5))) func failsTaskIfFolderCannotBeCreated() throws {
        let stage = try QueueStage(size: 1000)
        try stage.files.sandbox.write("file", "")
        let id = try stage.add("/1/a.iso", "-d", stage.files.sandbox.path("file/folder"))
        let run = try stage.run("run")
        #expect(run.end == .exit(73), "\(run.errorOutput)")
        #expect(try stage.state(id) == "failed")
    }

    @Test(.timeLimit(.minutes(5))) func partsWithoutATaskAreRecovered() throws {
        let stage = try QueueStage()
        stage.origin.bendGET { _, reply in reply.stallAfter = 100_000 }
        for path in ["/1/a.iso", "/2/b.iso?sig=1"] {
            let get = try Run(["get", "-q", stage.origin.url(path)], in: stage.folder)
            let name = path.contains("a.iso") ? "a.iso" : "b.iso"
            #expect(eventually(timeout: 120) { (stage.files.recorded(name) ?? 0) >= 800_000 })
            get.signal(SIGKILL)
            _ = try get.wait()
        }
        stage.origin.dropConnections()
        stage.origin.behave()
        let added = try stage.run("add", "--recover", stage.folder)
        #expect(added.end == .exit(0), "\(added.errorOutput)")
        #expect(
            added.errorOutput.contains("the query or password of its URL is not recorded"),
            "\(added.errorOutput)")
        let tasks = try stage.tasks("--state", "paused")
        #expect(tasks.count == 2)
        let second = try #require(
            tasks.first { ($0["path"] as? String)?.hasSuffix("b.iso") == true }?["id"] as? String)
        try stage.done("set", second, "--url", stage.origin.url("/2/b.iso?sig=1"))
        try stage.done("resume", "--all")
        let run = try stage.run("run")
        #expect(run.end == .exit(0), "\(run.errorOutput)")
        #expect(try stage.isRight("a.iso", "/1/a.iso") && stage.isRight("b.iso", "/2/b.iso?sig=1"))
        // The second run finds nothing to recover.
        #expect(try stage.run("add", "--recover", stage.folder).output.isEmpty)
    }

    @Test(.timeLimit(.minutes(5))) func unstoredSecretsAreNeededAfterRestart() throws {
        let stage = try QueueStage(size: 1000)
        let header = "X-Key: verysecret"
        let alone = try stage.run(
            "add", stage.origin.url("/1/a.iso"), "-H", header, "--no-store-secrets")
        #expect(alone.end == .exit(64), "\(alone.errorOutput)")
        stage.origin.bend { request, reply in
            if request.header("X-Key") == nil { reply = .text(403) }
        }
        var worker = try stage.work("--keep-running")
        let id = try stage.add("/1/a.iso", "-H", header, "--no-store-secrets", "--paused")
        for name in try FileManager.default.contentsOfDirectory(atPath: stage.home.path("q"))
        where !name.hasSuffix(".sock") {
            let data = try #require(bytes(stage.home.path("q/\(name)")))
            #expect(data.range(of: Data("verysecret".utf8)) == nil, "\(name)")
        }
        worker.signal(SIGKILL)
        _ = try worker.wait()
        worker = try stage.work("--keep-running")
        try stage.done("resume", id)
        #expect(try stage.waits(for: "failed", of: id))
        #expect(try stage.done("show", id).contains("segget set"))
        try stage.done("set", id, "-H", header)
        try stage.done("retry", id)
        #expect(try stage.waits(for: "completed", of: id))
        worker.signal(SIGTERM)
        _ = try worker.wait()
    }
}
