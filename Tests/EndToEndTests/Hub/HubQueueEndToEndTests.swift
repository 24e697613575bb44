import Assembler
import Foundation
import Glibc
import TestSupport
import Testing

/// Tasks of the queue that download into the Hub's cache.
@Suite(.timeLimit(.minutes(5)))
struct HubQueueEndToEndTests {
    private let repository = "home/hub/models--org--model"

    private var snapshot: String { "\(repository)/snapshots/\(HubStage.commit)" }

    private func blob(_ file: HubStage.File) -> String {
        "\(repository)/blobs/\(file.isLarge ? file.content.sha256Hex : file.gitSHA1)"
    }

    private func start(
        _ stage: HubStage, _ arguments: [String], _ variables: [String: String] = [:]
    ) throws -> Run {
        let queue = ["--queue", stage.sandbox.path("q/queue.sqlite")]
        return try Run(
            [arguments[0]] + queue + arguments.dropFirst(), in: stage.sandbox.path,
            environment: stage.environment.merging(variables) { $1 })
    }

    /// Runs a command of the queue, and returns its output.
    @discardableResult
    private func done(
        _ stage: HubStage, _ arguments: String..., variables: [String: String] = [:],
        at place: SourceLocation = #_sourceLocation
    ) throws -> String {
        let outcome = try start(stage, arguments, variables).wait()
        try #require(
            outcome.end == .exit(0), "\(arguments): \(outcome.errorOutput)", sourceLocation: place)
        return outcome.output.trimmingCharacters(in: .newlines)
    }

    private func object(_ stage: HubStage, _ arguments: String...) throws -> [String: Any] {
        let outcome = try start(stage, arguments).wait()
        try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
        let object = try JSONSerialization.jsonObject(with: Data(outcome.standardOutput))
        return try #require(object as? [String: Any])
    }

    private func counts(_ stage: HubStage, _ id: String) throws -> [String: Int]? {
        try object(stage, "show", "--files", "--json", id)["counts"] as? [String: Int]
    }

    /// Returns a task as `segget show --json` has it.
    private func task(_ stage: HubStage, _ id: String) throws -> [String: Any] {
        let shown = try object(stage, "show", "--json", id)
        return shown["task"] as? [String: Any] ?? shown
    }

    /// Checks that a task has failed, and returns the message.
    private func expectFailure(
        _ stage: HubStage, _ id: String, code: Int, at place: SourceLocation = #_sourceLocation
    ) throws -> String {
        let task = try task(stage, id)
        let error = try #require(
            task["error"] as? [String: Any], "\(task)", sourceLocation: place)
        #expect(task["state"] as? String == "failed", sourceLocation: place)
        #expect(error["code"] as? Int == code, "\(error)", sourceLocation: place)
        return error["message"] as? String ?? ""
    }

    /// Checks the snapshot, that nothing else is left, and that `get` has nothing to request.
    private func expectComplete(
        _ stage: HubStage, at place: SourceLocation = #_sourceLocation
    ) throws {
        for file in stage.files {
            #expect(try stage.isRight(file.path, in: snapshot), sourceLocation: place)
        }
        let own = try FileManager.default.contentsOfDirectory(
            atPath: stage.sandbox.path("\(repository)/.segget"))
        #expect(
            own.count == 1 && own.allSatisfy { $0.hasSuffix(".ledger") }, "\(own)",
            sourceLocation: place)
        #expect(
            try stage.sandbox.read("\(repository)/refs/main") == Data(HubStage.commit.utf8),
            sourceLocation: place)
        let count = stage.requestsForBytes
        let outcome = try stage.run("get", "hf://org/model", "-q", "--print-path")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)", sourceLocation: place)
        #expect(outcome.output == stage.sandbox.path(snapshot) + "\n", sourceLocation: place)
        #expect(stage.requestsForBytes == count, sourceLocation: place)
    }

    /// Holds the large files until the result is set to true: the first request after some bytes, all
    /// others before the first one.
    private func hold(_ stage: HubStage, after bytes: Int64 = 0) -> Guarded<Bool> {
        let (isOpen, isBegun) = (Guarded(false), Guarded(bytes == 0))
        stage.faults.withLock {
            $0.bendLarge = { _, reply in
                let isFirst = isBegun.withLock { isBegun in
                    defer { isBegun = true }
                    return !isBegun
                }
                if isFirst { (reply.stallAfter, reply.release) = (bytes, isOpen) }
                while !isFirst, !isOpen.withLock({ $0 }) { usleep(10_000) }
            }
        }
        return isOpen
    }

    /// The cache is that of the time at which the task was added.
    @Test func downloadsIntoCache() throws {
        let stage = try HubStage(HubStage.model)
        let id = try done(stage, "add", "hf://org/model")
        #expect(stage.requestsForBytes == 0)
        #expect(!stage.has("hub", in: "home"))
        #expect(try counts(stage, id) == ["missing": 4])
        // The same files again are the same task.
        #expect(try done(stage, "add", "hf://org/model@main") == id)
        try done(
            stage, "run",
            variables: ["HF_HOME": stage.sandbox.path("x"), "HF_ENDPOINT": "http://127.0.0.1:1"])
        #expect(!stage.has("x", in: "."))
        #expect(
            stage.hub.requests.count { $0.path.contains("/resolve/") } == stage.files.count)
        let task = try task(stage, id)
        #expect(task["state"] as? String == "completed", "\(task)")
        #expect(task["folder"] as? String == stage.sandbox.path(repository), "\(task)")
        #expect(task["files"] as? Int == 4 && task["files_done"] as? Int == 4, "\(task)")
        #expect(task["bytes_done"] as? Int == 3_040_700, "\(task)")
        #expect(try counts(stage, id) == ["complete": 4])
        #expect(
            try object(stage, "show", "--files", "--json", id)["folder"] as? String
                == stage.sandbox.path(snapshot))
        try expectComplete(stage)
        // Other programs use the files.
        let refused = try start(stage, ["remove", "--files", id]).wait()
        #expect(refused.end == .exit(64), "\(refused.errorOutput)")
        #expect(refused.errorOutput.contains("Hub's cache"), "\(refused.errorOutput)")
        try done(stage, "remove", id)
        try expectComplete(stage)
    }

    /// Chosen files, one content at two paths, and a file that the cache already has.
    @Test func downloadsOnlyMissingBlobs() throws {
        let stage = try HubStage(HubStage.model)
        let copy = stage.files[0].entry.replacingOccurrences(
            of: "config.json", with: "copy/again.json")
        stage.faults.withLock { $0.entries = stage.files.map(\.entry) + [copy] }
        try FileManager.default.createDirectory(
            atPath: stage.sandbox.path("\(repository)/blobs"), withIntermediateDirectories: true)
        try stage.files[2].content.write(to: stage.sandbox.path(blob(stage.files[2])))
        let id = try done(stage, "add", "hf://org/model", "--exclude", "onnx/")
        try done(stage, "run")
        #expect(try counts(stage, id) == ["complete": 4])
        #expect(try task(stage, id)["bytes_done"] as? Int == 3_001_400)
        #expect(stage.large.requests.isEmpty)
        #expect(stage.hub.requests.count { $0.path.contains("/resolve/") } == 2)
        #expect(!stage.has("onnx", in: snapshot))
        #expect(
            try stage.files[0].content.firstDifference(
                at: stage.sandbox.path("\(snapshot)/copy/again.json")) == nil)
    }

    /// A worker is killed, and the next one requests only the rest.
    @Test func killedWorkerIsContinued() throws {
        let files = [
            HubStage.File(path: "model.bin", size: 24 << 20, isLarge: true),
            HubStage.File(path: "config.json", size: 700),
        ]
        let stage = try HubStage(files)
        let isOpen = hold(stage, after: 12 << 20)
        defer { isOpen.withLock { $0 = true } }
        let id = try done(stage, "add", "hf://org/model")
        let worker = try start(stage, ["run"])
        let part = stage.sandbox.path("\(repository)/.segget/run-1/\(files[0].content.sha256Hex)")
        #expect(
            worker.waits {
                Manifest(of: part)?.received ?? 0 >= 8 << 20
                    && FileManager.default.fileExists(
                        atPath: stage.sandbox.path(blob(stage.files[1])))
            })
        worker.signal(SIGKILL)
        _ = try worker.wait()
        isOpen.withLock { $0 = true }
        stage.faults.withLock { $0.bendLarge = { _, _ in } }
        stage.hub.hearOut()
        stage.large.hearOut()
        let before = stage.hub.requests.count { $0.path.hasSuffix("config.json") }
        let bytes = stage.bytesOfLarge
        try done(stage, "run")
        #expect(stage.bytesOfLarge - bytes < 22 << 20)
        #expect(stage.hub.requests.count { $0.path.hasSuffix("config.json") } == before)
        #expect(try counts(stage, id) == ["complete": 2])
        try expectComplete(stage)
    }

    /// Two tasks and a `get` want the same files at once: each is downloaded once.
    @Test func filesAreDownloadedOnceForAll() async throws {
        let stage = try HubStage(HubStage.model)
        let isOpen = hold(stage)
        defer { isOpen.withLock { $0 = true } }
        let first = try done(stage, "add", "hf://org/model")
        let worker = try start(stage, ["run"])
        #expect(worker.waits { !stage.large.requests.isEmpty })
        let second = try done(stage, "add", "hf://org/model/model.safetensors")
        #expect(first != second)
        func hasWaited() throws -> Bool {
            let events = try object(stage, "show", "--json", second)["events"]
            return (events as? [[String: Any]] ?? []).contains {
                ($0["message"] as? String ?? "").contains("waiting for process \(worker.pid)")
            }
        }
        #expect(try eventually { try hasWaited() })
        let get = try Run(
            ["get", "hf://org/model"], in: stage.sandbox.path, environment: stage.environment)
        #expect(get.waits { get.errorOutput.contains("waiting for process \(worker.pid)") })
        isOpen.withLock { $0 = true }
        for run in [worker, get] {
            let outcome = try await run.ended()
            #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        }
        #expect(try counts(stage, first) == ["complete": 4])
        #expect(try counts(stage, second) == ["complete": 1])
        #expect(
            stage.hub.requests.count { $0.path.contains("/resolve/") } == stage.files.count)
        try expectComplete(stage)
    }

    /// A pause ends the wait for another process; so does the end of the worker.
    @Test(arguments: [true, false])
    func waitEndsAtOnce(isPause: Bool) async throws {
        let stage = try HubStage(HubStage.model)
        let run = stage.sandbox.path("\(repository)/.segget/run-7")
        try FileManager.default.createDirectory(atPath: run, withIntermediateDirectories: true)
        let owner = "segget_lock=1\nhost=elsewhere\nboot=b\nnamespace=n\npid=7\nstarted=\nend\n"
        try Data(owner.utf8).write(to: URL(filePath: "\(run)/owner"))
        let names = stage.files.map { $0.isLarge ? $0.content.sha256Hex : $0.gitSHA1 }
        try Data(names.joined(separator: "\n").utf8).write(to: URL(filePath: "\(run)/blobs"))
        let id = try done(stage, "add", "hf://org/model")
        let worker = try start(stage, ["run"])
        #expect(
            try eventually {
                try done(stage, "show", id).contains("waiting for process 7 on elsewhere")
            })
        if isPause { try done(stage, "pause", id) } else { worker.signal(SIGTERM) }
        let outcome = try await worker.ended()
        #expect(outcome.end == .exit(isPause ? 0 : 143), "\(outcome.errorOutput)")
        #expect(try counts(stage, id) == ["missing": 4])
        #expect(try task(stage, id)["state"] as? String == (isPause ? "paused" : "waiting"))
        #expect(stage.requestsForBytes == 0)
    }

    /// A wrong blob of another program stays, and the task names it; then a retry downloads it.
    @Test func wrongBlobFailsTask() throws {
        let stage = try HubStage(HubStage.model)
        let wrong = stage.sandbox.path(blob(stage.files[0]))
        try FileManager.default.createDirectory(
            atPath: stage.sandbox.path("\(repository)/blobs"), withIntermediateDirectories: true)
        try Data(repeating: 1, count: 700).write(to: URL(filePath: wrong))
        let id = try done(stage, "add", "hf://org/model")
        #expect(try start(stage, ["run"]).wait().end == .exit(65))
        #expect(try expectFailure(stage, id, code: 65).contains(wrong))
        #expect(try Data(contentsOf: URL(filePath: wrong)) == Data(repeating: 1, count: 700))
        #expect(try counts(stage, id) == ["complete": 3, "failed": 1])
        #expect(try stage.isRight("model.safetensors", in: snapshot))
        #expect(!stage.has("config.json", in: snapshot))
        #expect(!stage.has("refs/main", in: repository))
        #expect(unlink(wrong) == 0)
        let before = stage.requestsForBytes
        try done(stage, "retry", id)
        try done(stage, "run")
        #expect(stage.requestsForBytes == before + 1)
        #expect(try counts(stage, id) == ["complete": 4])
        try expectComplete(stage)
    }

    /// The server delivers wrong bytes, and something else has the path of a link.
    @Test func wrongFileAndForeignPathFailTask() throws {
        let stage = try HubStage(HubStage.model)
        stage.faults.withLock {
            $0.bendLarge = { _, reply in
                guard case .content(_, let range) = reply.body else { return }
                reply.body = .content(Content(size: 3_000_000, seed: 99), range)
            }
        }
        try FileManager.default.createDirectory(
            atPath: stage.sandbox.path("\(snapshot)/empty.txt"), withIntermediateDirectories: true)
        let id = try done(stage, "add", "hf://org/model")
        #expect(try start(stage, ["run"]).wait().end == .exit(65))
        #expect(try expectFailure(stage, id, code: 65).contains("1 of 4 files failed"))
        #expect(try counts(stage, id) == ["complete": 3, "failed": 1])
        #expect(!FileManager.default.fileExists(atPath: stage.sandbox.path(blob(stage.files[2]))))
        stage.faults.withLock { $0.bendLarge = { _, _ in } }
        try done(stage, "retry", id)
        #expect(try start(stage, ["run"]).wait().end == .exit(73))
        #expect(try expectFailure(stage, id, code: 73).contains("empty.txt"))
        #expect(rmdir(stage.sandbox.path("\(snapshot)/empty.txt")) == 0)
        try done(stage, "retry", id)
        try done(stage, "run")
        try expectComplete(stage)
    }

    /// A cancelled task leaves no part, and the complete files stay.
    @Test func cancelledTaskLeavesNoPart() throws {
        let stage = try HubStage(HubStage.model)
        let isOpen = hold(stage, after: 1_000_000)
        defer { isOpen.withLock { $0 = true } }
        let id = try done(stage, "add", "hf://org/model")
        let worker = try start(stage, ["run", "--keep-running"])
        #expect(
            try eventually {
                try counts(stage, id) == ["active": 1, "complete": 3]
                    && stage.bytesOfLarge >= 1_000_000
            })
        try done(stage, "cancel", id)
        let own = stage.sandbox.path("\(repository)/.segget")
        #expect(
            try eventually {
                try FileManager.default.contentsOfDirectory(atPath: own).allSatisfy {
                    $0.hasSuffix(".ledger")
                }
            })
        #expect(
            try stage.files[0].content.firstDifference(
                at: stage.sandbox.path(blob(stage.files[0]))) == nil)
        let found = try counts(stage, id)
        #expect(found == ["complete": 3, "missing": 1], "\(found ?? [:])")
        worker.signal(SIGTERM)
        _ = try worker.wait()
    }

    /// A cache that cannot be written fails the task.
    @Test func readOnlyCacheFailsTask() throws {
        let disk = try Tmpfs(size: 32 << 20)
        let stage = try HubStage(HubStage.model)
        let cache = ["HF_HUB_CACHE": disk.path("hub")]
        let id = try done(stage, "add", "hf://org/model", variables: cache)
        guard mount("tmpfs", disk.path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0 else {
            throw SystemCallError("remount \(disk.path)")
        }
        #expect(try start(stage, ["run"]).wait().end == .exit(73))
        #expect(try expectFailure(stage, id, code: 73).contains(disk.path("hub")))
        #expect(stage.requestsForBytes == 0)
    }

    /// A token that cannot be used fails the task, in the cache and in a folder; the message names
    /// its place.
    @Test(arguments: [[], ["-d", "m"]], [true, false])
    func unusableTokenFailsTask(folder: [String], isFile: Bool) throws {
        let stage = try HubStage(HubStage.model)
        let file = try stage.sandbox.write("token", HubStage.token)
        let variables = isFile ? ["HF_TOKEN_PATH": file] : ["HF_TOKEN": HubStage.token]
        let added = try start(stage, ["add", "hf://org/model"] + folder, variables).wait()
        try #require(added.end == .exit(0), "\(added.errorOutput)")
        let id = added.output.trimmingCharacters(in: .newlines)
        let bad = "hf_One \(HubStage.token)"
        try stage.sandbox.write("token", bad)
        let count = stage.hub.requests.count
        let worker = try start(stage, ["run"], isFile ? [:] : ["HF_TOKEN": bad]).wait()
        #expect(worker.end == .exit(64), "\(worker.errorOutput)")
        let message = try expectFailure(stage, id, code: 64)
        #expect(message.contains(isFile ? file : "HF_TOKEN"), "\(message)")
        #expect(!(message + worker.errorOutput).contains("hf_"))
        #expect(stage.hub.requests.count == count)
        // Once it can be used, the task continues.
        try stage.sandbox.write("token", HubStage.token)
        try done(stage, "retry", id)
        try done(stage, "run", variables: isFile ? [:] : variables)
        #expect(try counts(stage, id) == ["complete": 4])
    }
}
