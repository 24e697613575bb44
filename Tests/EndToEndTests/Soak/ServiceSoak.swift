import Foundation
import Glibc
import TestSupport

/// A service, its subscribers, and random commands for its tasks.
final class ServiceSoak {
    /// The most tasks in the queue at a time.
    private static let most = 24
    /// The number of commands in a round.
    private static let commandsPerRound = 30
    private static let size: Int64 = 400_000
    /// The server's faults, without those that stop the whole server or make a wrong file valid.
    private static let faults = SoakFault.allCases.filter {
        ![.corrupt, .dropAll, .refuseAWhile, .otherTag].contains($0)
    }

    private let stage: QueueStage
    private let service: Run
    private let listening: [QueueSubscriber]
    private var random: SplitMix64
    private let isHonest = Guarded(false)
    private let injected = Guarded(0)
    /// The number of each task's file.
    private var numbers: [String: Int] = [:]
    private var added = 0
    private var given = 0
    private var codes: [Int32: Int] = [:]
    private var mostTaken: ServiceLoad?
    private(set) var failures: [String] = []

    init(seed: UInt64) throws {
        random = SplitMix64(seed: seed)
        let stage = try QueueStage(size: Self.size, hasRuntime: true)
        self.stage = stage
        let (isHonest, injected) = (isHonest, injected)
        stage.origin.bendGET { request, reply in
            guard !isHonest.withLock({ $0 }) else { return }
            reply.pace = 150_000
            var random = SplitMix64(seed: seed ^ UInt64(request.number))
            guard Double.random(in: 0..<1, using: &random) < 0.15,
                let fault = Self.faults.randomElement(using: &random)
            else { return }
            injected.withLock { $0 += 1 }
            fault.bend(&reply, request, &random)
        }
        let service = try stage.start(["serve"])
        self.service = service
        _ = eventually { stage.isWorked(by: service.pid) || !service.isRunning }
        listening = (0..<3).map { _ in QueueSubscriber(stage.queue) }
    }

    deinit { for subscriber in listening { subscriber.stop() } }

    /// A summary of the commands and results.
    var report: String {
        let ends = codes.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return """
            \(added) tasks, \(given) commands (exit codes \(ends.joined(separator: ", "))), \
            \(injected.withLock { $0 }) faults, \(stage.origin.bytesServed >> 20) MiB; at most \
            \(mostTaken.map { "\($0)" } ?? "")
            """
    }

    // MARK: Commands

    /// Sends random commands while some subscribers disconnect early and one never reads.
    func commands() throws {
        isHonest.withLock { $0 = false }
        let deaf = try line()
        deaf?.send("GET /v2/events HTTP/1.0\r\n\r\n")
        var guest: QueueSubscriber?
        for _ in 0..<Self.commandsPerRound {
            if Int.random(in: 0..<8, using: &random) == 0 {
                guest?.stop()
                guest = guest == nil ? QueueSubscriber(stage.queue) : nil
            }
            try give(command())
            guard service.isRunning else {
                failures.append("it has ended: \(service.errorOutput.suffix(3000))")
                break
            }
            let load = ServiceLoad(service.pid)
            mostTaken = ServiceLoad(most: [load, mostTaken ?? load])
        }
        guest?.stop()
    }

    private func command() -> [String] {
        let kind = Int.random(in: 0..<20, using: &random)
        guard kind > 5 || numbers.count >= Self.most,
            let id = numbers.keys.randomElement(using: &random)
        else {
            added += 1
            let quick = [
                "--stall-timeout", "2", "--connect-timeout", "5", "--retries", "2", "-x", "3",
            ]
            return ["add", stage.origin.url("/\(added)/file-\(added).iso")] + quick
        }
        switch kind {
        case 6: return ["pause", id]
        case 7: return ["resume", id]
        case 8: return ["start", id]
        case 9: return ["cancel", id]
        case 10: return ["retry", id]
        case 11: return ["rename", id, "r\(given)-file-\(numbers[id] ?? 0).iso"]
        case 12: return ["move", id, "--first"]
        case 13: return ["tag", id, "+t\(given % 5)"]
        case 14: return ["set", id, "--limit-rate", "\(Int.random(in: 50...900, using: &random))K"]
        case 15: return ["settings", "--max-running", "\(Int.random(in: 1...5, using: &random))"]
        case 16: return ["show", id]
        // A failed task keeps its part; clearing the task would orphan the part.
        case 17: return ["clear", "--state", "completed"]
        default:
            numbers[id] = nil
            return ["remove", id, "--files"]
        }
    }

    private func give(_ command: [String]) throws {
        given += 1
        let outcome = try stage.start(command).wait(timeout: 120)
        codes[outcome.exitCode ?? -1, default: 0] += 1
        // 64: the task no longer exists, or its state does not allow the command.
        // A cancelled task has no file to rename.
        let isLate =
            outcome.end == .exit(64) && command[0] != "add"
            || outcome.end == .exit(73) && command[0] == "rename"
        guard outcome.end == .exit(0) || isLate else {
            failures.append("\(command): \(outcome.end), \(outcome.errorOutput)")
            return
        }
        if command[0] == "add" {
            numbers[outcome.output.trimmingCharacters(in: .newlines)] = added
        } else if command[0] == "clear" {
            let left = Set(try stage.tasks().compactMap { $0["id"] as? String })
            numbers = numbers.filter { left.contains($0.key) }
        }
    }

    // MARK: Rest

    /// Downloads all tasks from a correct server, checks the files, and removes them.
    ///
    /// - Returns: The resources that the idle service uses.
    func rest() throws -> ServiceLoad {
        isHonest.withLock { $0 = true }
        // This ends requests that would stall indefinitely.
        stage.origin.dropConnections()
        try give(["settings", "--max-running", "5"])
        try give(["set", "--all", "--limit-rate", "0"])
        try give(["resume", "--all"])
        var tasks: [[String: Any]] = []
        let areDone = try eventually(timeout: 300, poll: 0.2) {
            tasks = try stage.tasks()
            return tasks.allSatisfy { $0["state"] as? String == "completed" } || !service.isRunning
        }
        if !areDone { failures.append("the server behaves, and these did not come: \(tasks)") }
        if Set(tasks.compactMap { $0["id"] as? String }) != Set(numbers.keys) {
            failures.append("not the tasks that there should be: \(tasks), \(numbers)")
        }
        for subscriber in listening where !(try eventually { try subscriber.knows(tasks) }) {
            failures.append("it knows \(subscriber.known)\nand the list says \(tasks)")
        }
        failures += listening.flatMap(\.faults)
        try look(tasks)
        try give(["remove", "--all", "--files"])
        numbers = [:]
        // Only files that the service is still removing may remain.
        var left: [String] = []
        let isEmpty = try eventually {
            left = try stage.names()
            return left.isEmpty
        }
        if !isEmpty { failures.append("left over: \(left)") }
        return ServiceLoad(service.pid)
    }

    /// Checks that all files are correct, and that files of removed tasks disappear.
    private func look(_ tasks: [[String: Any]]) throws {
        let names = Set(tasks.compactMap { ($0["path"] as? String)?.split(separator: "/").last })
        for name in try stage.names() {
            let isTasks = names.contains(Substring(name))
            guard name.hasSuffix(".iso") else {
                // The service soon deletes the file of a removed task.
                let isGone = eventually { access(stage.files.sandbox.path(name), F_OK) != 0 }
                if !isGone { failures.append("left over: \(name)") }
                continue
            }
            let number = name.split(separator: "-").last?.prefix { $0 != "." } ?? ""
            if !(try stage.isRight(name, "/\(number)/file-\(number).iso")) {
                failures.append("THE FILE IS WRONG: \(name)")
            }
            if !isTasks { unlink(stage.files.sandbox.path(name)) }
        }
    }

    /// Stops the service, and checks that only the queue remains.
    func end() throws {
        service.signal(SIGTERM)
        let outcome = try service.wait()
        if outcome.end != .exit(0) { failures.append("SIGTERM: \(outcome.end)") }
        let runtime = stage.home.path("run/segget")
        let sockets = try FileManager.default.contentsOfDirectory(atPath: runtime)
        let files = try FileManager.default.contentsOfDirectory(atPath: stage.home.path("q"))
        let strangers = Set(files).subtracting(
            ["queue.sqlite", "queue.sqlite.lock", "queue.sqlite.secrets"])
        if !sockets.isEmpty || !strangers.isEmpty {
            failures.append(
                "left over: \(sockets) in the runtime folder, \(strangers) of the queue")
        }
    }

    /// Returns a new connection to the service.
    private func line() throws -> QueueLine? {
        guard let data = FileManager.default.contents(atPath: stage.queue + ".lock"),
            let holder = try JSONSerialization.jsonObject(with: data) as? [String: Any],
            let path = holder["socket"] as? String
        else { return nil }
        return try QueueLine(path)
    }
}
