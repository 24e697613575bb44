import Foundation
import SeggetQueue
import TestSupport

@testable import SeggetService

/// A fake queue with a real socket, in a temporary folder.
struct ServedDoor {
    let door: FakeDoor
    let sandbox: Sandbox
    let server: QueueServer

    /// Runs a test with a fake queue behind a socket.
    static func use<Result>(
        limits: ServerLimits = ServerLimits(), _ body: (ServedDoor) async throws -> Result
    ) async throws -> Result {
        let sandbox = try Sandbox("api")
        let door = FakeDoor()
        let server = try await QueueServer.start(
            at: sandbox.path("q.sock"), door: door, limits: limits)
        let served = ServedDoor(sandbox: sandbox, server: server, door: door)
        do {
            let result = try await body(served)
            await door.release()
            await server.close()
            return result
        } catch {
            await door.release()
            await server.close()
            throw error
        }
    }

    private init(sandbox: Sandbox, server: QueueServer, door: FakeDoor) {
        (self.sandbox, self.server, self.door) = (sandbox, server, door)
    }

    /// Opens a connection for arbitrary bytes.
    func connect() throws -> RawConnection { try RawConnection(server.path) }

    /// Runs a closure with a client of the API.
    func withClient<Result>(
        tell: @escaping @Sendable (String) -> Void = { _ in },
        _ body: (QueueClient) async throws -> Result
    ) async throws -> Result {
        let client = QueueClient(path: server.path, tellOtherVersion: tell)
        do {
            let result = try await body(client)
            await client.close()
            return result
        } catch {
            await client.close()
            throw error
        }
    }

    /// Returns the response that curl receives.
    func curl(_ arguments: String...) async throws -> (status: Int, head: String, body: String) {
        let outcome = try await Program.run(
            "/usr/bin/curl",
            [
                "-q", "-sS", "--unix-socket", server.path, "-D", "head", "-w",
                "%{stderr}%{http_code}",
            ] + arguments, in: sandbox.path)
        let head = String(decoding: try sandbox.read("head"), as: UTF8.self)
        return (Int(outcome.errorOutput.suffix(3)) ?? 0, head, outcome.output)
    }
}

extension QueueServer {
    /// Serves a queue at a path.
    static func start(
        at path: String, door: any RPCQueue, limits: ServerLimits = ServerLimits()
    ) async throws(QueueError) -> QueueServer {
        try await QueueServer(try ListeningSocket(at: path), door: door, limits: limits)
    }
}

/// Child processes that connect to a server in this process.
enum Program {
    /// Runs a program on a separate thread, because the server's tasks need the threads of the
    /// tests.
    static func run(
        _ executable: String, _ arguments: [String], in folder: String
    ) async throws -> Run.Outcome {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result { try Run(executable, arguments, in: folder).wait() })
            }
        }
    }
}
