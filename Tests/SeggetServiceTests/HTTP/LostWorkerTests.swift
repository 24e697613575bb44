import Foundation
import SeggetQueue
import Segmenter
import Synchronization
import TestSupport
import Testing

@testable import SeggetService

@Suite(.timeLimit(.minutes(10)))
struct LostWorkerTests {
    private static func use<Result>(
        _ path: String, connectTime: Duration = .seconds(300),
        tell: @escaping @Sendable (String) -> Void = { _ in },
        _ body: (QueueClient) async throws -> Result
    ) async throws -> Result {
        let client = QueueClient(path: path, connectTime: connectTime, tellOtherVersion: tell)
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body(client)) } catch { result = .failure(error) }
        await client.close()
        return try result.get()
    }

    private static func failure(_ client: QueueClient) async -> QueueError? {
        do {
            _ = try await client.report(TaskFilter())
            return nil
        } catch {
            return error
        }
    }

    @Test func reportsMissingWorker() async throws {
        let sandbox = try Sandbox("nobody")
        let long = String(repeating: "x", count: 200)
        for path in [sandbox.path("none.sock"), sandbox.path(long)] {
            let error = try await Self.use(path) { await Self.failure($0) }
            #expect(error?.code == .worker)
            #expect(error?.message.contains(path) == true)
        }
        // The process has ended, and its socket file remains.
        close(try ListeningSocket(at: sandbox.path("stale.sock")).descriptor)
        let error = try await Self.use(sandbox.path("stale.sock")) { await Self.failure($0) }
        #expect(error?.message.contains("Connection refused") == true)
    }

    @Test(arguments: [
        FakeWorker.reply("<html>hello</html>"), FakeWorker.reply("[]"),
        FakeWorker.reply("no", status: 404), FakeWorker.health(version: "9", api: "v2"),
        "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
    ])
    func reportsOtherServer(answer: String) async throws {
        let worker = try FakeWorker { _ in answer }
        let error = try await Self.use(worker.path) { await Self.failure($0) }
        #expect(error?.code == .worker)
    }

    @Test func reportsInvalidResponse() async throws {
        let worker = try FakeWorker { line in
            line.contains("health")
                ? FakeWorker.health(version: seggetVersion) : FakeWorker.reply("{}")
        }
        try await Self.use(worker.path) { client throws in
            let message = await Self.failure(client)?.message
            #expect(message?.contains("sent an invalid response") == true)
            await #expect(throws: QueueError.self) {
                try await client.perform([.pause(TaskSelection(isAll: true))])
            }
        }
    }

    @Test func reportsTimeout() async throws {
        let worker = try FakeWorker { _ in "" }
        let error = try await Self.use(worker.path, connectTime: .milliseconds(200)) {
            await Self.failure($0)
        }
        #expect(error?.code == .worker)
        #expect(error?.message.contains("does not answer") == true)
    }

    @Test func reportsClosedConnection() async throws {
        let worker = try FakeWorker { line in
            line.contains("health") ? FakeWorker.health(version: seggetVersion) : nil
        }
        try await Self.use(worker.path) { client throws in
            let error = await Self.failure(client)
            #expect(error?.code == .worker)
            #expect(error?.message.contains("closed the connection before it answered") == true)
            // The next call connects again.
            #expect(try await client.health().version == seggetVersion)
        }
    }

    @Test func reportsKilledWorker() async throws {
        let sandbox = try Sandbox("killed")
        let script = """
            import socket, sys
            listener = socket.socket(socket.AF_UNIX)
            listener.bind("q.sock")
            listener.listen()
            print("ready", flush=True)
            connection, _ = listener.accept()
            connection.recv(65536)
            body = b'{"api":"v1","version":"1","worker":1}'
            connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n%s" % (len(body), body))
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 1000\\r\\n\\r\\n{")
            print("asked", flush=True)
            connection.recv(65536)
            """
        let child = try Run(
            "/usr/bin/env", ["python3", "-c", script], in: sandbox.path)
        #expect(await soon { child.output.contains("ready") })
        try await Self.use(sandbox.path("q.sock")) { client throws in
            async let failure = Self.failure(client)
            #expect(await soon { child.output.contains("asked") })
            child.signal(SIGKILL)
            let error = await failure
            #expect(error?.code == .worker)
            #expect(error?.message.contains("closed the connection before it answered") == true)
            // The connection may be closed before the listening socket is.
            _ = try child.wait()
            #expect(await Self.failure(client)?.message.contains("refused") == true)
        }
    }

    @Test func usesRestartedWorker() async throws {
        let sandbox = try Sandbox("again")
        let path = sandbox.path("q.sock")
        try await Self.use(path) { client throws in
            for _ in 0..<3 {
                let server = try await QueueServer.start(at: path, door: FakeDoor())
                #expect(try await client.report(TaskFilter()).tasks.count == 2)
                await server.close()
                #expect(!FileManager.default.fileExists(atPath: path))
            }
            #expect(await Self.failure(client)?.code == .worker)
        }
    }

    @Test func resendsUnsentRequests() async throws {
        let asked = Mutex(0)
        let worker = try FakeWorker { line in
            guard !line.contains("health") else {
                return FakeWorker.health(version: seggetVersion)
            }
            asked.withLock { $0 += 1 }
            // Each connection serves one request.
            return FakeWorker.reply(
                #"{"max_running":4,"retry_delays":[]}"#, fields: "Connection: close\r\n")
        }
        try await Self.use(worker.path) { client throws in
            _ = try await client.health()
            async let first = client.settings(), second = client.settings()
            #expect(try await [first.maxRunning, second.maxRunning] == [4, 4])
            #expect(asked.withLock { $0 } == 2)
        }
    }

    @Test func reportsOtherVersionOnce() async throws {
        let worker = try FakeWorker { line in
            line.contains("health")
                ? FakeWorker.health(version: "0.0.7")
                : FakeWorker.reply(#"{"max_running":4,"retry_delays":[],"new":1}"#)
        }
        _ = worker
        let told = Mutex<[String]>([])
        let path = worker.path
        try await Self.use(path, tell: { line in told.withLock { $0.append(line) } }) { client in
            _ = try await client.health()
            _ = try await client.health()
            #expect(
                told.withLock { $0 } == [
                    "process 1, which runs the queue, is segget 0.0.7; this is segget"
                        + " \(seggetVersion)"
                ])
        }
    }

    @Test func splitsManyCommandsIntoRequests() async throws {
        try await ServedDoor.use { served throws in
            let client = QueueClient(path: served.server.path, mostBytes: 1000)
            let commands = (0..<100).map {
                QueueCommand.tag(TaskSelection(ids: ["53"]), add: ["\($0)"], remove: [])
            }
            let results = try? await client.perform(commands)
            await client.close()
            #expect(results?.count == 100)
            #expect(await served.door.commands == commands)
        }
    }
}
