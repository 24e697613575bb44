import Foundation
import SeggetQueue
import TestSupport
import Testing

@testable import SeggetService

/// Tests a client that reads events.
@Suite(.timeLimit(.minutes(10)))
struct EventClientTests {
    private static let held = TaskFilter(selection: TaskSelection(states: ["paused"]))
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox("listens") }

    private var path: String { sandbox.path("q.sock") }

    private func add(_ count: Int, to queue: DownloadQueue) async throws -> [QueueTask.ID] {
        let tasks = (0..<count).map { number in
            var task = NewTask(
                "http://127.0.0.1:9/\(UInt32.random(in: .min ... .max))",
                to: .init(root: sandbox.path("d")))
            (task.isPaused, task.tags) = (true, ["t\(number % 3)"])
            return QueueCommand.add(task)
        }
        return try await queue.perform(tasks).joined().compactMap(\.id)
    }

    /// Runs a test with a served queue and a client.
    private func use(
        _ body: (DownloadQueue, QueueClient) async throws -> Void
    ) async throws {
        try await withDownloadQueue(at: sandbox.path("q.sqlite")) { queue in
            let server = try await QueueServer.start(at: path, door: queue)
            let client = QueueClient(path: path)
            let result: Result<Void, any Error>
            do { result = .success(try await body(queue, client)) } catch {
                result = .failure(error)
            }
            await client.close()
            await server.close()
            try result.get()
        }
    }

    /// A subscriber and its latest report.
    private final class Listener {
        let filter: TaskFilter
        private let stream: AsyncThrowingStream<QueueReport, any Error>
        private var last: QueueReport?

        init(_ client: QueueClient, _ filter: TaskFilter, patience: Duration = .seconds(2)) {
            self.filter = filter
            stream = client.reports(filter, patience: patience)
        }

        /// Waits until its report equals that of the queue.
        func agrees(with queue: DownloadQueue) async throws -> Bool {
            var expected = try await queue.report(filter)
            if filter != TaskFilter() {
                for index in expected.tasks.indices { expected.tasks[index].position = nil }
            }
            guard last != expected else { return true }
            for try await report in stream {
                last = report
                if report == expected { return true }
            }
            return false
        }
    }

    @Test func reportsMatchQueue() async throws {
        try await use { queue, client in
            let ids = try await add(10, to: queue)
            let listeners = [
                TaskFilter(), TaskFilter(selection: TaskSelection(tags: ["t1", "new"])), Self.held,
            ].map { Listener(client, $0) }
            func agree(_ words: String) async throws {
                for listener in listeners {
                    let agrees = try await listener.agrees(with: queue)
                    #expect(agrees, "\(words): \(listener.filter)")
                }
            }
            try await agree("ten")
            _ = try await add(300, to: queue)
            try await agree("more")
            func select(_ places: Range<Int>) -> TaskSelection {
                TaskSelection(ids: ids[places].map(\.description))
            }
            for command in [
                QueueCommand.move(select(5..<8), to: .first),
                .tag(select(0..<2), add: ["new"], remove: []),
                .tag(select(1..<2), add: [], remove: ["t1"]), .cancel(select(2..<4)),
                .rename(select(4..<5), name: "other", folder: nil),
                .remove(select(8..<9), files: false),
                .markSeen(TaskSelection(isAll: true)), .move(select(0..<1), to: .at(3)),
            ] {
                _ = try await queue.perform([command])
                try await agree("\(command)")
            }
        }
    }

    @Test func reconnectsToRestartedServer() async throws {
        try await withDownloadQueue(at: sandbox.path("q.sqlite")) { queue in
            let client = QueueClient(path: path)
            let listener = Listener(client, TaskFilter(), patience: .seconds(300))
            for _ in 0..<3 {
                let server = try await QueueServer.start(at: path, door: queue)
                _ = try await add(2, to: queue)
                #expect(try await listener.agrees(with: queue))
                await server.close()
            }
            await client.close()
        }
    }

    @Test func endsIfWorkerDoesNotReturn() async throws {
        let door = FakeDoor()
        let server = try await QueueServer.start(at: path, door: door)
        let client = QueueClient(path: path)
        var streams = [
            client.reports(TaskFilter(), patience: .zero).makeAsyncIterator(),
            client.reports(TaskFilter(), patience: .milliseconds(300)).makeAsyncIterator(),
        ]
        for index in streams.indices {
            #expect(try await streams[index].next()?.tasks.count == 2)
        }
        await server.close()
        for index in streams.indices {
            let error = await #expect(throws: QueueError.self) {
                while try await streams[index].next() != nil {}
            }
            #expect(error?.code == .worker)
        }
        await client.close()
    }

    @Test func reconnectsAfterLostConnections() async throws {
        // The worker closes each connection after one event.
        let ids = Guarded<[String]>([])
        let count = Guarded(0)
        let worker = try FakeWorker { line in
            guard !line.contains("/health") else { return FakeWorker.health(version: "1") }
            let number = count.withLock { count in
                count += 1
                return count
            }
            let report =
                #"{"version":"1","worker":1,"tasks":[],"counts":{},"bytes_per_second":\#(number),"unseen":{}}"#
            return FakeWorker.reply(
                "id: e-\(number)\nevent: snapshot\ndata: \(report)\n\n",
                fields: "Content-Type: text/event-stream\r\nConnection: close\r\n")
        } heads: { head in
            ids.withLock { ids in
                ids += head.components(separatedBy: "\r\n").filter { $0.hasPrefix("Last-Event-ID") }
            }
        }
        let client = QueueClient(path: worker.path)
        for try await report in client.reports(TaskFilter()) where report.bytesPerSecond >= 3 {
            break
        }
        await client.close()
        #expect(ids.withLock { $0 }.prefix(2) == ["Last-Event-ID: e-1", "Last-Event-ID: e-2"])
    }

    @Test(arguments: [
        FakeWorker.reply(#"{"error":{"code":"damaged","message":"m","hint":"h"}}"#, status: 500),
        FakeWorker.reply("no", status: 404),
        FakeWorker.reply("event: snapshot\ndata: []\n\n"),
    ])
    func invalidStreamEndsSubscription(answer: String) async throws {
        let worker = try FakeWorker { _ in answer }
        let client = QueueClient(path: worker.path)
        let error = await #expect(throws: QueueError.self) {
            for try await _ in client.reports(TaskFilter(), patience: .seconds(300)) {}
        }
        #expect(error?.code == (answer.contains("damaged") ? .damaged : .worker))
        await client.close()
    }
}
