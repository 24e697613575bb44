import Foundation
import SeggetQueue
import TestSupport
import Testing

@testable import SeggetService

@Suite(.timeLimit(.minutes(10)))
struct RequestBoundsTests {
    private static let small = {
        var limits = ServerLimits()
        limits.body = 1000
        return limits
    }()
    private static let request = "POST /v2/commands HTTP/1.1\r\nHost: a\r\n"

    @Test func acceptsLargeChunkedBodies() async throws {
        try await ServedDoor.use { served throws in
            let commands = (0..<20_000).map { number in
                QueueCommand.tag(
                    TaskSelection(ids: ["53a1"]), add: ["a tag that is number \(number)"],
                    remove: [])
            }
            let body = try JSON.write(CommandBatch(commands: commands))
            #expect(body.count > 1 << 20)
            try body.write(to: URL(fileURLWithPath: served.sandbox.path("body")))
            let reply = try await served.curl(
                "http://localhost/v2/commands", "-H", "Transfer-Encoding: chunked", "-H",
                "Expect:", "--data-binary", "@body")
            #expect(reply.status == 200)
            #expect(await served.door.commands == commands)
        }
    }

    @Test func sends100ContinueIfExpected() async throws {
        try await ServedDoor.use { served throws in
            let connection = try served.connect()
            connection.send(
                Self.request + "Content-Length: 15\r\nExpect: 100-continue\r\n\r\n")
            #expect(await connection.has("HTTP/1.1 100 Continue\r\n\r\n"))
            connection.forget()
            connection.send(#"{"commands":[]}"#)
            #expect(await connection.has(#"{"results":[]}"#))

            // curl sends `Expect: 100-continue` for bodies of this length.
            try Data(#"{"commands":[]}"#.utf8 + [UInt8](repeating: 32, count: 2 << 20))
                .write(to: URL(fileURLWithPath: served.sandbox.path("body")))
            let reply = try await served.curl(
                "http://localhost/v2/commands", "-H", "Expect: 100-continue", "--data-binary",
                "@body")
            #expect(reply.status == 200)
            #expect(reply.head.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"))
        }
    }

    @Test(arguments: [
        ("POST /v2/nothing", 404), ("PUT /v2/commands", 405), ("POST /v2/tasks", 405),
    ])
    func refusesBodyBeforeReadingIt(line: String, status: Int) async throws {
        try await ServedDoor.use { served throws in
            let connection = try served.connect()
            connection.send(
                "\(line) HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n")
            #expect(await connection.ends())
            #expect(connection.text.hasPrefix("HTTP/1.1 \(status) "))
            #expect(connection.text.contains("Connection: close\r\n"))
            #expect((status == 405) == connection.text.contains("Allow: "))
        }
    }

    @Test(arguments: [
        "Content-Length: 1001\r\nExpect: 100-continue\r\n\r\n",
        "Content-Length: 99999999999999999999999\r\n\r\n",
        "Content-Length: 1001\r\n\r\n",
        "Content-Length: 1001\r\n\r\n" + String(repeating: " ", count: 1001),
        "Transfer-Encoding: chunked\r\n\r\n3E9\r\n" + String(repeating: " ", count: 1001),
        "Transfer-Encoding: chunked\r\n\r\n"
            + String(repeating: "A\r\n0123456789\r\n", count: 101) + "0\r\n\r\n",
    ])
    func refusesLongBodies(rest: String) async throws {
        try await ServedDoor.use(limits: Self.small) { served throws in
            let connection = try served.connect()
            connection.send(Self.request + rest)
            #expect(await connection.has("}"))
            // A number that overflows is no valid length.
            let status = rest.contains("9999999") ? 400 : 413
            #expect(connection.text.hasPrefix("HTTP/1.1 \(status) "), "\(connection.text)")
            #expect(await connection.ends())
            #expect(await served.door.commands.isEmpty)
        }
    }

    @Test func curlReceives413ForLongBody() async throws {
        try await ServedDoor.use { served throws in
            try Data(repeating: 32, count: 20 << 20)
                .write(to: URL(fileURLWithPath: served.sandbox.path("body")))
            for expect in ["Expect:", "Expect: 100-continue"] {
                let reply = try await served.curl(
                    "http://localhost/v2/commands", "-H", expect, "--data-binary", "@body")
                #expect(reply.status == 413)
                #expect(reply.body.contains("longer than 16777216 bytes"))
            }
        }
    }

    @Test(arguments: [
        ("GET /v2/health HTTP/1.1\r\n\r\n", 400),
        ("GET /v2/health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        ("GET /v2/health HTTP/1.1\r\nHost: a\r\nExpect: gold\r\n\r\n", 417),
        ("GET /v2/health HTTP/2.0\r\nHost: a\r\n\r\n", 400),
        ("nonsense\r\n\r\n", 400),
        ("\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}", 400),
        ("GET /v2/health HTTP/1.1\r\nHost a\r\n\r\n", 400),
        ("GET /v2/health HTTP/1.1\r\n Host: a\r\n\r\n", 400),
        (request + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (request + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400),
        (request + "Content-Length: -2\r\n\r\n{}", 400),
        (request + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        ("GET /v2/health HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 40_000))", 431),
        ("GET /\(String(repeating: "x", count: 40_000))", 431),
        ("GET / HTTP/1.1\r\nHost: a\r\n\(String(repeating: "X: y\r\n", count: 101))\r\n", 431),
    ])
    func refusesInvalidRequests(text: String, status: Int) async throws {
        try await ServedDoor.use { served throws in
            let connection = try served.connect()
            connection.send(text)
            #expect(await connection.ends())
            #expect(
                connection.text.hasPrefix("HTTP/1.1 \(status) "), "\(connection.text.prefix(200))")
            #expect(connection.text.contains("Connection: close\r\n"))
            #expect(connection.text.hasSuffix("}}"))
            // Other clients are served.
            #expect(try await served.curl("http://localhost/v2/health").status == 200)
        }
    }
}
