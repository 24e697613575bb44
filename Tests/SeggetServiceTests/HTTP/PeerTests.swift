import Foundation
import SeggetQueue
import TestSupport
import Testing

@testable import SeggetService

@Suite(.timeLimit(.minutes(10)))
struct PeerTests {
    /// Connects as a user, with permission to reach the socket, and returns the received text.
    private static func ask(as user: UInt32, _ served: ServedDoor) async throws -> String {
        chmod(served.sandbox.path, 0o755)
        chmod(served.server.path, 0o666)
        let script = """
            import os, socket
            connection = socket.socket(socket.AF_UNIX)
            os.setgid(\(user)); os.setuid(\(user))
            connection.connect("q.sock")
            try:
                connection.sendall(b"GET /v2/health HTTP/1.0\\r\\n\\r\\n")
                print(connection.recv(65536).decode(), end="")
            except (BrokenPipeError, ConnectionResetError):
                pass
            print("end")
            """
        return try await Program.run(
            "/usr/bin/env", ["python3", "-c", script], in: served.sandbox.path
        ).output
    }

    @Test(.enabled(if: geteuid() == 0, "only root can be somebody else"))
    func refusesOtherUser() async throws {
        try await ServedDoor.use { served throws in
            #expect(try await Self.ask(as: 65534, served) == "end\n")
            #expect(try await Self.ask(as: 0, served).hasPrefix("HTTP/1.0 200 OK\r\n"))
        }
    }

    @Test func socketHasPrivateMode() async throws {
        try await ServedDoor.use { served throws in
            var status = stat()
            #expect(stat(served.server.path, &status) == 0)
            #expect(status.st_mode == S_IFSOCK | 0o600)
        }
    }
}
