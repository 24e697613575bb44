import Foundation
import Glibc
import TestSupport
import Testing

/// Tests the commands that a worker runs when tasks finish.
struct QueueHookTests {
    private let stage: QueueStage

    init() throws {
        stage = try QueueStage(size: 100_000)
        mkdir(stage.home.path("out"), 0o700)
        try stage.tool(
            "hook",
            """
            cd '\(stage.home.path("out"))' || exit 1
            readlink /proc/$$/fd/* >"$1.$$.descriptors"
            env | grep ^SEGGET >"$1.$$.environment"
            cat >"$1.$$.input"
            echo "$1" >>order
            """)
    }

    private static let hooks = [
        "--on-complete", "hook complete", "--on-error", "hook error", "--on-idle", "hook idle",
    ]

    private var order: [String] {
        let text = (try? stage.home.read("out/order")).map { String(decoding: $0, as: UTF8.self) }
        return text?.split(separator: "\n").map(String.init) ?? []
    }

    /// Returns what the only command of a kind has written into one of its files.
    private func left(_ kind: String, _ what: String) throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: stage.home.path("out"))
            .filter { $0.hasPrefix(kind + ".") && $0.hasSuffix(what) }
        #expect(names.count == 1, "\(names)")
        return try String(decoding: stage.home.read("out/\(names.first ?? "")"), as: UTF8.self)
    }

    private func environment(_ kind: String) throws -> [String: String] {
        let pairs = try left(kind, "environment").split(separator: "\n").map {
            let parts = $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), String(parts[1]))
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    private func input(_ kind: String) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(left(kind, "input").utf8))
        return try #require(object as? [String: Any])
    }

    @Test(.timeLimit(.minutes(5))) func hooksRunForCompletedFailedAndIdle() throws {
        let good = try stage.add("/1/a.iso?token=hush", "--tag", "x", "--tag", "y")
        let bad = try stage.add("/none/b.iso")
        let run = try stage.start(["run"] + Self.hooks).wait(timeout: 300)
        #expect(run.end == .exit(69), "\(run.errorOutput)")
        #expect(Set(order.dropLast()) == ["complete", "error"] && order.last == "idle")
        #expect(order.count == 3)
        let complete = try environment("complete")
        #expect(
            complete == [
                "SEGGET_TASK_EVENT": "complete", "SEGGET_TASK_STATUS": "0",
                "SEGGET_TASK_ID": good, "SEGGET_TASK_TAGS": "x y",
                "SEGGET_TASK_URL": stage.origin.url("/1/a.iso"),
                "SEGGET_TASK_PATH": stage.files.sandbox.path("a.iso"),
                "SEGGET_TASK_SIZE": "100000", "SEGGET_TASK_CHECKSUM": "",
                "SEGGET_TASK_CRC32": complete["SEGGET_TASK_CRC32"] ?? "",
            ])
        let finished = try input("complete")
        #expect(finished["event"] as? String == "finished")
        #expect(finished["bytes_received"] as? Int == 100_000)
        let error = try environment("error")
        #expect(error["SEGGET_TASK_ID"] == bad && error["SEGGET_TASK_STATUS"] == "69")
        #expect(error["SEGGET_TASK_KIND"] == (try input("error")["kind"] as? String))
        let idle = try environment("idle")
        #expect(
            idle == [
                "SEGGET_TASK_EVENT": "idle", "SEGGET_TASK_COMPLETED": "1",
                "SEGGET_TASK_FAILED": "1",
            ])
        #expect(try input("idle")["completed"] as? Int == 1)
        // The hook has three open descriptors: its input, standard error, and the shell's script.
        let open = try left("complete", "descriptors")
        #expect(open.contains("segget-task") && !open.contains("queue.sqlite"), "\(open)")
        #expect(!open.contains("socket:"), "\(open)")
    }

    @Test(.timeLimit(.minutes(5))) func hooksRunInBackgroundAndWorkerWaits() throws {
        let (out, go) = (stage.home.path("out"), stage.home.path("go"))
        try stage.tool(
            "slow",
            ">'\(out)'/$$; while [ ! -e '\(go)' ]; do sleep 0.02; done; echo >>'\(out)/order'")
        let started = { try FileManager.default.contentsOfDirectory(atPath: out).count }
        for number in 1...6 { _ = try stage.add("/\(number)/\(number).iso") }
        let worker = try stage.work("--on-complete", "slow")
        // A worker that has finished accepts no commands, so the test looks at the folder.
        let names = Set((1...6).map { "\($0).iso" })
        #expect(try eventually(timeout: 120, poll: 0.1) { Set(try stage.names()) == names })
        // At most four run at a time.
        #expect(try eventually { try started() == 4 })
        #expect(worker.isRunning)
        try stage.home.write("go", "")
        let outcome = try worker.wait(timeout: 120)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        // Each command wrote its file, and all six are in the shared file.
        #expect(try started() == 7)
        #expect(try stage.home.read("out/order").count == 6)
    }

    /// The command of a killed worker keeps running, without the queue's lock.
    @Test(.timeLimit(.minutes(5))) func hookOfKilledWorkerDoesNotLockQueue() throws {
        let (out, go) = (stage.home.path("out/pid"), stage.home.path("go"))
        try stage.tool(
            "slow", "echo $$ >'\(out)'; while [ ! -e '\(go)' ]; do sleep 0.02; done; rm '\(out)'")
        _ = try stage.add("/1/a.iso")
        let worker = try stage.work("--on-complete", "slow")
        let isThere = { access(out, F_OK) == 0 }
        #expect(eventually { isThere() })
        worker.signal(SIGKILL)
        _ = try worker.wait()
        let next = try stage.run("run")
        #expect(next.end == .exit(0), "\(next.errorOutput)")
        #expect(isThere())
        try stage.home.write("go", "")
        #expect(eventually { !isThere() })
    }

    @Test(.timeLimit(.minutes(5))) func idleHookRunsOncePerIdlePeriod() throws {
        let worker = try stage.start(["run", "--keep-running"] + Self.hooks)
        _ = try stage.add("/1/a.iso")
        #expect(eventually { order == ["complete", "idle"] }, "\(order)")
        // Commands of the user do not count as results.
        let held = try stage.add("/2/b.iso", "--paused")
        try stage.done("cancel", held)
        try stage.done("remove", held)
        _ = try stage.add("/3/c.iso")
        #expect(
            eventually { order == ["complete", "idle", "complete", "idle"] }, "\(order)")
        worker.signal(SIGTERM)
        _ = try worker.wait()
    }

    @Test(.timeLimit(.minutes(5))) func failedHookIsReported() throws {
        _ = try stage.add("/1/a.iso")
        let run = try stage.run("run", "--on-complete", "false", "--on-idle", "/nonexistent/x")
        #expect(run.end == .exit(0), "\(run.errorOutput)")
        let said = run.errorOutput
        #expect(said.contains("note: the command of `--on-complete` ended with exit code 1"))
        #expect(said.contains("note: the command of `--on-idle` cannot be run"))
        let refused = try stage.run("run", "--on-idle", "'")
        #expect(refused.end == .exit(64), "\(refused.errorOutput)")
    }
}
