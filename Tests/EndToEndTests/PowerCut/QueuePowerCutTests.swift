import Foundation
import Glibc
import TestSupport
import Testing

/// Tests that a power cut during a command on a queue leaves the queue unchanged or as the command
/// left it; after the command has ended, only the latter.
struct QueuePowerCutTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let count = environment["SEGGET_POWER_CUTS"].flatMap { Int($0) } ?? 5

    private static func queue(_ folder: String) -> [String] {
        ["--queue", "\(folder)/queue.sqlite"]
    }

    /// Returns the tasks of a queue, `nil` if it cannot be read, and the error output.
    private static func list(_ folder: String) throws -> (tasks: String?, errors: String) {
        let outcome = try Run(
            ["list", "--json"] + queue(folder), in: folder, environment: ["SEGGET_NO_CONFIG": "1"]
        ).wait()
        return (outcome.end == .exit(0) ? outcome.output : nil, outcome.errorOutput)
    }

    @Test(.timeLimit(.minutes(30))) func commandIsAtomicUnderPowerCut() throws {
        let seed =
            Self.environment["SEGGET_POWER_SEED"].flatMap { UInt64($0) }
            ?? .random(in: 0 ... .max)
        print("power cut of a queue: seed \(seed)")
        var random = SplitMix64(seed: seed)
        let home = try Sandbox("segget-power", under: "/dev/shm")
        let stage = try Stage(size: 1000, in: home.path)
        let ids = ["00000000000000a1", "00000000000000b2"]
        let commands = [
            ["add", "http://127.0.0.1/a", "-d", "/dl", "--id", ids[0]],
            ["add", "http://127.0.0.1/b", "-d", "/dl", "--id", ids[1], "-H", "X-Key: secret"],
            ["pause", ids[0]], ["tag", ids[1], "+t"], ["move", ids[1], "--first"],
            ["settings", "--max-running", "2"], ["remove", ids[0]],
        ]
        var before = "[]\n"
        for command in commands {
            let record = try DiskRecord(
                of: [command[0]] + Self.queue(home.path) + command[1...], on: stage)
            #expect(record.outcome.end == .exit(0), "\(command): \(record.outcome.errorOutput)")
            try #require(record.operations.contains { $0.isData }, "the recorder saw nothing")
            let after = try #require(try Self.list(home.path).tasks)
            for index in 0..<Self.count {
                let isEnd = index == 0
                let moment =
                    isEnd
                    ? record.operations.count
                    : Int.random(in: 0...record.operations.count, using: &random)
                let cut =
                    isEnd
                    ? PowerCut.losesAll
                    : index % 3 == 0
                        ? PowerCut.plain.randomElement(using: &random) ?? .losesAll
                        : .random(random.next())
                let cutHome = try Sandbox("segget-cut", under: "/dev/shm")
                var left = record.folder(after: moment, cut)
                // SQLite creates this file again.
                for name in left.names.keys where name.hasSuffix("-shm") { left.names[name] = nil }
                try left.write(to: cutHome.path, keepsDevice: true)
                let (tasks, errors) = try Self.list(cutHome.path)
                let comment: Comment =
                    "seed \(seed), \(command), after \(moment), \(cut): \(errors)"
                #expect(tasks == after || !isEnd && tasks == before, comment)
                // The queue also accepts the next command.
                let next = try Run(
                    ["tag", ids[1], "+again"] + Self.queue(cutHome.path), in: cutHome.path
                ).wait()
                let isThere = tasks?.contains(ids[1]) == true
                #expect(next.end == .exit(isThere ? 0 : 64), comment)
            }
            before = after
        }
    }
}
