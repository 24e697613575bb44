import Foundation
import GRDB
import Segmenter
import TestSupport
import Testing

@testable import SeggetQueue

/// Tests tasks with unstored secrets after their worker has ended.
struct UnstoredSecretsTests {
    private let home: Sandbox
    private let origin: Origin

    init() throws {
        home = try Sandbox()
        origin = try Origin { request in
            // The content is different for each query and without one.
            let seed = UInt64(request.target.utf8.reduce(7) { $0 &* 31 &+ Int($1) })
            return .file(Content(size: 3000, seed: seed), for: request, etag: "\"v\"")
        }
    }

    private func task(_ path: String, _ headers: [String] = []) -> NewTask {
        var task = NewTask(origin.url(path), to: .init(root: home.path("d")))
        task.options.headers = headers
        task.keepsNoSecrets = true
        task.isPaused = true
        return task
    }

    private func work<Result>(
        _ body: (DownloadQueue) async throws -> sending Result
    ) async throws -> sending Result {
        try await withDownloadQueue(at: home.path("q.sqlite")) { queue in try await body(queue) }
    }

    @Test(.timeLimit(.minutes(5))) func waitsUntilAllSecretsAreSetAgain()
        async throws
    {
        let id = try await work { queue in
            try await queue.add(task("/p?id=77", ["X-K: a"]))
        }
        try await work { queue in
            let selection = TaskSelection(id)
            func problem(after commands: [QueueCommand]) async throws -> TaskProblem? {
                #expect(
                    try await queue.perform(commands).joined().allSatisfy { $0.outcome == .done })
                return try await queue.ended(id).error
            }
            let all = try await problem(after: [.resume(selection)])
            #expect(all?.kind == "secrets_gone")
            #expect(all?.message.contains("query of its URLs; headers") == true)
            #expect(all?.queueHint(id).contains("set \(id) --url URL -H 'NAME: VALUE'`") == true)
            var changes = TaskChanges { $0.headers = ["X-K: a"] }
            let part = try await problem(after: [.set(selection, changes), .retry(selection)])
            #expect(part?.kind == "secrets_gone")
            #expect(part?.queueHint(id).contains("set \(id) --url URL`") == true)
            #expect(origin.requests.isEmpty)
            changes = TaskChanges()
            changes.urls = [origin.url("/p?id=77")]
            let none = try await problem(after: [.set(selection, changes), .retry(selection)])
            #expect(none == nil)
            #expect(
                origin.requests.allSatisfy { $0.target == "/p?id=77" && $0.header("X-K") == "a" })
        }
    }

    @Test(.timeLimit(.minutes(5))) func suggestsNewTaskIfSetCannotHelp() async throws {
        let id = try await work { queue in
            var task = task("/p")
            task.options.access.bearerToken = "b"
            return try await queue.add(task)
        }
        try await work { queue in
            _ = try await queue.perform([.resume(TaskSelection(id))])
            let error = try await queue.ended(id).error
            #expect(error?.kind == "secrets_gone")
            #expect(error?.queueHint(id).contains("`segget remove \(id)`") == true)
        }
    }

    /// The refresh command is not needed again, because the URL is the same without it.
    @Test(.timeLimit(.minutes(5))) func downloadsWithoutRefreshCommand() async throws {
        let id = try await work { queue in
            var task = task("/p")
            task.refreshCommand = ["get", "it"]
            return try await queue.add(task)
        }
        try await work { queue in
            _ = try await queue.perform([.resume(TaskSelection(id))])
            #expect(try await queue.ended(id).state == "completed")
        }
    }

    @Test(.timeLimit(.minutes(5))) func eachQueryIsSeparateTask() async throws {
        let (one, two, plain) = try await work { queue in
            let one = try await queue.add(task("/get?file=1"))
            let two = try await queue.add(task("/get?file=2"))
            #expect(one != two)
            #expect(try await queue.add(task("/get?file=1")) == one)
            var stored = task("/get?file=2")
            stored.keepsNoSecrets = false
            #expect(try await queue.add(stored) == two)
            stored.url = origin.url("/get?file=3")
            #expect(try await ![one, two].contains(queue.add(stored)))
            return (one, two, try await queue.add(task("/plain")))
        }
        // The queries are not stored.
        try await work { queue async throws in
            for path in ["/get?file=1", "/get?file=2", "/get"] {
                #expect(try await ![one, two].contains(queue.add(task(path))), "\(path)")
            }
            #expect(try await queue.add(task("/plain")) == plain)
            #expect(try await queue.add(task("/plain?file=1")) != plain)
        }
    }

    @Test(.timeLimit(.minutes(5))) func refusesUnstoredSecretsWithoutWorker() async throws {
        let id = try await work { queue in try await queue.add(task("/p?id=77", ["X-K: a"])) }
        let door = DirectDoor(home.path("q.sqlite"))
        let before = try await door.detail(id.description)
        var changes = TaskChanges { $0.retries = 5 }
        let harmless = QueueCommand.set(TaskSelection(id), changes)
        var refused: [QueueCommand] = [.add(task("/p?id=78"))]
        changes = TaskChanges { $0.headers = ["X-K: b"] }
        refused.append(.set(TaskSelection(id), changes))
        changes = TaskChanges { $0.access.credentials = .init(user: "u", password: "p") }
        refused.append(.set(TaskSelection(id), changes))
        changes = TaskChanges()
        changes.urls = [origin.url("/q?id=77")]
        refused.append(.set(TaskSelection(id), changes))
        var messages: Set<String> = []
        for command in refused {
            let error = await #expect(throws: QueueError.self) {
                try await door.perform([.tag(TaskSelection(id), add: ["t"], remove: []), command])
            }
            #expect(error?.code == .invalid)
            messages.insert("\(error?.message ?? "") \(error?.hint ?? "")")
            #expect(try await door.detail(id.description) == before)
        }
        #expect(messages.count == 1)
        #expect(try await door.perform([harmless])[0].map(\.outcome) == [.done])
        // A URL without a secret can be stored.
        changes.urls = [origin.url("/p")]
        #expect(
            try await door.perform([.set(TaskSelection(id), changes)])[0].map(\.outcome) == [.done])
    }

    @Test func failedCommandsKeepSecrets() throws {
        let queue = try StoredQueue()
        let now = QueueMachine.Moment(wall: 0, boot: 0)
        let coordinator = try QueueCoordinator(queue.open(), maxRunning: 0, now)
        let results = try coordinator.perform(
            [.add(task("/p", ["X-K: a"])), .add(task("/q"))], now)
        let ids = try results.joined().map { try #require($0.id) }
        try coordinator.store.write { db in
            try db.execute(
                sql: "UPDATE tasks SET state = 'dancing' WHERE id = ?",
                arguments: [ids[1].description])
        }
        let changes = TaskChanges { $0.headers = ["X-K: b"] }
        #expect(throws: QueueError.self) {
            try coordinator.perform(
                [
                    .set(TaskSelection(ids[0]), changes),
                    .tag(TaskSelection(ids[1]), add: ["t"], remove: []),
                ], now)
        }
        #expect(try coordinator.whole(ids[0])?.options.headers == ["X-K: a"])
    }
}
