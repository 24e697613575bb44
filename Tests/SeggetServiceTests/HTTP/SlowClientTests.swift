import Foundation
import SeggetQueue
import TestSupport
import Testing

@testable import SeggetService

@Suite(.timeLimit(.minutes(10)))
struct SlowClientTests {
    /// The timeout in tests that wait for it.
    private static let short = Duration.milliseconds(200)

    private static func limits(_ change: (inout ServerLimits) -> Void) -> ServerLimits {
        var limits = ServerLimits()
        change(&limits)
        return limits
    }

    @Test func stalledClientsDelayNoOthers() async throws {
        try await ServedDoor.use { served throws in
            let inHead = try served.connect()
            inHead.send("GET /v2/health HT")
            let inBody = try served.connect()
            inBody.send("POST /v2/commands HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n")
            inBody.send(#"{"comm"#)
            await served.door.hold()
            let held = try served.connect()
            held.send("GET /v2/tasks HTTP/1.1\r\nHost: a\r\n\r\n")
            while await served.door.waiting == 0 { await Task.yield() }
            #expect(try await served.curl("http://localhost/v2/settings").status == 200)

            // The slow clients can still complete their requests.
            await served.door.release()
            #expect(await held.has("}"))
            inHead.send("TP/1.1\r\nHost: a\r\n\r\n")
            #expect(await inHead.has(#""api":"v2""#))
            inBody.send("ands\":[]}" + String(repeating: " ", count: 85))
            #expect(await inBody.has(#"{"results":[]}"#))
        }
    }

    @Test func servesHundredClientsAtOnce() async throws {
        try await ServedDoor.use { served throws in
            let connections = try (0..<100).map { _ in try served.connect() }
            for _ in 0..<3 {
                for connection in connections {
                    connection.forget()
                    connection.send("GET /v2/tasks HTTP/1.1\r\nHost: a\r\n\r\n")
                }
                for connection in connections {
                    #expect(await connection.has(#""unseen":{"completed":1}"#))
                }
            }
        }
    }

    @Test func closesExcessConnection() async throws {
        try await ServedDoor.use(limits: Self.limits { $0.connections = 2 }) { served throws in
            let first = [try served.connect(), try served.connect()]
            for connection in first {
                connection.send("GET /v2/health HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(await connection.has("}"))
            }
            let third = try served.connect()
            #expect(await third.ends())
            #expect(third.text.isEmpty)
            first[0].finish()
            #expect(await first[0].ends())
            // The slot is free once the server has noticed the close.
            var answered = false
            while !answered {
                let next = try served.connect()
                next.send("GET /v2/health HTTP/1.1\r\nHost: a\r\n\r\n")
                answered =
                    await soon { next.text.hasSuffix("}") || next.isEnded }
                    && next.text.hasSuffix("}")
            }
        }
    }

    @Test func closesSilentConnection() async throws {
        try await ServedDoor.use(limits: Self.limits { $0.headTime = Self.short }) { served in
            let silent = try served.connect()
            let stalled = try served.connect()
            stalled.send("GET /v2/health HT")
            let idle = try served.connect()
            idle.send("GET /v2/health HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(await silent.ends())
            #expect(await stalled.ends())
            #expect(await idle.ends())
            #expect(silent.text.isEmpty)
            #expect(idle.text.hasSuffix("}"))
        }
    }

    @Test func missingBodyTimesOut() async throws {
        try await ServedDoor.use(limits: Self.limits { $0.bodyTime = Self.short }) { served in
            let stalled = try served.connect()
            stalled.send("POST /v2/commands HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{")
            #expect(await stalled.ends())
            #expect(stalled.text.hasPrefix("HTTP/1.1 408 "))
            #expect(stalled.text.contains("the body did not arrive in time"))
            #expect(await served.door.commands.isEmpty)
        }
    }

    @Test func unreadResponseTimesOut() async throws {
        try await ServedDoor.use(limits: Self.limits { $0.replyTime = Self.short }) { served in
            await served.door.pad(8 << 20)
            let connection = try served.connect()
            connection.send("GET /v2/tasks HTTP/1.1\r\nHost: a\r\n\r\n")
            // Checks the connection without reading.
            let isClosed = await soon {
                var poll = pollfd(fd: connection.descriptor, events: 0, revents: 0)
                return Glibc.poll(&poll, 1, 0) == 1 && poll.revents & Int16(POLLHUP) != 0
            }
            #expect(isClosed)
            #expect(!connection.text.hasSuffix("}"))
        }
    }

    @Test func limitsUnreadResponses() async throws {
        try await ServedDoor.use { served throws in
            await served.door.pad(4 << 20)
            let connection = try served.connect()
            let request = "GET /v2/tasks HTTP/1.1\r\nHost: a\r\n\r\n"
            connection.send(String(repeating: request, count: 50))
            while await served.door.filters.isEmpty { await Task.yield() }
            // The others are served meanwhile, and the second request is not started.
            for _ in 0..<20 {
                #expect(try await served.curl("http://localhost/v2/health").status == 200)
            }
            #expect(await served.door.filters.count == 1)
            await served.door.pad(0)
            #expect(
                await soon { connection.text.components(separatedBy: "HTTP/1.1 200").count == 51 })
        }
    }
}
