import Foundation
import Glibc
import TestSupport
import Testing

@testable import SeggetQueue

/// Tests rules that start and stop to apply while a worker runs the queue.
@Suite(.timeLimit(.minutes(10)))
struct QueueRulesTests {
    private let home: Sandbox
    private let origin: Origin
    /// Until this is true, replies to `GET` stall after their first bytes.
    private let goesOn = Guarded(false)
    private static let content = Content(size: 3_000_000, seed: 7)

    init() throws {
        home = try Sandbox()
        origin = try Origin { [goesOn] request in
            .file(Self.content, for: request, etag: "\"v\"").with { reply in
                guard request.method == "GET" else { return }
                reply.stallAfter = 200_000
                reply.release = goesOn
            }
        }
        for folder in ["d", "power", "power/BAT0"] { mkdir(home.path(folder), 0o700) }
        try home.write("power/BAT0/type", "Battery\n")
        try setBattery(false)
    }

    private func setBattery(_ isDischarging: Bool) throws {
        try home.write("power/BAT0/status", isDischarging ? "Discharging\n" : "Charging\n")
    }

    private var configuration: DownloadQueue.Configuration {
        var configuration = DownloadQueue.Configuration()
        configuration.machine = MachineWatch(
            busctl: home.path("busctl"), powerSupplies: home.path("power"), interval: 0.05)
        return configuration
    }

    private func task(_ path: String) -> NewTask {
        var task = NewTask(origin.url(path), to: .init(root: home.path("d")))
        task.options.connections = .fixed(1)
        return task
    }

    private func settings(_ rules: QueueRule...) -> QueueSettings {
        var settings = QueueSettings()
        settings.rules = rules
        return settings
    }

    /// Waits until a report of a task satisfies a condition.
    private func told(
        _ id: QueueTask.ID, in queue: DownloadQueue, _ isWanted: (TaskReport) -> Bool
    ) async throws -> TaskReport {
        while true {
            let task = try await queue.detail(id.description).task
            if isWanted(task) { return task }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test func rulePausesAndResumesQueue() async throws {
        try await withDownloadQueue(at: home.path("q.sqlite"), configuration: configuration) {
            queue in
            try await queue.change(settings(QueueRule(while: .battery, .pause)))
            let id = try await queue.add(task("/a"))
            _ = try await told(id, in: queue) { $0.state == "running" && $0.bytesDone > 0 }
            try setBattery(true)
            let paused = try await told(id, in: queue) { $0.state == "waiting" }
            #expect(paused.wanted == .run && paused.pauseReason == "on battery")
            let report = try await queue.report(TaskFilter())
            #expect(report.pauseReason == "on battery")
            #expect(report.tasks.map(\.pauseReason) == ["on battery"])
            #expect(try await queue.snapshot().pauseReason == "on battery")
            while await queue.runs[id] != nil { try await Task.sleep(for: .milliseconds(5)) }
            // A task that the user starts waits too.
            _ = try await queue.perform([.start(TaskSelection(id))])
            let kept = try await queue.detail(id.description).task.bytesDone
            let requests = origin.requests.count
            let other = try await queue.add(task("/b"))
            let late = try await queue.detail(other.description).task
            #expect(late.state == "waiting" && late.pauseReason == "on battery")
            #expect(origin.requests.count == requests)
            try setBattery(false)
            goesOn.withLock { $0 = true }
            for id in [id, other] {
                let end = try await queue.ended(id)
                #expect(end.state == "completed" && end.pauseReason == nil)
            }
            let path = try #require(try await queue.detail(id.description).task.path)
            #expect(
                try Data(contentsOf: URL(fileURLWithPath: path))
                    == Data(Self.content.bytes(0..<Self.content.size)))
            #expect(kept > 0)
            let again = origin.requests.dropFirst(requests).filter {
                $0.target == "/a" && $0.method == "GET"
            }
            // Received bytes were not downloaded again.
            #expect(again.reduce(0) { $0 + $1.bytesServed } <= Self.content.size - kept)
            #expect(try await queue.report(TaskFilter()).pauseReason == nil)
        }
    }

    /// If a rule may pause the queue, nothing is downloaded until the machine has answered; then
    /// its rate applies.
    @Test func downloadsNothingBeforeMachineAnswers() async throws {
        try home.write(
            "busctl",
            "#!/bin/sh\nwhile [ ! -e '\(home.path("answer"))' ]; do sleep 0.01; done; echo u 1\n")
        chmod(home.path("busctl"), 0o700)
        try await withDownloadQueue(at: home.path("q.sqlite"), configuration: configuration) {
            queue in
            try await queue.change(settings(QueueRule(while: .metered, .rate(1e9))))
            let id = try await queue.add(task("/a"))
            let early = try await queue.detail(id.description).task
            #expect(early.state == "waiting" && origin.requests.isEmpty)
            try home.write("answer", "")
            _ = try await told(id, in: queue) { $0.state == "running" }
            #expect(await queue.limits.rate == 1e9)
            goesOn.withLock { $0 = true }
            let end = try await queue.ended(id)
            #expect(end.state == "completed")
            // An idle queue forgets the facts, so the machine is asked again before the next
            // download.
            #expect(await queue.facts == nil)
        }
    }

    @Test func timeRulePausesWithoutAskingMachine() async throws {
        try home.write("busctl", "#!/bin/sh\n>'\(home.path("asked"))'\n")
        chmod(home.path("busctl"), 0o700)
        goesOn.withLock { $0 = true }
        try await withDownloadQueue(at: home.path("q.sqlite"), configuration: configuration) {
            queue in
            var settings = settings(
                QueueRule(while: .span(DaySpan(start: 0, end: 1440)), .pause),
                QueueRule(while: .metered, .pause))
            settings.metered = .no
            try await queue.change(settings)
            let id = try await queue.add(task("/a"))
            let paused = try await queue.detail(id.description).task
            #expect(paused.pauseReason == "from 00:00 to 24:00")
            settings.rules = []
            try await queue.change(settings)
            let end = try await queue.ended(id)
            #expect(end.state == "completed")
        }
        #expect(access(home.path("asked"), F_OK) != 0)
    }

    /// A worker that is opened while a rule pauses the queue starts nothing.
    @Test func ruleAppliesFromStart() async throws {
        goesOn.withLock { $0 = true }
        try setBattery(true)
        let path = home.path("q.sqlite")
        let door = DirectDoor(path)
        let id = try #require(try await door.perform([.add(task("/a"))])[0][0].id)
        try await door.change(settings(QueueRule(while: .battery, .pause)))
        try await withDownloadQueue(at: path, configuration: configuration) { queue in
            _ = try await told(id, in: queue) { $0.pauseReason == "on battery" }
            #expect(origin.requests.isEmpty)
            try setBattery(false)
            let end = try await queue.ended(id)
            #expect(end.state == "completed")
        }
    }
}
