import Foundation
import Glibc
import SeggetQueue
import TestSupport
import Testing

@testable import SeggetService

@Suite(.timeLimit(.minutes(10)))
struct ListeningSocketTests {
    private static func someoneListens(_ path: String) -> QueueError {
        QueueError(
            .hasWorker, "another process is already listening at \(path)",
            hint: "`ss -xlp` shows the process; end it first")
    }

    @Test func replacesStaleSocket() async throws {
        let sandbox = try Sandbox("stale")
        let path = sandbox.path("q.sock")
        close(try ListeningSocket(at: path).descriptor)
        let server = try await QueueServer.start(at: path, door: FakeDoor())
        let client = QueueClient(path: path)
        #expect((try? await client.health()) != nil)
        await client.close()
        await server.close()
        #expect(try sandbox.names() == [])
    }

    @Test func keepsActiveSocket() async throws {
        try await ServedDoor.use { served throws in
            let path = served.server.path
            await #expect(throws: Self.someoneListens(path)) {
                try await QueueServer.start(at: path, door: FakeDoor())
            }
            let health = try await served.curl("http://localhost/v2/health")
            #expect(health.status == 200)
        }
    }

    @Test func keepsSocketWithFullBacklog() throws {
        let sandbox = try Sandbox("busy")
        let path = sandbox.path("q.sock")
        var address = try SocketAddressBytes(path)
        let type = Int32(SOCK_STREAM.rawValue)
        let listener = socket(AF_UNIX, type, 0)
        defer { close(listener) }
        #expect(address.with { bind(listener, $0, $1) } == 0 && listen(listener, 0) == 0)
        var waiting: [Int32] = []
        defer { for descriptor in waiting { close(descriptor) } }
        // Connects until the backlog is full.
        while true {
            let next = socket(AF_UNIX, type | Int32(SOCK_NONBLOCK.rawValue), 0)
            waiting.append(next)
            guard address.with({ connect(next, $0, $1) }) == 0 else { break }
        }
        #expect(errno == EAGAIN)
        #expect(throws: Self.someoneListens(path)) { try ListeningSocket(at: path) }
    }

    @Test func keepsFileThatIsNoSocket() throws {
        let sandbox = try Sandbox("other")
        try sandbox.write("file", "mine")
        mkdir(sandbox.path("folder"), 0o700)
        symlink(sandbox.path("file"), sandbox.path("link"))
        for name in ["file", "folder", "link"] {
            #expect { try ListeningSocket(at: sandbox.path(name)) } throws: {
                ($0 as? QueueError)?.code == .unavailable
            }
        }
        #expect(try sandbox.names() == ["file", "folder", "link"])
    }

    @Test func doesNotRemoveSocketOfSuccessor() async throws {
        let sandbox = try Sandbox("taken")
        let path = sandbox.path("q.sock")
        let server = try await QueueServer.start(at: path, door: FakeDoor())
        unlink(path)
        let other = try ListeningSocket(at: path)
        await server.close()
        #expect(try sandbox.names() == ["q.sock"])
        close(other.descriptor)
    }

    @Test func answersOpenRequestsBeforeStop() async throws {
        let sandbox = try Sandbox("end")
        let door = FakeDoor()
        await door.hold()
        var limits = ServerLimits()
        limits.closeTime = .seconds(300)
        let server = try await QueueServer.start(
            at: sandbox.path("q.sock"), door: door, limits: limits)
        let asking = try RawConnection(server.path), idle = try RawConnection(server.path)
        asking.send("GET /v2/tasks HTTP/1.1\r\nHost: a\r\n\r\n")
        idle.send("GET /v2/health HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(await idle.has("}"))
        while await door.waiting == 0 { await Task.yield() }
        async let closed: Void = server.close()
        #expect(await idle.ends())
        #expect(try sandbox.names() == [])
        await door.release()
        #expect(await asking.ends())
        #expect(
            asking.text.contains("\r\nConnection: close\r\n")
                || asking.text.contains("connection: close"))
        #expect(asking.text.hasSuffix("}"))
        await closed
    }

    @Test func stopHasTimeLimit() async throws {
        let sandbox = try Sandbox("end")
        let door = FakeDoor()
        await door.hold()
        var limits = ServerLimits()
        limits.closeTime = .milliseconds(100)
        let server = try await QueueServer.start(
            at: sandbox.path("q.sock"), door: door, limits: limits)
        let asking = try RawConnection(server.path)
        asking.send("GET /v2/tasks HTTP/1.1\r\nHost: a\r\n\r\n")
        while await door.waiting == 0 { await Task.yield() }
        await server.close()
        #expect(await asking.ends())
        await door.release()
    }
}
