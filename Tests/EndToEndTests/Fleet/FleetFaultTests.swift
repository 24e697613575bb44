import Foundation
import Glibc
import TestSupport
import Testing

/// A shared folder that fails, is full or slow, or loses replies: no byte is wrong, and none is lost
/// for good.
@Suite(.timeLimit(.minutes(10)))
struct FleetFaultTests {
    /// A folder with a fleet of small files, for one fault.
    private struct Trial: Sendable {
        let stage: FleetStage
        let name: String

        /// Creates the fleet.
        init(_ stage: FleetStage, _ name: String) throws {
            (self.stage, self.name) = (stage, name)
            try FileManager.default.createDirectory(
                atPath: stage.sandbox.path(name), withIntermediateDirectories: true)
            _ = try run(["create", "plan", "\(name)/fleet", "--shards", "2"])
        }

        /// Runs `segget fleet`, with calls that fail below the trial's folder.
        func run(
            _ arguments: [String], faults: [String]? = nil, log: String? = nil
        ) throws -> Run.Outcome {
            let environment = try faults.map {
                try DiskFaults.environment($0, in: stage.sandbox.path(name), log: log)
            }
            return try stage.run(["fleet"] + arguments, environment ?? [:])
        }

        func work(faults: [String]? = nil, log: String? = nil) throws -> Run.Outcome {
            try run(["work", "\(name)/fleet"], faults: faults, log: log)
        }

        func finish(faults: [String]? = nil, log: String? = nil) throws -> Run.Outcome {
            try run(["finish", "\(name)/fleet", "-d", "\(name)/out"], faults: faults, log: log)
        }

        /// Returns why the files that are in their place are not right; `nil` if they are.
        func fault(all: Bool) throws -> String? {
            for (index, content) in FleetStage.small.enumerated() {
                let path = stage.sandbox.path("\(name)/out/d/small-\(index)")
                guard FileManager.default.fileExists(atPath: path) else {
                    if all { return "`small-\(index)` is missing" }
                    continue
                }
                if try content.firstDifference(at: path) != nil { return "\(path) is wrong" }
            }
            return nil
        }
    }

    /// Returns the calls of an action, and how often it makes each.
    private func calls(_ stage: FleetStage, _ action: String) throws -> [(String, Int)] {
        let trial = try Trial(stage, "calls-\(action)")
        let log = stage.sandbox.path("log-\(action)")
        let work = try trial.work(faults: [], log: action == "work" ? log : nil)
        try #require(work.end == .exit(0), "\(work.errorOutput)")
        let finish = try trial.finish(faults: [], log: action == "finish" ? log : nil)
        try #require(finish.end == .exit(0), "\(finish.errorOutput)")
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        return Dictionary(grouping: lines) { $0 }
            .map { ($0.key.split(separator: " ").joined(separator: ":"), $0.value.count) }.sorted {
                $0 < $1
            }
    }

    /// Returns what is wrong after an action with a fault, and the same actions without one.
    private func fault(_ stage: FleetStage, _ name: String, _ action: String, _ rule: String)
        -> String?
    {
        do {
            let trial = try Trial(stage, name)
            if action == "finish" { _ = try trial.work() }
            let outcome =
                try action == "work" ? trial.work(faults: [rule]) : trial.finish(faults: [rule])
            let isKilled = rule.hasSuffix(":kill") && outcome.end == .signal(SIGKILL)
            let codes: [Int32] = [0, 73, 74, 75]
            guard isKilled || codes.contains(where: { outcome.end == .exit($0) }) else {
                return "\(outcome.end): \(outcome.errorOutput)"
            }
            let isDone = outcome.end == .exit(0)
            if !isDone, !isKilled, !outcome.errorOutput.contains(name) {
                return "no path in: \(outcome.errorOutput)"
            }
            if let fault = try trial.fault(all: action == "finish" && isDone) { return fault }
            let work = try trial.work()
            guard work.end == .exit(0) else { return "then work: \(work.end) \(work.errorOutput)" }
            let finish = try trial.finish()
            guard finish.end == .exit(0) else {
                return "then finish: \(finish.end) \(finish.errorOutput)"
            }
            return try trial.fault(all: true)
        } catch {
            return "\(error)"
        }
    }

    /// Each call fails once, each time with another error; some lose only their reply.
    @Test(arguments: ["work", "finish"])
    func failingCallsLoseNothing(action: String) throws {
        let stage = try FleetStage(isLarge: false)
        var rules: [String] = []
        let errors = [EIO, ESTALE, ENOSPC]
        for (call, count) in try calls(stage, action) {
            for number in Set([1, count]).sorted() {
                rules.append("\(call):\(number):1:\(errors[rules.count % errors.count])")
            }
            let losing = ["linkat", "renameat", "renameat2", "mkdirat", "unlinkat", "openat"]
            if losing.contains(String(call.prefix { $0 != ":" })) {
                rules.append("\(call):1:1:after:\(EIO)")
            }
        }
        #expect(rules.count > 40)
        let faults = faults(stage, action, rules)
        #expect(
            faults.isEmpty, "\(faults.count) of \(rules.count): \(faults.joined(separator: "\n"))")
    }

    /// The process is killed at each call: at the first of its kind, one in the middle, and the last.
    @Test(arguments: ["work", "finish"])
    func killsLoseNothing(action: String) throws {
        let stage = try FleetStage(isLarge: false)
        let rules = try calls(stage, action).flatMap { call, count in
            Set([1, (count + 1) / 2, count]).sorted().map { "\(call):\($0):1:kill" }
        }
        #expect(rules.count > 40)
        let faults = faults(stage, action, rules)
        #expect(
            faults.isEmpty, "\(faults.count) of \(rules.count): \(faults.joined(separator: "\n"))")
    }

    /// Returns what is wrong with each rule, several at a time.
    private func faults(
        _ stage: FleetStage, _ action: String, _ rules: [String]
    ) -> [String] {
        let found = Guarded<[String]>([])
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 8
        for (number, rule) in rules.enumerated() {
            queue.addOperation {
                guard let fault = fault(stage, "\(action)-\(number)", action, rule) else { return }
                found.withLock { $0.append("\(rule): \(fault)") }
            }
        }
        queue.waitUntilAllOperationsAreFinished()
        return found.withLock { $0 }
    }

    /// A worker in a full folder ends with 75; nothing is lost, and the next one continues.
    @Test func fullFolderIsToBeWorkedAgain() throws {
        let stage = try FleetStage(isLarge: false)
        let disk = try Tmpfs(size: 4 << 20)
        let fleet = disk.path("fleet")
        #expect(try stage.run(["fleet", "create", "plan", fleet, "--shards", "2"]).end == .exit(0))
        // The folder has room for one or two of the five files.
        let room = 12 * 4096
        let ballast = disk.path("ballast")
        #expect(FileManager.default.createFile(atPath: ballast, contents: nil))
        let file = try FileHandle(forWritingTo: URL(filePath: ballast))
        while let free = try FileManager.default.attributesOfFileSystem(forPath: disk.path)[
            .systemFreeSize] as? Int, free > room
        {
            try file.write(contentsOf: Data(count: min(free - room, 1 << 20)))
        }
        try file.close()
        let outcome = try stage.run(["fleet", "work", fleet])
        #expect(outcome.end == .exit(75), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("No space left on device"), "\(outcome.errorOutput)")
        // The other shards wait, although one was left.
        try FileManager.default.removeItem(atPath: ballast)
        #expect(try stage.run(["fleet", "work", fleet]).end == .exit(0))
        let finish = try stage.run(["fleet", "finish", fleet, "-d", "out"])
        #expect(finish.end == .exit(0), "\(finish.errorOutput)")
        #expect(try stage.isRight(isLarge: false))
    }

    /// Each call takes longer, and flock(2) always succeeds.
    @Test func slowFolderIsUsed() throws {
        let stage = try FleetStage(isLarge: false)
        let trial = try Trial(stage, "slow")
        let faults = ["flock:*:1:0:lie", "*:*:1:0:wait:10"]
        let work = try trial.work(faults: faults)
        #expect(work.end == .exit(0), "\(work.errorOutput)")
        let finish = try trial.finish(faults: faults)
        #expect(finish.end == .exit(0), "\(finish.errorOutput)")
        #expect(try trial.fault(all: true) == nil)
    }
}
