import Foundation
import Glibc
import TestSupport
import Testing

/// Tests the commands that follow tasks to their results: `segget attach`, `add --attach` and
/// `get --enqueue`.
@Suite(.timeLimit(.minutes(10)))
struct AttachTests {
    /// Runs `get --enqueue`, with the queue's file on the command line.
    private func get(_ stage: QueueStage, _ arguments: String...) throws -> Run {
        try Run(
            ["get", "--enqueue", "--queue", stage.queue] + arguments, in: stage.folder,
            environment: ["SEGGET_NO_CONFIG": "1"])
    }

    /// `--enqueue` and the path of the queue may be environment variables.
    @Test func readsQueueFromEnvironment() throws {
        let stage = try QueueStage()
        let worker = try stage.work("--keep-running")
        for (index, environment) in [[:], ["SEGGET_ENQUEUE": "1"]].enumerated() {
            let outcome = try Run(
                (environment.isEmpty ? ["--enqueue"] : []) + [stage.origin.url("/v\(index)")],
                in: stage.folder,
                environment: ["SEGGET_NO_CONFIG": "1", "SEGGET_QUEUE": stage.queue].merging(
                    environment
                ) { $1 }
            ).wait(timeout: 300)
            #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
            #expect(try stage.isRight("v\(index)", "/v\(index)"))
        }
        #expect(try stage.tasks().count == 2)
        worker.signal(SIGTERM)
        _ = try worker.wait()
    }

    @Test func attachShowsProgressAndDetachesOnInterrupt() throws {
        let stage = try QueueStage()
        let worker = try stage.work("--keep-running")
        let id = try stage.add("/a", "--limit-rate", "100k")
        let screen = try Screen(
            [try Segget.binary(), "attach", String(id.prefix(8)), "--queue", stage.queue],
            in: stage.folder, width: 100)
        func has(_ text: String) throws -> Bool {
            try eventually { try screen.text().contains(text) }
        }
        #expect(
            try eventually {
                try screen.text().contains(#/a +[0-9]+% .* of 2\.86 MiB  ETA .* conn  \[/#)
            }, "\(screen.shown)")
        try screen.press("C-c")
        #expect(try has("code 130"), "\(screen.shown)")
        #expect(try has("note: task \(id) continues in the background"), "\(screen.shown)")
        // The progress bar is removed.
        #expect(try !screen.text().contains(" conn "), "\(screen.shown)")
        #expect(try stage.state(id) == "running")
        try stage.done("set", id, "--limit-rate", "0")
        let outcome = try stage.run("attach", id)
        #expect(outcome.end == .exit(0))
        let path = "`\(stage.folder)/a`"
        #expect(outcome.errorOutput.contains("\(path): 2.86 MiB in "), "\(outcome.errorOutput)")
        #expect(try stage.isRight("a", "/a"))
        // A task that was followed to its result is not unseen.
        #expect(try stage.tasks("--unseen").isEmpty)
        worker.signal(SIGTERM)
        _ = try worker.wait()
    }

    @Test func attachHasExitCodesOfGet() throws {
        let stage = try QueueStage()
        let worker = try stage.work("--keep-running")
        stage.origin.bendGET { request, reply in
            if request.path.hasPrefix("/slow") { reply.stallAfter = 100_000 }
            if request.path.hasPrefix("/gone") { reply.status = 404 }
        }
        func attach(_ id: String) throws -> (Int32?, String) {
            let outcome = try stage.run("attach", id)
            guard case .exit(let code) = outcome.end else { return (nil, outcome.errorOutput) }
            return (code, outcome.errorOutput)
        }
        let wrong = try stage.add("/a", "--checksum", "crc32:00000000")
        let (code, text) = try attach(wrong)
        #expect(code == 65)
        #expect(text.contains("error: ") && text.contains("hint: "), "\(text)")
        #expect(try attach(stage.add("/gone")).0 == 69)
        for command in ["cancel", "remove"] {
            let id = try stage.add("/slow/\(command)")
            #expect(try stage.waits(for: "running", of: id))
            let attached = try stage.start(["attach", id])
            #expect(
                eventually { attached.errorOutput.contains(" conn") }, "\(attached.errorOutput)")
            try stage.done(command, id)
            let outcome = try attached.wait(timeout: 60)
            #expect(outcome.end == .exit(75))
            #expect(
                outcome.errorOutput.contains(command == "cancel" ? "was cancelled" : "was removed"),
                "\(outcome.errorOutput)")
        }
        #expect(try attach("0000").0 == 64)
        worker.signal(SIGTERM)
        _ = try worker.wait()
    }

    @Test func attachSurvivesRestartOfWorker() throws {
        let stage = try QueueStage()
        let first = try stage.work("--keep-running")
        let id = try stage.add("/a", "--limit-rate", "100k", "-x", "1")
        let attached = try stage.start(["attach", id, "--verbose"])
        #expect(eventually { attached.errorOutput.contains(" conn") }, "\(attached.errorOutput)")
        first.signal(SIGKILL)
        _ = try first.wait()
        #expect(
            eventually { attached.errorOutput.contains("no worker is running") },
            "\(attached.errorOutput)")
        try stage.done("set", id, "--limit-rate", "0")
        let second = try stage.work("--keep-running")
        let outcome = try attached.wait(timeout: 120)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight("a", "/a"))
        second.signal(SIGTERM)
        _ = try second.wait()
    }

    @Test func getEnqueueAddsTaskAndFollowsIt() throws {
        let stage = try QueueStage()
        let worker = try stage.work("--keep-running")
        let outcome = try get(stage, stage.origin.url("/a"), "-o", "b").wait(timeout: 120)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.output.isEmpty)
        #expect(try stage.isRight("b", "/a"))
        // The task continues if the program that shows it is killed.
        let url = stage.origin.url("/c")
        let shows = try get(stage, url, "--limit-rate", "100k")
        #expect(eventually { shows.errorOutput.contains(" conn") }, "\(shows.errorOutput)")
        shows.signal(SIGKILL)
        _ = try shows.wait()
        let id = try #require(try stage.tasks().first { $0["url"] as? String == url }?["id"])
        try stage.done("set", "\(id)", "--limit-rate", "0")
        #expect(try stage.waits(for: "completed", of: "\(id)"))
        #expect(try stage.isRight("c", "/c"))
        worker.signal(SIGTERM)
        _ = try worker.wait()
    }

    @Test func exitCodeIsOfWorstTask() throws {
        let stage = try QueueStage(size: 100_000)
        let worker = try stage.work("--keep-running")
        let outcome = try get(
            stage, stage.origin.url("/1/a"), stage.origin.url("/2/b"), stage.origin.url("/1/a"),
            "ftp://127.0.0.1/c", "--json"
        ).wait(timeout: 120)
        #expect(outcome.end == .exit(64), "\(outcome.errorOutput)")
        #expect(try stage.isRight("a", "/1/a"))
        #expect(try stage.isRight("b", "/2/b"))
        // Each line reports a task.
        let lines = try outcome.output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        let completed = lines.filter { $0["state"] as? String == "completed" }
        #expect(Set(completed.compactMap { $0["path"] as? String }).count == 2, "\(lines)")
        worker.signal(SIGTERM)
        _ = try worker.wait()
    }
}
