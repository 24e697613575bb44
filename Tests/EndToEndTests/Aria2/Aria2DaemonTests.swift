import Foundation
import Glibc
import TestSupport
import Testing

/// Tests `segget-aria2c` with `--enable-rpc` or `-D`, for programs that start aria2 as a daemon.
@Suite(.timeLimit(.minutes(10)))
struct Aria2DaemonTests {
    private let stage: BatchStage
    private let dropIn: DropIn
    private let sandbox: Sandbox

    init() throws {
        stage = try BatchStage(size: 2_000_000)
        dropIn = try DropIn()
        sandbox = try Sandbox("segget-daemon")
        for name in ["home", "tmp", "dl"] { mkdir(sandbox.path(name), 0o700) }
    }

    private func start(_ arguments: String...) throws -> Aria2Daemon {
        try dropIn.daemon(
            arguments, in: sandbox.path("dl"), home: sandbox.path("home"),
            temporary: sandbox.path("tmp"))
    }

    @Test func downloadsWhatClientsAdd() throws {
        let daemon = try start()
        let gid = try #require(
            try daemon.call(
                "addUri",
                [[stage.origin.url("/a")], ["dir": sandbox.path("new/deep"), "out": "b"]])
                as? String)
        #expect(try daemon.waits(for: "complete", of: gid))
        let status = try #require(try daemon.call("tellStatus", [gid]) as? [String: Any])
        let files = try #require(status["files"] as? [[String: Any]])
        #expect(files.first?["path"] as? String == sandbox.path("new/deep/b"))
        #expect(status["bitfield"] as? String == "c0")
        let data = try Data(contentsOf: URL(filePath: sandbox.path("new/deep/b")))
        #expect(data.count == 2_000_000)
        #expect(try daemon.call("shutdown") as? String == "OK")
        #expect(try daemon.process.wait(timeout: 60).end == .exit(0))
        // The daemon has removed its temporary queue, and did not create the user's queue.
        #expect(try FileManager.default.contentsOfDirectory(atPath: sandbox.path("tmp")) == [])
        #expect(try FileManager.default.contentsOfDirectory(atPath: sandbox.path("home")) == [])
    }

    @Test func severalDaemonsRunInParallel() throws {
        let daemons = try (0..<3).map { _ in try start() }
        let gids = try daemons.enumerated().map { index, daemon in
            try #require(
                try daemon.call("addUri", [[stage.origin.url("/\(index)")]]) as? String)
        }
        for (daemon, gid) in zip(daemons, gids) {
            #expect(try daemon.waits(for: "complete", of: gid))
            #expect((try daemon.call("tellStopped", [0, 10]) as? [Any])?.count == 1)
        }
        for daemon in daemons {
            daemon.process.signal(SIGTERM)
            #expect(try daemon.process.wait(timeout: 60).end == .exit(0))
        }
    }

    /// A later daemon reads unfinished downloads again, with their GIDs and options.
    @Test func resumesSessionAfterKill() throws {
        stage.origin.bendGET { request, reply in
            if request.path.hasPrefix("/slow") { reply.stallAfter = 500_000 }
        }
        let session = sandbox.path("session")
        let first = try start("--save-session=\(session)", "--force-save=false")
        let options: [String: Any] = [
            "gid": "00000000000000aa", "header": ["X-A: b", "X-C: d"], "split": "1",
        ]
        #expect(
            try first.call("addUri", [[stage.origin.url("/slow")], options]) as? String
                == "00000000000000aa")
        let paused: [String: Any] = ["gid": "00000000000000ab", "pause": "true"]
        _ = try first.call("addUri", [[stage.origin.url("/later")], paused])
        let done = try #require(
            try first.call("addUri", [[stage.origin.url("/quick")]]) as? String)
        #expect(try first.waits(for: "complete", of: done))
        #expect(try first.waits(for: "active", of: "00000000000000aa"))
        #expect(try first.call("saveSession") as? String == "OK")
        let saved = try String(contentsOfFile: session, encoding: .utf8)
        #expect(saved.contains("/slow\t\n gid=00000000000000aa\n"), "\(saved)")
        #expect(saved.contains(" header=X-A: b\n header=X-C: d\n"), "\(saved)")
        #expect(saved.contains(" gid=00000000000000ab\n") && saved.contains(" pause=true\n"))
        #expect(!saved.contains("/quick"))
        // SIGKILL leaves the files on the disk unchanged.
        first.process.signal(SIGKILL)
        _ = try first.process.wait()
        stage.origin.bendGET { _, _ in }
        let second = try start("--input-file=\(session)", "--save-session=\(session)")
        #expect(try second.waits(for: "complete", of: "00000000000000aa"))
        #expect(try second.waits(for: "paused", of: "00000000000000ab"))
        #expect(try second.call("unpause", ["00000000000000ab"]) as? String == "00000000000000ab")
        #expect(try second.waits(for: "complete", of: "00000000000000ab"))
        second.process.signal(SIGTERM)
        #expect(try second.process.wait(timeout: 60).end == .exit(0))
        #expect(try String(contentsOfFile: session, encoding: .utf8) == "")
    }

    @Test func requiresSecret() throws {
        let daemon = try start("--rpc-secret=open sesame")
        #expect(try daemon.call("getVersion") == nil)
        #expect(try daemon.call("getVersion", ["token:open sesam"]) == nil)
        #expect(try daemon.call("getVersion", ["token:open sesame"]) != nil)
        daemon.process.signal(SIGTERM)
        #expect(try daemon.process.wait(timeout: 60).end == .exit(0))
    }

    /// Event hooks run with aria2's arguments.
    @Test func runsEventHooks() throws {
        let log = sandbox.path("log")
        try sandbox.write("hook", "#!/bin/sh\necho \"$1 $2 $3\" >> \(log)\n")
        chmod(sandbox.path("hook"), 0o700)
        let daemon = try start("--on-download-complete=\(sandbox.path("hook"))")
        let gid = try #require(
            try daemon.call("addUri", [[stage.origin.url("/a")]]) as? String)
        #expect(
            eventually(timeout: 120) {
                (try? String(contentsOfFile: log, encoding: .utf8))
                    == "\(gid) 1 \(sandbox.path("dl"))/a\n"
            })
        daemon.process.signal(SIGTERM)
        _ = try daemon.process.wait(timeout: 60)
    }

    // MARK: -D without --enable-rpc

    /// Runs a program in the background, in `dl`, and returns the started process's output.
    private func runInBackground(
        _ program: String, _ arguments: [String]
    ) throws -> Run.Outcome {
        try Run(
            ["-D", "--no-conf"] + arguments, in: sandbox.path("dl"),
            environment: ["HOME": sandbox.path("home"), "TMPDIR": sandbox.path("tmp")],
            program: program
        ).wait(timeout: 120)
    }

    /// Returns whether the path receives the content of the origin's `/f`, and all other files of
    /// the download are removed.
    private func arrives(_ path: String) throws -> Bool {
        try sandbox.write("expected", "")
        let expected = sandbox.path("expected")
        let fetch = try Run(
            "/usr/bin/curl", ["-q", "-sS", "-o", expected, stage.origin.url("/f")]
        ).wait()
        guard fetch.end == .exit(0) else { throw Unexpected(text: fetch.errorOutput) }
        return eventually(timeout: 120) {
            FileManager.default.contentsEqual(atPath: path, andPath: expected)
                && [".part", ".segget", ".aria2"].allSatisfy { access(path + $0, F_OK) != 0 }
        }
    }

    /// `false` for aria2c if it is installed, and `true` for the drop-in.
    private static let programs = access("/usr/bin/aria2c", X_OK) == 0 ? [false, true] : [true]

    /// By default files are saved in the starting folder; relative paths of options begin at the
    /// root.
    @Test(arguments: programs)
    func continuesInBackground(isDropIn: Bool) throws {
        let program = isDropIn ? dropIn.path("bin/segget-aria2c") : "/usr/bin/aria2c"
        let dl = sandbox.path("dl")
        let fromRoot = String(sandbox.path("new").dropFirst())
        let rows: [(options: [String], path: String)] = [
            (["-o", "a"], "\(dl)/a"), (["-o", "deep/b"], "\(dl)/deep/b"),
            (["-d", fromRoot, "-o", "c"], sandbox.path("new/c")),
            (["-o", "d", "-l", fromRoot + ".log"], "\(dl)/d"),
            (["-o", "e", "-l", "-"], "\(dl)/e"),
        ]
        for (options, path) in rows {
            // The origin sends the rest only after the started process has ended.
            let hasEnded = Guarded(false)
            stage.origin.bendGET { _, reply in
                (reply.stallAfter, reply.release) = (1000, hasEnded)
            }
            let outcome = try runInBackground(program, options + [stage.origin.url("/f")])
            #expect(outcome.end == .exit(0), "\(options): \(outcome.errorOutput)")
            #expect(outcome.output.isEmpty && outcome.errorOutput.isEmpty, "\(options)")
            #expect(access(path, F_OK) != 0 || !isDropIn, "\(options): it did not wait")
            hasEnded.withLock { $0 = true }
            stage.origin.bendGET { _, _ in }
            #expect(try arrives(path), "\(options)")
        }
        let log = sandbox.path("new.log")
        #expect(
            eventually(timeout: 120) {
                (try? String(contentsOfFile: log, encoding: .utf8))?
                    .contains("Download complete: \(dl)/d") == true
            })
        // The background process ends after the last download, and removes its temporary files.
        #expect(
            eventually(timeout: 120) {
                (try? FileManager.default.contentsOfDirectory(atPath: sandbox.path("tmp"))) == []
            })
    }

    @Test(arguments: programs)
    func relativeListPathBeginsAtRoot(isDropIn: Bool) throws {
        let program = isDropIn ? dropIn.path("bin/segget-aria2c") : "/usr/bin/aria2c"
        try sandbox.write("list", "\(stage.origin.url("/f"))\n out=listed\n")
        let list = String(sandbox.path("list").dropFirst())
        #expect(try runInBackground(program, ["-i", list]).end == .exit(0))
        #expect(try arrives(sandbox.path("dl/listed")))
    }

    @Test func reportsFailedStart() throws {
        let program = dropIn.path("bin/segget-aria2c")
        for arguments in [
            ["-i", sandbox.path("none")], ["-l", sandbox.path("none/log"), stage.origin.url("/f")],
        ] {
            let outcome = try runInBackground(program, arguments)
            #expect(outcome.end == .exit(1))
            #expect(outcome.errorOutput.contains("run without `-D` to see why"))
        }
    }
}
