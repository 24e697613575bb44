import Foundation
import SeggetQueue
import Segmenter
import TestSupport
import Testing

/// Pauses, resumes, renames, moves, cancels and removes running tasks at random, from several
/// concurrent tasks.
///
/// The sanitizers run this test too.
struct QueueStressTests {
    private static let size: Int64 = 400_000

    private static func content(_ path: String) -> Content {
        Content(size: size, seed: UInt64(path.utf8.reduce(7) { $0 &* 31 &+ Int($1) }))
    }

    /// The number of commands; `SEGGET_QUEUE_STRESS` sets it.
    ///
    /// 5000 take about a minute.
    private static var commands: Int {
        ProcessInfo.processInfo.environment["SEGGET_QUEUE_STRESS"].flatMap { Int($0) } ?? 300
    }

    @Test(.timeLimit(.minutes(20))) func survivesRandomCommands() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("queue stress: seed \(seed)")
        let origin = try Origin { request in
            .file(Self.content(request.target), for: request, etag: "\"v1\"").with {
                if request.method == "GET" { $0.pace = 400_000 }
            }
        }
        let sandbox = try Sandbox()
        let home = try Sandbox()
        var options = DownloadOptions()
        options.connections = 2
        let ids = try await withDownloadQueue(at: home.path("queue.sqlite")) { queue in
            var ids: [QueueTask.ID] = []
            for number in 0..<12 {
                let task = NewTask(
                    origin.url("/\(number)"), to: .init(root: sandbox.path, name: "\(number)"),
                    options: options)
                ids.append(try await queue.add(task))
            }
            let watcher = Task { for await _ in await queue.snapshots() {} }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for hand in 0..<3 {
                    let ids = ids
                    group.addTask {
                        var random = SplitMix64(seed: seed &+ UInt64(hand))
                        for step in 0..<(Self.commands / 3) {
                            let id = ids[Int.random(in: 0..<ids.count, using: &random)]
                            let command = Self.command(id, "\(hand).\(step)", &random)
                            _ = try await queue.perform([command])
                            _ = try await queue.report(TaskFilter())
                        }
                    }
                }
                try await group.waitForAll()
            }
            watcher.cancel()
            _ = try await queue.perform([.resume(TaskSelection(isAll: true))])
            try await queue.idle()
            return ids
        }
        try await withDownloadQueue(at: home.path("queue.sqlite")) { queue in
            let tasks = try await queue.report(TaskFilter()).tasks
            #expect(Set(tasks.map(\.id)).isSubset(of: Set(ids)), "seed \(seed)")
            var names: Set<String> = []
            for task in tasks {
                #expect(
                    task.state == "completed" && task.file == "there", "seed \(seed): \(task)")
                let path = try #require(task.path)
                let target = String(
                    task.url.suffix(from: task.url.lastIndex(of: "/") ?? task.url.startIndex))
                #expect(try Self.content(target).firstDifference(at: path) == nil, "seed \(seed)")
                names.insert(String(path.split(separator: "/").last ?? ""))
            }
            // No file of a task that was removed with its files remains, and no part.
            #expect(Set(try sandbox.names()) == names, "seed \(seed)")
        }
    }

    private static func command(
        _ id: QueueTask.ID, _ name: String, _ random: inout SplitMix64
    ) -> QueueCommand {
        let task = TaskSelection(id)
        switch Int.random(in: 0..<40, using: &random) {
        case 0..<8: return .pause(task)
        case 8..<16: return .resume(task)
        case 16..<22: return .start(task)
        case 22..<28: return .rename(task, name: "r\(name)", folder: nil)
        case 28..<32: return .move(task, to: .at(Int.random(in: 1...12, using: &random)))
        case 32..<35: return .retry(task)
        case 35..<37: return .cancel(task)
        case 37: return .remove(task, files: true)
        default: return .tag(task, add: ["t\(name)"], remove: [])
        }
    }
}
