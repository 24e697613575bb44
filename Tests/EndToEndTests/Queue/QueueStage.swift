import Foundation
import Glibc
import TestSupport
import Testing

/// A queue, an origin with different content at every path, and a download folder.
final class QueueStage: TaskStates, Sendable {
    let files: BatchStage
    /// The folder of the queue, beside the download folder.
    let home: Sandbox

    /// The runtime folder for sockets; `nil` for the default.
    let runtime: String?

    /// The network namespace of segget; `nil` for this machine's.
    private let network: NetworkPair?

    /// Serves files of `size` bytes.
    ///
    /// With `network`, segget runs in its client's namespace. With `hasRuntime`, the queue has a
    /// separate runtime folder.
    init(
        size: Int64 = 3_000_000, network: NetworkPair? = nil, hasRuntime: Bool = false
    ) throws {
        files = try BatchStage(size: size, network: network)
        home = try Sandbox("segget-queue")
        self.network = network
        mkdir(home.path("bin"), 0o700)
        runtime = hasRuntime ? home.path("run") : nil
        if let runtime { mkdir(runtime, 0o700) }
        // Tests must not inhibit the sleep of this machine.
        try tool("systemd-inhibit", "exec cat")
    }

    /// Puts a shell script first in `PATH` under a name.
    func tool(_ name: String, _ script: String) throws {
        // Replaced atomically: a process may be reading it.
        try home.write("bin/.\(name)", "#!/bin/sh\n\(script)\n")
        chmod(home.path("bin/.\(name)"), 0o700)
        rename(home.path("bin/.\(name)"), home.path("bin/\(name)"))
    }

    var origin: Origin { files.origin }
    var folder: String { files.folder }
    /// The path of the queue's database.
    var queue: String { home.path("q/queue.sqlite") }

    private var environment: [String: String] {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        var variables = ["SEGGET_NO_CONFIG": "1", "PATH": "\(home.path("bin")):\(path)"]
        variables["XDG_RUNTIME_DIR"] = runtime
        return variables
    }

    /// Starts `segget COMMAND --queue …` in the folder of the downloads.
    func start(_ arguments: [String]) throws -> Run {
        try Run(
            [arguments[0], "--queue", queue] + arguments.dropFirst(), in: folder,
            environment: environment, network: network)
    }

    /// Runs a command, and waits until it ends.
    @discardableResult
    func run(_ arguments: String...) throws -> Run.Outcome {
        try start(arguments).wait(timeout: 300)
    }

    /// Runs a command, expects success, and returns its output.
    @discardableResult
    func done(_ arguments: String..., at place: SourceLocation = #_sourceLocation) throws -> String
    {
        let outcome = try start(arguments).wait(timeout: 300)
        try #require(
            outcome.end == .exit(0), "\(arguments): \(outcome.errorOutput)", sourceLocation: place)
        return outcome.output
    }

    /// Adds the file at a path, and returns its id.
    func add(_ path: String, _ arguments: String...) throws -> String {
        let outcome = try start(["add", origin.url(path)] + arguments).wait(timeout: 300)
        try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
        return outcome.output.trimmingCharacters(in: .newlines)
    }

    /// Starts a worker, and waits until it accepts commands.
    func work(_ arguments: String...) throws -> Run {
        let worker = try start(["run"] + arguments)
        try #require(worker.waits { isWorked(by: worker.pid) }, "\(worker.errorOutput)")
        return worker
    }

    /// Whether the lock file names a process as the worker, with a socket.
    ///
    /// The lock file of a killed worker names another process.
    func isWorked(by pid: pid_t) -> Bool {
        guard let data = FileManager.default.contents(atPath: queue + ".lock"),
            let holder = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
        else { return false }
        return holder["socket"] is String && holder["pid"] as? Int == Int(pid)
    }

    /// Returns all tasks as in `list --json`.
    func tasks(_ arguments: String...) throws -> [[String: Any]] {
        let outcome = try start(["list", "--json"] + arguments).wait(timeout: 300)
        try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
        let object = try JSONSerialization.jsonObject(with: Data(outcome.standardOutput))
        return try #require(object as? [[String: Any]])
    }

    /// Returns a task.
    func task(_ id: String) throws -> [String: Any] {
        try #require(try tasks().first { $0["id"] as? String == id }, "no task \(id)")
    }

    /// Returns the state of a task.
    func state(_ id: String) throws -> String { try task(id)["state"] as? String ?? "" }

    /// Whether the file `name` has the content of a path of the origin.
    func isRight(_ name: String, _ path: String) throws -> Bool { try files.isRight(name, path) }

    /// Returns the names in the download folder.
    func names() throws -> [String] { try files.sandbox.names() }
}
