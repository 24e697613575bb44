import Foundation
import Glibc
import TestSupport
import Testing

/// Tests data sets as tasks of the queue: commands, a killed worker, and clients over TCP.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct QueueSetTests {
    private static let count = 40
    private let stage: QueueStage

    init() throws { stage = try QueueStage(size: 200_000) }

    /// Writes the plan `set.plan` in the download folder.
    private func plan() throws {
        let urls = (0..<Self.count).map { stage.origin.url("/\($0)/file-\($0)") }
        let outcome = try Run(
            ["plan"] + urls + ["-o", stage.files.sandbox.path("set.plan")], in: stage.folder,
            environment: ["SEGGET_NO_CONFIG": "1"]
        ).wait(timeout: 300)
        try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
    }

    private func add(_ arguments: String...) throws -> String {
        let outcome = try stage.start(["add", "--plan", "set.plan", "-d", "set"] + arguments)
            .wait(timeout: 300)
        try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
        return outcome.output.trimmingCharacters(in: .newlines)
    }

    /// Holds the files from number 20 on after their first bytes, until the result is set to true.
    private func hold() -> Guarded<Bool> {
        let released = Guarded(false)
        stage.origin.bendGET { request, reply in
            guard let number = Int(request.path.split(separator: "/").first ?? ""), number >= 20
            else { return }
            reply.stallAfter = 1000
            reply.release = released
        }
        return released
    }

    private func expectComplete() throws {
        for number in 0..<Self.count {
            #expect(
                try stage.isRight("set/file-\(number)", "/\(number)/file-\(number)"), "\(number)")
        }
    }

    private func files(_ id: String, _ arguments: String...) throws -> [String: Any] {
        let outcome = try stage.start(["show", "--files", "--json", id] + arguments)
            .wait(timeout: 300)
        try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
        let object = try JSONSerialization.jsonObject(with: Data(outcome.standardOutput))
        return try #require(object as? [String: Any])
    }

    /// The worker is killed while files are complete and others are not; the next one downloads
    /// only the rest.
    @Test func killedSetContinuesWithMissingFiles() throws {
        try plan()
        let id = try add()
        #expect(unlink(stage.files.sandbox.path("set.plan")) == 0)
        #expect(try stage.done("list").contains("set/  0/40 files"))
        let released = hold()
        let worker = try stage.work()
        #expect(try eventually { try stage.task(id)["files_done"] as? Int == 20 })
        worker.signal(SIGKILL)
        #expect(try worker.wait(timeout: 60).end == .signal(SIGKILL))
        let there = try FileManager.default.contentsOfDirectory(
            atPath: stage.files.sandbox.path("set")
        ).filter { $0.hasPrefix("file-") && !$0.contains(".") }
        #expect(there.count == 20)
        stage.origin.hearOut()
        let before = stage.origin.requests.count
        released.withLock { $0 = true }
        #expect(try stage.work().wait(timeout: 300).end == .exit(0))
        try expectComplete()
        for request in stage.origin.requests[before...] where request.method == "GET" {
            #expect(!there.contains(String(request.path.split(separator: "/").last ?? "")))
        }
        let task = try stage.task(id)
        #expect(task["state"] as? String == "completed")
        #expect(task["files"] as? Int == 40 && task["files_done"] as? Int == 40)
        let list = try files(id, "--file-state", "complete", "--limit", "3", "--offset", "38")
        #expect(list["matching"] as? Int == 40 && (list["files"] as? [Any])?.count == 2)
        #expect(try stage.done("show", id).contains("files         40/40 files"))
        #expect(try stage.done("list").contains("set/  40/40 files"))
        _ = try stage.done("remove", id)
        #expect(try stage.tasks().isEmpty)
        try expectComplete()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: stage.queue + ".plans") == [])
    }

    @Test func setIsPausedAndResumedAsOne() throws {
        try plan()
        let id = try add("--paused", "--tag", "model")
        let worker = try stage.work("--keep-running")
        #expect(try stage.state(id) == "paused")
        let released = hold()
        _ = try stage.done("resume", id)
        #expect(try eventually { try stage.task(id)["files_done"] as? Int == 20 })
        _ = try stage.done("pause", id)
        #expect(
            try eventually {
                try files(id)["counts"] as? [String: Int] == ["complete": 20, "missing": 20]
            })
        #expect(try stage.state(id) == "paused")
        released.withLock { $0 = true }
        _ = try stage.done("resume", id)
        #expect(try eventually { try stage.state(id) == "completed" })
        try expectComplete()
        // The same plan again is the same task.
        #expect(try add() == id)
        #expect(try eventually { try stage.state(id) == "completed" })
        worker.signal(SIGTERM)
        _ = try worker.wait(timeout: 60)
    }

    /// The links of a set have expired: a command gets a new one for each.
    @Test func refreshCommandRenewsLinks() throws {
        stage.origin.bend { request, reply in reply.set("ETag", "\"\(request.path)\"") }
        try plan()
        stage.origin.bend { request, reply in
            reply.set("ETag", "\"\(request.path)\"")
            if !request.target.hasSuffix("?new") { reply = .text(403) }
        }
        let command = try stage.files.sandbox.write(
            "renew", "#!/bin/sh\necho \"$SEGGET_TASK_URL?new\"\n")
        #expect(chmod(command, 0o700) == 0)
        _ = try add("--refresh-url", command)
        _ = try stage.add("/40/single", "--refresh-url", command)
        let outcome = try stage.work().wait(timeout: 300)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        // The origin's content differs by the link.
        for number in 0..<Self.count {
            let link = "/\(number)/file-\(number)?new"
            #expect(try stage.isRight("set/file-\(number)", link), "\(number)")
        }
        #expect(try stage.isRight("single", "/40/single?new"))
    }

    @Test func unusablePlanIsRefused() throws {
        try stage.files.sandbox.write("set.plan", "https://example.org/a\n")
        let outcome = try stage.run("add", "--plan", "set.plan")
        #expect(outcome.end == .exit(64))
        #expect(outcome.errorOutput.contains("set.plan"), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("is not a plan"), "\(outcome.errorOutput)")
        for arguments in [
            ["--plan", "set.plan", "https://example.org/b"], ["--plan", "set.plan", "-o", "x"],
            ["--plan", "set.plan", "--checksum", "crc32:00000001"],
        ] {
            let refused = try stage.start(["add"] + arguments).wait(timeout: 60)
            #expect(refused.end == .exit(64), "\(arguments)")
        }
    }

    /// A client over TCP cannot name a file of the machine, and sees the files of a set.
    @Test func clientOverTCPCannotAddPlan() throws {
        let stage = try DoorStage(size: 1000)
        let folder = stage.queue.folder
        let outcome = try Run(
            [
                "plan", stage.queue.origin.url("/1/a"), stage.queue.origin.url("/2/b"), "-o",
                "set.plan",
            ],
            in: folder, environment: ["SEGGET_NO_CONFIG": "1"]
        ).wait(timeout: 60)
        try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
        let door = try stage.open()
        let body =
            #"{"commands":[{"command":"add","plan":"\#(folder)/set.plan","root":"\#(folder)"}]}"#
        let refused = try door.ask("POST /api/v2/commands", door.authorization, body)
        #expect(refused.status == 403, "\(refused.body)")
        #expect(refused.body.contains("may not name a plan"), "\(refused.body)")
        #expect(refused.body.contains(#""member":"plan""#), "\(refused.body)")
        #expect(try stage.queue.tasks().isEmpty)
        let added = try stage.queue.done("add", "--plan", "set.plan", "-d", "set")
        let id = added.trimmingCharacters(in: .newlines)
        #expect(try eventually { try stage.queue.state(id) == "completed" })
        let reply = try door.ask("GET /api/v2/tasks/\(id)/files?limit=1", door.authorization)
        #expect(reply.status == 200 && reply.body.contains(#""path":"a""#), "\(reply.body)")
        let files = try #require(try door.call("aria2.getFiles", "\"\(id)\"") as? [[String: Any]])
        #expect(files.map { $0["index"] as? String } == ["1", "2"])
        #expect(files.map { $0["path"] as? String } == ["\(folder)/set/a", "\(folder)/set/b"])
        #expect(files.map { $0["completedLength"] as? String } == ["1000", "1000"])
        let status = try door.status(id)
        #expect(
            (status["files"] as? [Any])?.count == 2 && status["status"] as? String == "complete")
        try door.end()
    }
}
