import Foundation
import Glibc
import TestSupport
import Testing

/// A worker that is killed again and again, with commands in between: nothing is lost, and nothing done twice.
struct QueueKillTests {
    private static let tasks = 20
    private static let size: Int64 = 4 << 20

    /// `SEGGET_QUEUE_KILLS` asks for more, 100 for instance.
    private static var kills: Int {
        ProcessInfo.processInfo.environment["SEGGET_QUEUE_KILLS"].flatMap { Int($0) } ?? 12
    }

    private static var seed: UInt64 {
        ProcessInfo.processInfo.environment["SEGGET_QUEUE_SEED"].flatMap { UInt64($0) }
            ?? .random(in: 0 ... .max)
    }

    @Test(.timeLimit(.minutes(60))) func survivesKillsAtAnyMoment() throws {
        let (kills, seed) = (Self.kills, Self.seed)
        print("queue kill test: seed \(seed), \(kills) kills")
        var random = SplitMix64(seed: seed)
        let stage = try QueueStage(size: Self.size)
        // All of it takes about as long as the kills.
        let pace = Double(Self.size) * Double(Self.tasks) / Double(kills) / 1.2 / 24
        stage.files.bendGET { _, reply in reply.pace = pace }
        // Every second one comes from nginx.
        let served = try Sandbox("segget-served")
        let nginx = try Nginx(root: served.path, limitRate: "\(Int(pace))")
        var ids: [String] = []
        for number in 1...Self.tasks {
            let path = "/\(number)/\(number).iso"
            let digest = "sha-256:" + stage.files.sha256(path)
            if number % 2 == 0 { try stage.files.write(path, into: served.path) }
            let url = number % 2 == 0 ? nginx.url(path) : stage.origin.url(path)
            let id = try stage.done("add", url, "--checksum", digest)
            ids.append(id.trimmingCharacters(in: .newlines))
        }
        for kill in 0..<kills {
            let worker = try stage.start(["run", "--keep-running"])
            let patience = Double.random(in: 0...2, using: &random)
            _ = eventually(timeout: patience / 2) { !worker.isRunning }
            try #require(worker.isRunning, "seed \(seed), kill \(kill): \(worker.errorOutput)")
            let command = try Self.command(ids, kill, &random)
            let given = try stage.start(command)
            _ = eventually(timeout: patience / 2) { !given.isRunning }
            worker.signal(SIGKILL)
            #expect(try worker.wait().end == .signal(SIGKILL))
            // Whatever became of it: it may have lost the worker in the middle of its answer.
            _ = try given.wait()
        }
        // What the commands have held or cancelled goes on.
        stage.files.behave()
        try stage.done("resume", "--all")
        let run = try stage.start(["run"]).wait(timeout: 600)
        #expect(run.end == .exit(0), "seed \(seed): \(run.errorOutput)")
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
        // Nothing is fetched twice but what a kill, or a command that gives it up, has cost.
        let total = Self.size * Int64(Self.tasks)
        let bytes = try nginx.accessLog().reduce(stage.origin.bytesServed) { $0 + $1.bytes }
        print("queue kill test: \(bytes) bytes on the wire for \(total)")
        let given = Int64(kills) * Self.size
        #expect(
            bytes <= total / 100 * 102 + Int64(kills) * 5 * (8 << 20) + given,
            "seed \(seed)")
        // No stray file.
        #expect(Set(try stage.names()) == expected, "seed \(seed)")
    }

    /// A command at random.
    private static func command(
        _ ids: [String], _ kill: Int, _ random: inout SplitMix64
    ) throws -> [String] {
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
