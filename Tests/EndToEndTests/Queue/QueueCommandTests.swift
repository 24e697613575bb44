import Foundation
import Glibc
import TestSupport
import Testing

/// Tests the commands of the queue.
struct QueueCommandTests {
    @Test(.timeLimit(.minutes(5))) func runDownloadsAddedURLs() throws {
        let stage = try QueueStage()
        let first = try stage.add("/1/a.iso")
        let second = try stage.add("/2/b.iso", "--name", "c.iso")
        #expect(first.count == 16 && first.allSatisfy(\.isHexDigit))
        #expect(try stage.state(first) == "waiting")
        let run = try stage.run("run")
        #expect(run.end == .exit(0), "\(run.errorOutput)")
        #expect(try stage.state(first) == "completed" && stage.state(second) == "completed")
        #expect(try stage.isRight("a.iso", "/1/a.iso") && stage.isRight("c.iso", "/2/b.iso"))
        #expect(try stage.names() == ["a.iso", "c.iso"])
    }

    @Test(.timeLimit(.minutes(5))) func runExitCodeIsOfWorstFailure() throws {
        let stage = try QueueStage()
        _ = try stage.add("/1/a.iso")
        let missing = try stage.add("/none/b.iso")
        let run = try stage.run("run")
        #expect(run.end == .exit(69), "\(run.errorOutput)")
        let task = try stage.task(missing)
        #expect(task["state"] as? String == "failed")
        let error = try #require(task["error"] as? [String: Any])
        #expect(error["code"] as? Int == 69)
        #expect(try stage.isRight("a.iso", "/1/a.iso"))
    }

    @Test(.timeLimit(.minutes(5))) func pausedTaskWaitsForResume() throws {
        let stage = try QueueStage()
        let id = try stage.add("/1/a.iso", "--paused")
        #expect(try stage.run("run").end == .exit(0))
        #expect(try stage.task(id)["wanted"] as? String == "paused")
        #expect(stage.origin.requests.isEmpty)
        try stage.done("resume", String(id.prefix(8)))
        #expect(try stage.run("run").end == .exit(0))
        #expect(try stage.state(id) == "completed")
    }

    @Test(.timeLimit(.minutes(5))) func commandsReachWorker() throws {
        let stage = try QueueStage()
        stage.origin.bendGET { _, reply in reply.pace = 100_000 }
        let worker = try stage.work("--keep-running")
        let id = try stage.add("/1/a.iso")
        #expect(
            try eventually(timeout: 120) {
                (try stage.task(id)["bytes_done"] as? Int ?? 0) > 100_000
            })
        try stage.done("pause", id)
        #expect(try stage.task(id)["wanted"] as? String == "paused")
        // The paused task closes its connections and keeps its bytes.
        #expect(eventually { stage.origin.openConnections == 0 })
        #expect(try stage.names() == ["a.iso.part", "a.iso.segget"])
        stage.origin.behave()
        try stage.done("start", id)
        #expect(try stage.waits(for: "completed", of: id))
        #expect(try stage.isRight("a.iso", "/1/a.iso"))
        worker.signal(SIGTERM)
        #expect(try worker.wait().end == .exit(143))
        let second = try stage.run("list")
        #expect(second.output.contains("a.iso") && second.output.contains("completed"))
    }

    @Test(.timeLimit(.minutes(5))) func showListsConnectionsAndServers() throws {
        let stage = try QueueStage()
        stage.origin.bendGET { _, reply in reply.pace = 100_000 }
        let worker = try stage.work("--keep-running")
        let id = try stage.add("/1/a.iso?key=secret", "-x", "2")
        var detail: [String: Any] = [:]
        func all(_ key: String) -> [[String: Any]] { detail[key] as? [[String: Any]] ?? [] }
        #expect(
            try eventually(timeout: 120, poll: 0.1) {
                let text = try stage.done("show", "--json", id)
                detail =
                    try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
                return all("connections").count == 2
                    && all("connections").allSatisfy { $0["state"] as? String == "receiving" }
                    && all("servers").first?["bytes"] as? Int ?? 0 > 0
            }, "\(detail)")
        #expect(all("servers").map { $0["url"] as? String } == [stage.origin.url("/1/a.iso")])
        #expect(all("servers").first?["connections"] as? Int == 2)
        let starts = all("connections").compactMap { $0["start"] as? Int }
        #expect(Set(starts).count == 2 && starts.contains(0))
        for connection in all("connections") {
            #expect(connection["address"] as? String == "127.0.0.1")
            #expect(connection["http_version"] as? String == "1.1")
            #expect(connection["round_trip"] as? Double ?? 0 > 0)
        }
        #expect((detail["verifying"] as? [Any])?.isEmpty == true)
        #expect(
            try eventually(timeout: 120, poll: 0.1) {
                let lines = try stage.done("show", id).split(separator: "\n")
                return lines.contains { $0.hasPrefix("server        http://") }
                    && lines.count { $0.hasPrefix("connection    receiving") } == 2
            })
        stage.origin.behave()
        try stage.done("cancel", id)
        worker.signal(SIGTERM)
        _ = try worker.wait()
        detail =
            try JSONSerialization.jsonObject(
                with: Data(try stage.done("show", "--json", id).utf8)) as? [String: Any] ?? [:]
        #expect(detail["connections"] == nil)
    }

    @Test(.timeLimit(.minutes(5))) func cancelDeletesPartAndRetryStartsOver() throws {
        let stage = try QueueStage()
        stage.origin.bendGET { _, reply in reply.pace = 100_000 }
        let worker = try stage.work("--keep-running")
        let id = try stage.add("/1/a.iso")
        #expect(eventually(timeout: 120) { (stage.files.recorded("a.iso") ?? 0) > 0 })
        try stage.done("cancel", id)
        #expect(try stage.state(id) == "cancelled")
        #expect(try stage.names() == [])
        stage.origin.behave()
        try stage.done("retry", id)
        #expect(try stage.waits(for: "completed", of: id))
        #expect(try stage.isRight("a.iso", "/1/a.iso"))
        worker.signal(SIGTERM)
        _ = try worker.wait()
    }

    @Test(.timeLimit(.minutes(5))) func removeDeletesFilesOnlyWithOption() throws {
        let stage = try QueueStage()
        let (kept, gone) = (try stage.add("/1/a.iso"), try stage.add("/2/b.iso"))
        #expect(try stage.run("run").end == .exit(0))
        try stage.done("remove", kept)
        try stage.done("remove", "--files", gone)
        #expect(try stage.names() == ["a.iso"])
        #expect(try stage.tasks().isEmpty)
    }

    @Test(.timeLimit(.minutes(5))) func removeKeepsReplacedFile() throws {
        let stage = try QueueStage()
        let id = try stage.add("/1/a.iso")
        #expect(try stage.run("run").end == .exit(0))
        try stage.files.sandbox.write("new", "somebody else's")
        #expect(rename(stage.files.sandbox.path("new"), stage.files.sandbox.path("a.iso")) == 0)
        #expect(try stage.task(id)["file"] as? String == "changed")
        try stage.done("remove", "--files", id)
        #expect(try stage.names() == ["a.iso"])
    }

    @Test(.timeLimit(.minutes(5))) func knownURLIsNotAddedTwice() throws {
        let stage = try QueueStage()
        let id = try stage.add("/1/a.iso", "--paused")
        // Adding the URL again resumes the same task.
        #expect(try stage.add("/1/a.iso") == id)
        #expect(try stage.task(id)["wanted"] as? String == "run")
        #expect(try stage.run("run").end == .exit(0))
        #expect(try stage.add("/1/a.iso") == id)
        #expect(try stage.state(id) == "completed")
        unlink(stage.files.sandbox.path("a.iso"))
        #expect(try stage.task(id)["file"] as? String == "missing")
        #expect(try stage.add("/1/a.iso") == id)
        #expect(try stage.run("run").end == .exit(0))
        #expect(try stage.isRight("a.iso", "/1/a.iso"))
        let another = try stage.add("/1/a.iso", "--again")
        #expect(another != id)
        #expect(try stage.run("run").end == .exit(0))
        #expect(try stage.names() == ["a.1.iso", "a.iso"])
    }

    @Test(.timeLimit(.minutes(5))) func twoTasksNeverShareAName() throws {
        let stage = try QueueStage()
        _ = try stage.add("/1/a.iso", "--name", "x.iso")
        let refused = try stage.run("add", stage.origin.url("/2/b.iso"), "--name", "x.iso")
        #expect(refused.end == .exit(73), "\(refused.errorOutput)")
        let (one, two) = (try stage.add("/3/same.iso"), try stage.add("/4/same.iso"))
        #expect(try stage.run("run").end == .exit(0))
        let names = try [one, two].map {
            (try stage.task($0)["path"] as? String ?? "").split(separator: "/").last.map(
                String.init)
        }
        #expect(Set(names) == ["same.iso", "same.1.iso"])
        for (name, path) in zip(names, ["/3/same.iso", "/4/same.iso"]) {
            #expect(try stage.isRight(try #require(name), path))
        }
    }

    @Test(.timeLimit(.minutes(5))) func sameURLTwiceMakesTwoFiles() throws {
        let stage = try QueueStage()
        stage.origin.bendGET { _, reply in reply.pace = 500_000 }
        let ids = [try stage.add("/1/a.iso"), try stage.add("/1/a.iso", "--again")]
        let run = try stage.run("run")
        #expect(run.end == .exit(0), "\(run.errorOutput)")
        for id in ids { #expect(try stage.state(id) == "completed") }
        #expect(try stage.names() == ["a.1.iso", "a.iso"])
        #expect(try stage.isRight("a.iso", "/1/a.iso") && stage.isRight("a.1.iso", "/1/a.iso"))
    }

    @Test(.timeLimit(.minutes(5))) func renameMovesFileDuringDownload() throws {
        let stage = try QueueStage()
        stage.origin.bendGET { _, reply in reply.pace = 100_000 }
        let worker = try stage.work("--keep-running")
        let id = try stage.add("/1/a.iso")
        #expect(eventually(timeout: 120) { (stage.files.recorded("a.iso") ?? 0) > 0 })
        try stage.done("rename", id, "b.iso")
        #expect(try stage.names().filter { $0.hasPrefix("a.iso") } == [])
        try stage.done("rename", id, "--directory", stage.files.sandbox.path("sub"))
        stage.origin.behave()
        #expect(try stage.waits(for: "completed", of: id))
        #expect(try stage.names() == ["sub"])
        #expect(try stage.isRight("sub/b.iso", "/1/a.iso"))
        // A finished file is moved too.
        try stage.done("rename", id, "c.iso")
        #expect(try stage.isRight("sub/c.iso", "/1/a.iso"))
        #expect(try stage.task(id)["file"] as? String == "there")
        worker.signal(SIGTERM)
        _ = try worker.wait()
    }

    @Test(.timeLimit(.minutes(5))) func setReplacesExpiredLink() throws {
        let stage = try QueueStage()
        stage.origin.bendGET { _, reply in reply.stallAfter = 100_000 }
        let worker = try stage.work("--keep-running")
        let id = try stage.add("/1/a.iso?sig=old")
        #expect(eventually(timeout: 120) { (stage.files.recorded("a.iso") ?? 0) >= 800_000 })
        try stage.done("pause", id)
        #expect(eventually { stage.origin.openConnections == 0 })
        let kept = try #require(stage.files.recorded("a.iso"))
        // The new URL has the same file, by its strong validator.
        let content = Content.named("/1/a.iso?sig=old", size: 3_000_000)
        stage.origin.bend { request, reply in
            reply =
                request.target.contains("old")
                ? .text(403) : .file(content, for: request, etag: "\"\(content.seed)\"")
        }
        try stage.done("resume", id)
        #expect(try stage.waits(for: "failed", of: id))
        let before = stage.origin.requests.count
        try stage.done("set", id, "--url", stage.origin.url("/1/a.iso?sig=new"))
        try stage.done("retry", id)
        #expect(try stage.waits(for: "completed", of: id))
        #expect(try stage.isRight("a.iso", "/1/a.iso?sig=old"))
        let later = stage.origin.requests.dropFirst(before)
        #expect(later.allSatisfy { $0.target.hasSuffix("sig=new") })
        #expect(later.filter { $0.method == "GET" }.bytesAsked(of: 3_000_000) <= 3_000_000 - kept)
        worker.signal(SIGTERM)
        _ = try worker.wait()
    }

    @Test(.timeLimit(.minutes(5))) func setRefusesUnsupportedURL() throws {
        let stage = try QueueStage()
        let id = try stage.add("/1/a.iso", "--paused")
        let refused = try stage.run("set", id, "--url", "ftp://127.0.0.1/x")
        #expect(refused.end == .exit(64), "\(refused.errorOutput)")
        #expect(try stage.done("show", "--link", id) == stage.origin.url("/1/a.iso") + "\n")
    }

    @Test(.timeLimit(.minutes(5))) func secretsAreNeitherShownNorReadable() throws {
        let stage = try QueueStage()
        let secret = "topsecret"
        let add = try stage.run(
            "add", stage.origin.url("/1/a.iso?sig=\(secret)"), "-H", "Authorization: \(secret)",
            "-u",
            "me:\(secret)", "--paused")
        let id = add.output.trimmingCharacters(in: .newlines)
        for output in [
            add.errorOutput, try stage.done("list"), try stage.done("list", "--json"),
            try stage.done("show", id), try stage.done("show", "--json", id),
        ] { #expect(!output.contains(secret)) }
        // `--link` and `--links` print complete URLs, without the password.
        let link = stage.origin.url("/1/a.iso?sig=\(secret)")
        #expect(try stage.done("show", "--link", id) == link + "\n")
        let listed = try #require(try stage.tasks("--links").first)
        #expect(listed["link"] as? String == link && listed["links"] as? [String] == [link])
        let withUser = try stage.run(
            "add", stage.origin.url("/2/b.iso?z").replacing("://", with: "://me:\(secret)@"),
            "--paused")
        let other = withUser.output.trimmingCharacters(in: .newlines)
        let masked = try stage.done("show", "--link", other)
        #expect(masked.contains("***@") && masked.contains("/2/b.iso?z"))
        #expect(!masked.contains(secret) && !masked.contains("me:"))
        let folder = stage.home.path("q")
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            var status = stat()
            #expect(stat("\(folder)/\(name)", &status) == 0)
            #expect(status.st_mode & 0o077 == 0, "\(name)")
        }
        var status = stat()
        #expect(stat(folder, &status) == 0 && status.st_mode & 0o777 == 0o700)
    }

    @Test(.timeLimit(.minutes(5))) func listShowsTagForDifferentQueries() throws {
        let stage = try QueueStage()
        for query in ["1", "2", "3", "4"] {
            _ = try stage.add("/x/big.iso?\(query)", "--paused")
        }
        _ = try stage.add("/x/only.iso?1", "--paused")
        let tags = try stage.tasks().compactMap { $0["query_tag"] as? String }
        #expect(Set(tags.prefix(4)).count == 4, "\(tags)")
        let table = try stage.done("list")
        for tag in tags.prefix(4) { #expect(table.contains("big.iso?#\(tag)"), "\(table)") }
        #expect(table.contains("only.iso") && !table.contains("only.iso?"))
    }

    @Test(.timeLimit(.minutes(5))) func unseenResultsAreReportedOnce() throws {
        let stage = try QueueStage(size: 1000)
        _ = try stage.add("/1/a.iso")
        _ = try stage.add("/none/b.iso")
        _ = try stage.run("run")
        #expect(try stage.tasks("--unseen").count == 2)
        let screen = try Screen(
            [try Segget.binary(), "list", "--queue", stage.queue], in: stage.folder, width: 80)
        #expect(
            try eventually {
                try screen.text().contains("1 finished, 1 failed since you last looked")
            },
            "\(screen.shown)")
        #expect(try eventually { try screen.text().contains("code 0") })
        #expect(try stage.tasks("--unseen").isEmpty)
    }

    @Test(.timeLimit(.minutes(5))) func filesHaveUmaskOfAddCommand() throws {
        let stage = try QueueStage(size: 1000)
        let folder = stage.files.sandbox.path("a/b")
        let add = try Run(
            "/bin/sh",
            [
                "-c", "umask 027; exec \"$0\" \"$@\"", try Segget.binary(), "add", "--no-config",
                "--queue",
                stage.queue, stage.origin.url("/1/a.iso"), "-d", folder,
            ], in: stage.folder
        ).wait()
        #expect(add.end == .exit(0), "\(add.errorOutput)")
        #expect(try stage.run("run").end == .exit(0))
        func mode(_ path: String) -> mode_t {
            var status = stat()
            #expect(stat(path, &status) == 0, "\(path)")
            return status.st_mode & 0o777
        }
        #expect(mode(folder + "/a.iso") == 0o640)
        #expect(mode(folder) == 0o750 && mode(stage.files.sandbox.path("a")) == 0o750)
    }

    @Test(.timeLimit(.minutes(5))) func changesOrderTagsAndSettings() throws {
        let stage = try QueueStage()
        let ids = try (1...4).map { try stage.add("/\($0)/\($0).iso", "--tag", $0 > 2 ? "b" : "a") }
        try stage.done("move", ids[3], "--first")
        try stage.done("move", ids[0], "--last")
        func order() throws -> [String] { try stage.tasks().compactMap { $0["id"] as? String } }
        #expect(try order() == [ids[3], ids[1], ids[2], ids[0]])
        try stage.done("pause", "--tag", "a")
        #expect(try stage.tasks("--state", "paused").count == 2)
        try stage.done("tag", ids[2], "+c", "-b")
        #expect(try stage.task(ids[2])["tags"] as? [String] == ["c"])
        try stage.done(
            "settings", "--max-running", "2", "--limit-rate", "2M", "--limit-schedule",
            "08:00-18:00=1M,else=0")
        let settings = try stage.done("settings", "--json")
        #expect(settings.contains("\"max_running\":2"), "\(settings)")
        #expect(try stage.run("settings", "--max-running", "0").end == .exit(64))
    }

    @Test(.timeLimit(.minutes(5))) func secondWorkerReportsFirstWorker() throws {
        let stage = try QueueStage()
        let worker = try stage.work("--keep-running")
        let second = try stage.run("run")
        #expect(second.end == .exit(69))
        #expect(second.errorOutput.contains("\(worker.pid)"), "\(second.errorOutput)")
        worker.signal(SIGINT)
        #expect(try worker.wait().end == .exit(130))
    }

    @Test(.timeLimit(.minutes(5))) func refusesInvalidArguments() throws {
        let stage = try QueueStage()
        for arguments in [
            ["add"], ["add", "-o", "-", "http://127.0.0.1/a"],
            ["add", "--json", "http://127.0.0.1/a"],
            ["add", "--jobs", "3", "http://127.0.0.1/a"], ["add", "nonsense:/"], ["pause"],
            ["pause", "ffff"], ["move", "--all"], ["list", "--state", "good"], ["rename", "ffff"],
            ["add", "--id", "12", "http://127.0.0.1/a"],
            ["list", "--watch"], ["show", "--watch", "ffff"],
        ] {
            let outcome = try stage.start(arguments).wait()
            #expect(outcome.end == .exit(64), "\(arguments): \(outcome.errorOutput)")
        }
        #expect(try stage.run("list").output.contains("segget add URL"))
    }
}
