import Foundation
import Glibc
import TestSupport
import Testing

/// Kills a worker repeatedly, with commands in between: no task is lost, and none is done twice.
struct QueueKillTests {
    /// The kind of worker, and how it ends.
    enum Worker: CaseIterable, Sendable {
        case killed, killedService, endedService

        /// Whether it is a service, which has subscribers.
        var isService: Bool { self != .killed }
        /// The signal that ends it.
        var signal: Int32 { self == .endedService ? SIGTERM : SIGKILL }
        /// Its command line.
        var command: [String] { isService ? ["serve"] : ["run", "--keep-running"] }
    }

    /// Subscribers of a service.
    private static let subscribers = 4
    /// Connections of each task.
    private static let connections = 2
    private static let tasks = 20
    private static let size: Int64 = 4 << 20

    /// The number of kills; `SEGGET_QUEUE_KILLS` sets it, and instrumented builds use fewer because
    /// they are slow.
    private static var kills: Int {
        let environment = ProcessInfo.processInfo.environment
        let usual = environment["SEGGET_INSTRUMENTED"] == nil ? 8 : 3
        return environment["SEGGET_QUEUE_KILLS"].flatMap { Int($0) } ?? usual
    }

    private static var seed: UInt64 {
        ProcessInfo.processInfo.environment["SEGGET_QUEUE_SEED"].flatMap { UInt64($0) }
            ?? .random(in: 0 ... .max)
    }

    @Test(.timeLimit(.minutes(60)), arguments: Worker.allCases)
    func survivesKillsAtAnyMoment(of who: Worker) throws {
        let (kills, seed) = (Self.kills, Self.seed)
        print("queue kill test: seed \(seed), \(kills) kills of \(who)")
        var random = SplitMix64(seed: seed)
        let stage = try QueueStage(size: Self.size)
        // All downloads together take about as long as the kills.
        let pace = Double(Self.size) * Double(Self.tasks) / Double(kills) / 1.2 / 24
        stage.origin.bendGET { _, reply in reply.pace = pace }
        // nginx serves every second file.
        let served = try Sandbox("segget-served")
        let nginx = try Nginx(root: served.path, limitRate: "\(Int(pace))")
        var ids: [String] = []
        for number in 1...Self.tasks {
            let path = "/\(number)/\(number).iso"
            let digest = "sha-256:" + stage.files.sha256(path)
            if number % 2 == 0 { try stage.files.write(path, into: served.path) }
            let url = number % 2 == 0 ? nginx.url(path) : stage.origin.url(path)
            let id = try stage.done(
                "add", url, "--checksum", digest, "-x", "\(Self.connections)")
            ids.append(id.trimmingCharacters(in: .newlines))
        }
        let listening = (0..<(who.isService ? Self.subscribers : 0)).map { _ in
            QueueSubscriber(stage.queue)
        }
        defer { for subscriber in listening { subscriber.stop() } }
        for kill in 0..<kills {
            let worker = try stage.start(who.command)
            let patience = Double.random(in: 0...2, using: &random)
            _ = eventually(timeout: patience / 2) { !worker.isRunning }
            try #require(worker.isRunning, "seed \(seed), kill \(kill): \(worker.errorOutput)")
            let command = Self.command(ids, kill, &random)
            let given = try stage.start(command)
            _ = eventually(timeout: patience / 2) { !given.isRunning }
            // Until the worker listens, it has no handler of SIGTERM.
            let isReady = stage.isWorked(by: worker.pid)
            worker.signal(who.signal)
            let end = try worker.wait().end
            #expect(
                end == .signal(who.signal) && (who.signal == SIGKILL || !isReady)
                    || end == .exit(0) && who.signal == SIGTERM,
                "seed \(seed), kill \(kill): \(end)")
            // The worker may have ended before it answered, so the exit code does not matter.
            _ = try given.wait()
        }
        // Resumes the tasks that commands have paused or cancelled.
        stage.origin.behave()
        try stage.done("resume", "--all")
        try end(stage, who, listening, seed)
        let tasks = try stage.tasks()
        #expect(Set(tasks.compactMap { $0["id"] as? String }) == Set(ids), "seed \(seed)")
        #expect(tasks.count == Self.tasks, "seed \(seed)")
        var expected: Set<String> = []
        for task in tasks {
            let id = task["id"] as? String ?? ""
            #expect(task["state"] as? String == "completed", "seed \(seed): \(task)")
            #expect(task["file"] as? String == "there", "seed \(seed): \(task)")
            let number = (ids.firstIndex(of: id) ?? -1) + 1
            let path = try #require(task["path"] as? String)
            let name = String(path.split(separator: "/").last ?? "")
            expected.insert(name)
            #expect(try stage.isRight(name, "/\(number)/\(number).iso"), "seed \(seed): \(name)")
        }
        #expect(expected.count == Self.tasks, "seed \(seed): none has another's name")
        // Only bytes that a kill or a cancellation has lost are downloaded again.
        let total = Self.size * Int64(Self.tasks)
        let bytes = try nginx.accessLog().reduce(stage.origin.bytesServed) { $0 + $1.bytes }
        print("queue kill test: \(bytes) bytes on the wire for \(total)")
        let given = Int64(kills) * Self.size
        // SIGTERM records all received bytes: only those in flight are requested again.
        let onTheWay = Int64(Self.connections) * (256 << 10)
        let lost = Int64(kills) * 5 * (who.signal == SIGTERM ? onTheWay : 8 << 20)
        #expect(bytes <= total / 100 * 102 + lost + given, "seed \(seed)")
        #expect(Set(try stage.names()) == expected, "seed \(seed)")
    }

    /// Finishes all tasks, and expects every subscriber to know the state of the queue.
    private func end(
        _ stage: QueueStage, _ who: Worker, _ listening: [QueueSubscriber], _ seed: UInt64
    ) throws {
        guard who.isService else {
            let run = try stage.start(["run"]).wait(timeout: 600)
            #expect(run.end == .exit(0), "seed \(seed): \(run.errorOutput)")
            return
        }
        let service = try stage.start(who.command)
        let areDone = try eventually(timeout: 600, poll: 0.2) {
            try stage.tasks().allSatisfy { $0["state"] as? String == "completed" }
        }
        #expect(areDone, "seed \(seed): \(service.errorOutput)")
        let tasks = try stage.tasks()
        for subscriber in listening {
            #expect(try eventually { try subscriber.knows(tasks) }, "seed \(seed)")
            #expect(subscriber.faults.isEmpty, "seed \(seed)")
        }
        service.signal(SIGTERM)
        #expect(try service.wait().end == .exit(0), "seed \(seed)")
    }

    /// Returns a random command.
    private static func command(
        _ ids: [String], _ kill: Int, _ random: inout SplitMix64
    ) -> [String] {
        let id = ids[Int.random(in: 0..<ids.count, using: &random)]
        switch Int.random(in: 0..<10, using: &random) {
        case 0: return ["pause", id]
        case 1: return ["resume", id]
        case 2: return ["start", id]
        case 3: return ["cancel", id]
        case 4: return ["retry", id]
        case 5: return ["move", id, "--first"]
        case 6: return ["rename", id, "renamed-\(kill).iso"]
        case 7: return ["tag", id, "+t\(kill)"]
        case 8: return ["settings", "--max-running", "\(Int.random(in: 1...5, using: &random))"]
        default: return ["list"]
        }
    }
}
