import Foundation
import SeggetQueue
import Segmenter
import TestSupport
import Testing

@testable import SeggetService

/// Tests version 1 of the API, which this version serves to programs of 0.2, and uses with a worker
/// of 0.2.
@Suite(.timeLimit(.minutes(10)))
struct FirstVersionTests {
    /// A paused task, one whose file is missing, and one that a rule of the settings pauses.
    private static let tasks: [TaskReport] = {
        var paused = Sample.tasks[0]
        (paused.state, paused.wanted) = ("paused", .paused)
        (paused.bytesPerSecond, paused.secondsLeft, paused.connections) = (nil, nil, nil)
        var missing = Sample.tasks[1]
        missing.file = "missing"
        var ruled = paused
        (ruled.id, ruled.state, ruled.wanted) = (QueueTask.ID(), "waiting", .run)
        ruled.pauseReason = "on battery"
        return [paused, missing, ruled]
    }()

    private static func use(_ body: (ServedDoor) async throws -> Void) async throws {
        try await ServedDoor.use { served throws in
            for task in tasks { await served.door.put(task) }
            try await body(served)
        }
    }

    @Test func version1ServesOldNames() async throws {
        try await Self.use { served throws in
            let id = Self.tasks[0].id
            _ = try await served.curl("http://localhost/v1/tasks?state=held")
            #expect(await served.door.filters.last?.selection.states == ["paused"])
            let first = try await served.curl("http://localhost/v1/tasks").body
            #expect(first.contains(#""state":"waiting""#) && first.contains(#""wanted":"held""#))
            #expect(first.contains(#""file":"gone""#) && first.contains(#""paused":"on battery""#))
            let current = try await served.curl("http://localhost/v2/tasks").body
            #expect(
                current.contains(#""state":"paused""#) && current.contains(#""file":"missing""#))
            #expect(current.contains(#""pause_reason":"on battery""#))
            let detail = try await served.curl("http://localhost/v1/tasks/\(id)").body
            #expect(detail.contains(#""wanted":"held""#))
            let health = try await served.curl("http://localhost/v1/health").body
            #expect(health.contains(#""api":"v1""#))
        }
    }

    @Test func version1AcceptsOldNames() async throws {
        try await Self.use { served throws in
            let body = #"""
                {"commands":[{"command":"add","url":"http://h/f","root":"/d","held":true},
                {"command":"resume","states":["held"]}]}
                """#
            let answer = try await served.curl("http://localhost/v1/commands", "-d", body)
            #expect(answer.status == 200, "\(answer.body)")
            let commands = await served.door.commands
            guard case .add(let task)? = commands.first else {
                Issue.record("\(commands)")
                return
            }
            #expect(task.isPaused)
            #expect(commands.last == .resume(TaskSelection(states: ["paused"])))
            // The message about a body that is not JSON is that of the current version.
            let wrong = try await served.curl("http://localhost/v1/commands", "-d", "{")
            #expect(wrong.status == 400 && wrong.body.contains("not JSON"))
        }
    }

    @Test func version1StreamsOldNames() async throws {
        try await Self.use { served throws in
            let connection = try served.connect()
            connection.send("GET /v1/events HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(await connection.has("event: snapshot"))
            #expect(await connection.has(#""wanted":"held""#))
            #expect(!connection.text.contains("pause_reason"))
        }
    }

    @Test func clientUsesVersion1WithWorkerOf02() async throws {
        try await Self.use { served throws in
            let worker = try FakeWorker.ofVersion02(before: served.server.path)
            let client = QueueClient(path: worker.path)
            #expect(try await client.health().api == "v1")
            let filter = TaskFilter(selection: TaskSelection(states: ["paused"]))
            #expect(try await client.report(filter).tasks == served.door.report(filter).tasks)
            for task in Self.tasks {
                let id = task.id.description
                #expect(try await client.detail(id) == served.door.detail(id))
            }
            let commands = Commands.all
            #expect(
                try await client.perform(commands) == served.door.perform(commands))
            #expect(await served.door.commands == commands + commands)
            for try await report in client.reports(TaskFilter()) {
                #expect(Set(report.tasks.map(\.state)) == ["paused", "completed", "waiting"])
                break
            }
            await client.close()
        }
    }
}
