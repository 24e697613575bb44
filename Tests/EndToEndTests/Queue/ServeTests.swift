import Foundation
import Glibc
import TestSupport
import Testing

/// Tests `segget serve`: the worker of a queue as a service.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ServeTests {
    private let stage: QueueStage
    private let manager: NotifyReceiver

    init() throws {
        stage = try QueueStage(size: 2_000_000)
        manager = try NotifyReceiver(at: stage.home.path("notify"))
    }

    private func serve(
        _ arguments: String..., environment: [String: String] = [:]
    ) throws -> Run {
        try start(arguments, environment: environment)
    }

    private func start(
        _ arguments: [String], environment: [String: String] = [:], program: String? = nil
    ) throws -> Run {
        try Run(
            ["serve", "--queue", stage.queue] + arguments, in: stage.folder,
            environment: ["SEGGET_NO_CONFIG": "1", "NOTIFY_SOCKET": manager.path]
                .merging(environment) { $1 }, program: program)
    }

    @Test func serviceManagerIsNotified() throws {
        let service = try serve(environment: ["WATCHDOG_USEC": "200000"])
        #expect(manager.hears("READY=1"))
        #expect(stage.isWorked(by: service.pid))
        #expect(manager.hears("WATCHDOG=1"))
        _ = try stage.add("/a", "--limit-rate", "1m")
        #expect(manager.hears { $0.hasPrefix("STATUS=1 running, ") })
        #expect(manager.hears("STATUS=nothing to do"))
        kill(service.pid, SIGHUP)
        #expect(manager.hears("RELOADING=1"))
        #expect(manager.hears("READY=1"))
        kill(service.pid, SIGTERM)
        #expect(manager.hears("STOPPING=1"))
        #expect(try service.wait(timeout: 60).end == .exit(0))
        #expect(try stage.isRight("a", "/a"))
    }

    /// Runs `serve --ping` like the health check of a container, in the environment of the service.
    @Test func pingExitCodeReportsService() throws {
        let environment = ["SEGGET_NO_CONFIG": "1", "SEGGET_DENY_PRIVATE": "no"]
        func ping() throws -> Run.Outcome {
            try Run(
                ["serve", "--ping", "--queue", stage.queue], in: stage.folder,
                environment: environment
            ).wait(timeout: 60)
        }
        let early = try ping()
        #expect(early.end == .exit(69), "\(early.errorOutput)")
        #expect(early.errorOutput.contains("no worker is running"))
        let service = try serve()
        #expect(manager.hears("READY=1"))
        #expect(try ping().end == .exit(0))
        kill(service.pid, SIGTERM)
        #expect(try service.wait(timeout: 60).end == .exit(0))
        #expect(try ping().end == .exit(69))
    }

    /// Linux has a separate niceness for each thread.
    @Test func reloadChangesNicenessOfMainThread() throws {
        let configuration = stage.home.path("configuration")
        try "nice = 3\n".write(toFile: configuration, atomically: true, encoding: .utf8)
        let service = try Run(
            ["serve", "--queue", stage.queue, "--config", configuration], in: stage.folder,
            environment: ["NOTIFY_SOCKET": manager.path])
        let main = id_t(service.pid)
        let which = __priority_which_t(PRIO_PROCESS.rawValue)
        #expect(manager.hears("READY=1"))
        #expect(getpriority(which, main) == 3)
        try "nice = 5\n".write(toFile: configuration, atomically: true, encoding: .utf8)
        kill(service.pid, SIGHUP)
        #expect(manager.hears("RELOADING=1"))
        #expect(manager.hears("READY=1"))
        #expect(getpriority(which, main) == 5)
        kill(service.pid, SIGTERM)
        #expect(try service.wait(timeout: 60).end == .exit(0))
    }

    /// A service that receives SIGTERM records all received bytes, and the next one resumes there.
    @Test func nextServiceResumesDownloads() throws {
        let first = try serve()
        #expect(manager.hears("READY=1"))
        let id = try stage.add("/a", "--limit-rate", "500k", "-x", "1")
        #expect(
            try eventually { try (stage.task(id)["bytes_done"] as? Int ?? 0) > 300_000 })
        kill(first.pid, SIGTERM)
        let outcome = try first.wait(timeout: 60)
        #expect(outcome.end == .exit(0))
        #expect(outcome.errorOutput.hasSuffix("the service has stopped\n"))
        let before = stage.origin.requests.count
        let second = try serve()
        #expect(try stage.waits(for: "completed", of: id))
        #expect(try stage.isRight("a", "/a"))
        // Counts requested bytes: the kernel buffers more than a rate limit lets through.
        let requested = stage.origin.requests.dropFirst(before).filter { $0.method == "GET" }
            .reduce(0) { $0 + ($1.range?.bytes(of: 2_000_000).count ?? 2_000_000) }
        #expect(requested < 2_000_000)
        kill(second.pid, SIGINT)
        #expect(try second.wait(timeout: 60).end == .exit(0))
    }

    /// A new version at another path takes over: subscribers reconnect, and received bytes are
    /// kept.
    @Test func upgradedServiceTakesOver() throws {
        let old = try serve()
        #expect(manager.hears("READY=1"))
        let subscriber = QueueSubscriber(stage.queue)
        defer { subscriber.stop() }
        let id = try stage.add("/a", "--limit-rate", "500k", "-x", "1")
        #expect(
            try eventually { try (stage.task(id)["bytes_done"] as? Int ?? 0) > 300_000 })
        kill(old.pid, SIGTERM)
        #expect(try old.wait(timeout: 60).end == .exit(0))
        let kept = try #require(try stage.task(id)["bytes_done"] as? Int64)
        let served = stage.origin.bytesServed
        let folder = URL(filePath: try Segget.binary()).deletingLastPathComponent()
        let manager = folder.appending(path: "segget-manager").path
        try FileManager.default.copyItem(
            atPath: try Segget.binary(), toPath: stage.home.path("segget"))
        try FileManager.default.copyItem(
            atPath: manager, toPath: stage.home.path("segget-manager"))
        let new = try start([], program: stage.home.path("segget"))
        #expect(self.manager.hears("READY=1"))
        #expect(stage.isWorked(by: new.pid))
        let program = try FileManager.default.destinationOfSymbolicLink(
            atPath: "/proc/\(new.pid)/exe")
        #expect(program == stage.home.path("segget-manager"))
        #expect(try stage.waits(for: "completed", of: id))
        #expect(try stage.isRight("a", "/a"))
        // The origin may count bytes in flight after `served` was read.
        #expect(stage.origin.bytesServed - served <= stage.files.size - kept + (256 << 10))
        let tasks = try stage.tasks()
        #expect(try eventually { try subscriber.knows(tasks) })
        #expect(subscriber.connections >= 2)
        #expect(subscriber.faults.isEmpty)
        kill(new.pid, SIGTERM)
        #expect(try new.wait(timeout: 60).end == .exit(0))
    }

    /// Threads that read files back have the idle I/O class; those that receive and write do not.
    @Test func verificationHasIdleIOPriority() throws {
        // The download never finishes.
        stage.origin.bendGET { _, reply in reply.stallAfter = 1000 }
        _ = try stage.add("/a", "--checksum", "sha-256:" + stage.files.sha256("/a"))
        for (options, isIdle) in [([], true), (["--io-priority", "normal"], false)] {
            let service = try start(options)
            #expect(manager.hears("READY=1"))
            func thread(_ name: String) -> ProcessThread? {
                ProcessThread.all(of: service.pid).first { $0.name == name }
            }
            #expect(eventually { thread("digest")?.isDiskIdle == isIdle }, "\(options)")
            #expect(thread("transfers")?.isDiskIdle == false)
            #expect(eventually { thread("sync")?.isDiskIdle == false })
            kill(service.pid, SIGTERM)
            #expect(try service.wait(timeout: 60).end == .exit(0))
        }
    }

    /// Every thread has the niceness of the configuration, which SIGHUP reloads.
    @Test func allThreadsHaveConfiguredNiceness() throws {
        let settings = try stage.home.write("settings", "nice = 3\n")
        let service = try start(
            ["--config", settings], environment: ["SEGGET_NO_CONFIG": "0"])
        #expect(manager.hears("READY=1"))
        func areAll(atLeast niceness: Int32) -> Bool {
            let threads = ProcessThread.all(of: service.pid)
            return threads.count > 2 && threads.allSatisfy { $0.niceness >= niceness }
        }
        #expect(eventually { areAll(atLeast: 3) })
        try stage.home.write("settings", "nice = 9\n")
        kill(service.pid, SIGHUP)
        #expect(eventually { areAll(atLeast: 9) })
        kill(service.pid, SIGTERM)
        #expect(try service.wait(timeout: 60).end == .exit(0))
    }

    @Test func logHasLinePerEventAndNoSecret() throws {
        let service = try serve(environment: ["INVOCATION_ID": "1"])
        #expect(manager.hears("READY=1"))
        let good = try stage.add("/a?token=SECRET", "-u", "me:SECRET", "-H", "X-Key: SECRET")
        let bad = try stage.add(
            "/b?token=SECRET", "--checksum", "sha-256=" + String(repeating: "0", count: 64))
        #expect(try stage.waits(for: "completed", of: good))
        #expect(try stage.waits(for: "failed", of: bad))
        kill(service.pid, SIGTERM)
        let log = try service.wait(timeout: 60).errorOutput
        #expect(!log.contains("SECRET"))
        #expect(log.contains("\(good): \(stage.folder)/a: completed, 1.91 MiB\n"))
        #expect(log.split(separator: "\n").contains { $0.contains(" error: \(bad): ") })
        // Each line begins with the time.
        #expect(log.split(separator: "\n").allSatisfy { $0.hasPrefix("20") && $0.utf8.count > 20 })
    }

    @Test func failsIfQueueHasWorker() throws {
        let worker = try stage.work("--keep-running")
        let outcome = try serve().wait(timeout: 60)
        #expect(outcome.end == .exit(69))
        #expect(outcome.errorOutput.contains("already has a worker: process \(worker.pid)"))
        // The message appears before the wait.
        #expect(outcome.errorOutput.contains("; waiting up to 5 s until it ends\n"))
        #expect(manager.hears { $0.hasPrefix("STATUS=") && $0.contains("waiting up to 5 s") })
        kill(worker.pid, SIGTERM)
        _ = try worker.wait(timeout: 60)
    }

    @Test func detachReportsReasonWithoutLogFile() throws {
        let worker = try stage.work("--keep-running")
        let outcome = try serve("--detach").wait(timeout: 60)
        #expect(outcome.end == .exit(69))
        let lines = outcome.errorOutput.split(separator: "\n")
        let reason = "already has a worker: process \(worker.pid)"
        #expect(lines.contains { $0.hasPrefix("note: ") && $0.contains(reason) }, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("error: ") && $0.contains(reason) }, "\(lines)")
        #expect(!outcome.errorOutput.contains("exit code"), "\(lines)")
        kill(worker.pid, SIGTERM)
        _ = try worker.wait(timeout: 60)
    }

    /// Changes to a finished task are not reported as another result.
    @Test(arguments: [true, false])
    func logReportsEachResultOnce(isSameService: Bool) throws {
        var service = try serve()
        #expect(manager.hears("READY=1"))
        let good = try stage.add("/a")
        let bad = try stage.add(
            "/b", "--checksum", "sha-256=" + String(repeating: "0", count: 64))
        #expect(try stage.waits(for: "completed", of: good))
        #expect(try stage.waits(for: "failed", of: bad))
        var log = ""
        if !isSameService {
            kill(service.pid, SIGTERM)
            log = try service.wait(timeout: 60).errorOutput
            service = try serve()
            #expect(manager.hears("READY=1"))
        }
        try stage.done("rename", good, "c")
        for id in [good, bad] { try stage.done("tag", id, "+t") }
        try stage.done("remove", "--files", good, bad)
        kill(service.pid, SIGTERM)
        log += try service.wait(timeout: 60).errorOutput
        func lines(_ id: String, _ word: String) -> Int {
            log.split(separator: "\n").count { $0.contains(id) && $0.contains(word) }
        }
        #expect(lines(good, ": complete") == 1, "\(log)")
        #expect(lines(bad, " error: ") == 1, "\(log)")
    }

    @Test func detachRunsInBackground() throws {
        let (log, pidFile) = (stage.home.path("log"), stage.home.path("pid"))
        let outcome = try serve(
            "--detach", "--log-file", log, "--pid-file", pidFile, "--nice", "7"
        ).wait(timeout: 60)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        let text = try String(contentsOfFile: pidFile, encoding: .utf8)
        let pid = try #require(pid_t(text.trimmingCharacters(in: .newlines)))
        defer { kill(pid, SIGKILL) }
        #expect(outcome.errorOutput.contains("as process \(pid)"))
        #expect(stage.isWorked(by: pid))
        #expect(getsid(pid) == pid)
        #expect(getpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(pid)) == 7)
        let id = try stage.add("/a")
        #expect(try stage.waits(for: "completed", of: id))
        kill(pid, SIGTERM)
        #expect(eventually { access(pidFile, F_OK) != 0 })
        let lines = try String(contentsOfFile: log, encoding: .utf8)
        #expect(lines.contains("a: complete") && lines.hasSuffix("the service has stopped\n"))
    }

    @Test func failedDetachNamesLogFile() throws {
        let worker = try stage.work("--keep-running")
        let log = stage.home.path("log")
        let outcome = try serve("--detach", "--log-file", log).wait(timeout: 60)
        #expect(outcome.end == .exit(69))
        #expect(outcome.errorOutput.contains("see `\(log)`"))
        #expect(
            try String(contentsOfFile: log, encoding: .utf8).contains("already has a worker"))
        kill(worker.pid, SIGTERM)
        _ = try worker.wait(timeout: 60)
    }

    /// The first command starts the service by socket activation, and waits for its answer.
    @Test(
        .enabled(
            if: access("/usr/bin/systemd-socket-activate", X_OK) == 0,
            "it needs systemd-socket-activate"))
    func firstCommandStartsServiceBySocket() throws {
        let runtime = stage.home.path("runtime")
        mkdir(runtime, 0o700)
        mkdir(runtime + "/segget", 0o700)
        let socket = runtime + "/segget/service.sock"
        let environment = [
            "SEGGET_NO_CONFIG": "1", "XDG_RUNTIME_DIR": runtime,
            "XDG_DATA_HOME": stage.home.path("data"), "NOTIFY_SOCKET": manager.path,
        ]
        let listener = try Run(
            "/usr/bin/systemd-socket-activate",
            [
                "-l", socket, "-E", "SEGGET_NO_CONFIG", "-E", "XDG_RUNTIME_DIR", "-E",
                "XDG_DATA_HOME", "-E", "NOTIFY_SOCKET", try Segget.binary(), "serve",
            ],
            environment: environment)
        #expect(eventually { access(socket, F_OK) == 0 })
        #expect(!manager.hasHeard("READY=1"))
        let added = try Run(
            ["add", stage.origin.url("/a")], in: stage.folder, environment: environment
        ).wait(timeout: 60)
        #expect(added.end == .exit(0), "\(added.errorOutput)")
        #expect(!added.errorOutput.contains("no worker is running"))
        #expect(manager.hears("READY=1"))
        #expect(eventually { (try? stage.isRight("a", "/a")) ?? false })
        kill(listener.pid, SIGTERM)
        #expect(try listener.wait(timeout: 60).end == .exit(0))
        // The socket belongs to systemd, so it remains.
        #expect(access(socket, F_OK) == 0)
    }
}

/// Receives the notifications that a service sends by sd_notify(3).
final class NotifyReceiver: Sendable {
    let path: String
    private let descriptor: Int32
    private let lines = Guarded<[String]>([])

    init(at path: String) throws {
        self.path = path
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        try #require(bytes.count < 108)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        descriptor = socket(
            AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        let descriptor = descriptor
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0)
    }

    deinit { close(descriptor) }

    private func receive() {
        var buffer = [UInt8](repeating: 0, count: 8192)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            let text = String(decoding: buffer[..<count], as: UTF8.self)
            lines.withLock { $0 += text.split(separator: "\n").map(String.init) }
        }
    }

    /// Whether a line was received already.
    func hasHeard(_ line: String) -> Bool {
        receive()
        return lines.withLock { $0.contains(line) }
    }

    /// Waits for a line, and discards all lines up to it.
    func hears(_ line: String) -> Bool { hears { $0 == line } }

    /// Waits for a matching line, and discards all lines up to it.
    func hears(_ fits: (String) -> Bool) -> Bool {
        eventually {
            receive()
            return lines.withLock { lines in
                guard let place = lines.firstIndex(where: fits) else { return false }
                lines.removeFirst(place + 1)
                return true
            }
        }
    }
}
