import Assembler
import Foundation
import Glibc
import TestSupport
import Testing

/// The lock file that replaces flock(2) on file systems without such locks.
struct LockFileTests {
    /// The environment of a run whose flock(2) fails.
    private static func denied(_ stage: Stage, errno code: Int32 = ENOLCK) throws -> [String:
        String]
    {
        try DiskFaults.environment(["flock:*:1:0:\(code)"], in: stage.folder)
    }

    /// Starts a run that takes its lock and waits for bytes until `goesOn` is true.
    private static func startHeld(
        _ stage: Stage, _ goesOn: Guarded<Bool>
    ) throws -> Run {
        stage.origin.bendGET {
            $0.stallAfter = 50_000
            $0.release = goesOn
        }
        let process = try Run(
            ["-x", "1", stage.origin.url("/file")], in: stage.folder,
            environment: try denied(stage))
        guard process.waits(for: 50_000) else {
            throw Unexpected(text: try process.wait().errorOutput)
        }
        return process
    }

    /// A second run fails, with flock(2) and without, and names the process and the lock file.
    @Test(.timeLimit(.minutes(5)), arguments: [false, true])
    func refusesSecondRun(hasLocks: Bool) throws {
        let stage = try Stage(size: 200_000)
        let goesOn = Guarded(false)
        let first = try Self.startHeld(stage, goesOn)
        #expect(try stage.names() == ["file.part", "file.segget", "file.segget-lock"])
        let second = try Run(
            ["-x", "1", stage.origin.url("/file")], in: stage.folder,
            environment: hasLocks ? [:] : try Self.denied(stage)
        ).wait()
        #expect(second.end == .exit(73), "\(second.errorOutput)")
        #expect(second.errorOutput.contains("`file.segget-lock`"), "\(second.errorOutput)")
        #expect(second.errorOutput.contains("process \(first.pid) on the machine `"))
        #expect(second.errorOutput.contains("remove `file.segget-lock`"))
        let report = try Run(["verify", "file", "--json"], in: stage.folder).wait()
        #expect(report.output.contains("\"in_use\":true"), "\(report.output)")
        goesOn.withLock { $0 = true }
        let outcome = try first.wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }

    /// The lock file of a killed process on the same machine blocks no other run.
    @Test(.timeLimit(.minutes(5)), arguments: [false, true])
    func takesOverFromKilledRun(hasLocks: Bool) throws {
        let stage = try Stage(size: 200_000)
        let first = try Self.startHeld(stage, Guarded(false))
        first.signal(SIGKILL)
        _ = try first.wait()
        stage.origin.dropConnections()
        stage.origin.behave()
        #expect(try stage.names() == ["file.part", "file.segget", "file.segget-lock"])
        let next = try Run(
            ["--json", stage.origin.url("/file")], in: stage.folder,
            environment: hasLocks ? [:] : try Self.denied(stage)
        ).wait()
        #expect(next.end == .exit(0), "\(next.errorOutput)")
        #expect(try jsonEvents(next.output).last?["bytes_resumed"] as? Int64 ?? 0 >= 50_000)
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }

    /// Several runs find the lock file of a killed run at once, and one of them takes over.
    @Test(.timeLimit(.minutes(5))) func oneOfSeveralRunsTakesOver() throws {
        let stage = try Stage(size: 200_000)
        for _ in 0..<5 {
            let first = try Self.startHeld(stage, Guarded(false))
            first.signal(SIGKILL)
            _ = try first.wait()
            stage.origin.dropConnections()
            stage.origin.behave()
            let goesOn = Guarded(false)
            stage.origin.bendGET {
                $0.delayBeforeHeaders = .infinity
                $0.release = goesOn
            }
            let environment = try Self.denied(stage)
            let runs = try (0..<4).map { _ in
                try Run(
                    ["-o", "file", stage.origin.url("/file")], in: stage.folder,
                    environment: environment)
            }
            #expect(eventually { runs.filter(\.isRunning).count == 1 })
            stage.origin.behave()
            goesOn.withLock { $0 = true }
            let ends = try runs.map { try $0.wait() }
            #expect(ends.filter { $0.end == .exit(0) }.count == 1)
            #expect(ends.filter { $0.end == .exit(73) }.count == 3)
            #expect(try stage.isRight())
            #expect(try stage.names() == ["file"])
            try stage.remove("file")
        }
    }

    /// segget cannot check a process on another machine, or one that the file does not name.
    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            "segget_lock=1\nhost=elsewhere\nboot=b\nnamespace=pid:[1]\npid=4711\nstarted=1\nend\n",
            "", "something else",
        ])
    func refusesLockFileOfUnknownProcess(text: String) throws {
        for hasLocks in [true, false] {
            let stage = try Stage(size: 200_000)
            try stage.write(text.utf8, to: "file.segget-lock")
            let outcome = try Run(
                [stage.origin.url("/file")], in: stage.folder,
                environment: hasLocks ? [:] : try Self.denied(stage)
            ).wait()
            #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains("remove `file.segget-lock`"))
            if !text.isEmpty, text.hasPrefix("segget") {
                #expect(outcome.errorOutput.contains("process 4711 on the machine `elsewhere`"))
            }
            // An empty part may remain, because another run may use it.
            #expect(try stage.names().filter { $0 != "file.part" } == ["file.segget-lock"])
            #expect(stage.origin.bytesServed <= 1)
            try stage.remove("file.segget-lock")
            #expect(try stage.run().end == .exit(0))
        }
    }

    /// Without file locks, SQLite could damage the queue.
    @Test(.timeLimit(.minutes(5)), arguments: [ENOSYS, ENOLCK, EOPNOTSUPP])
    func refusesQueueOnMountWithoutLocks(code: Int32) throws {
        let sandbox = try Sandbox()
        let outcome = try Run(
            ["add", "--queue", sandbox.path("queue.sqlite"), "http://127.0.0.1:9/file"],
            in: sandbox.path,
            environment: try DiskFaults.environment(["flock:*:1:0:\(code)"], in: sandbox.path),
            program: try Segget.binary() + "-manager"
        ).wait()
        #expect(outcome.end == .exit(74), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("the mount `/"), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("has no file locks"), "\(outcome.errorOutput)")
        #expect(try !sandbox.names().contains("queue.sqlite"))
    }
}
