import Foundation
import SeggetReports
import SeggetQueue
import TestSupport
import Testing

@testable import SeggetService

/// Tests the limits for clients over TCP.
@Suite(.timeLimit(.minutes(10)))
struct SiteBoundsTests {
    /// The timeout in tests that wait for it.
    private static let short = Duration.milliseconds(200)

    private static func limits(_ change: (inout ServerLimits) -> Void) -> ServerLimits {
        var limits = ServerLimits.web
        change(&limits)
        return limits
    }

    @Test func limitsMatchManual() {
        #expect(ServerLimits.web.body == 2 << 20)
        #expect(ServerLimits.web.connections == 256)
        #expect(ServerLimits.web.headTime == .seconds(10))
        #expect(JSONValue.mostLevels == 64)
    }

    @Test func closesExcessConnection() async throws {
        try await ServedSite.use(limits: Self.limits { $0.connections = 2 }) { site in
            let first = [try await site.socket(), try await site.socket()]
            let third = try site.connect()
            #expect(
                await soon {
                    third.take()
                    return third.isEnded
                })
            #expect(third.text.isEmpty)
            first[0].say(ServedSite.call())
            #expect(await ServedSite.message(first[0])?.text.contains("version") == true)
        }
    }

    @Test func missingHeadTimesOut() async throws {
        try await ServedSite.use(limits: Self.limits { $0.headTime = Self.short }) { site in
            let silent = try site.connect()
            let stalled = try site.connect()
            stalled.send("POST /jsonrpc HT")
            let dripping = try site.connect()
            #expect(
                await soon {
                    dripping.send("X")
                    dripping.take()
                    return dripping.isEnded
                })
            for client in [silent, stalled] {
                #expect(
                    await soon {
                        client.take()
                        return client.isEnded
                    })
                #expect(client.text.isEmpty)
            }
        }
    }

    /// The timeout for a head does not apply to WebSockets.
    @Test func webSocketHasNoHeadTimeout() async throws {
        try await ServedSite.use(limits: Self.limits { $0.headTime = Self.short }) { site in
            let socket = try await site.socket()
            let silent = try site.connect()
            #expect(
                await soon {
                    silent.take()
                    return silent.isEnded
                })
            socket.say(ServedSite.call())
            #expect(await ServedSite.message(socket)?.text.contains("version") == true)
        }
    }

    @Test func missingBodyTimesOut() async throws {
        try await ServedSite.use(limits: Self.limits { $0.bodyTime = Self.short }) { site in
            let stalled = try site.connect()
            stalled.send("POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{")
            #expect(await ServedSite.reply(stalled)?.status == 408)
        }
    }

    // MARK: WebSockets

    /// The bytes that a client sends, and the status with which the WebSocket is closed.
    private static let tooMuch: [(String, [UInt8], UInt16?)] = [
        ("a frame that is too large", WebClient.frame([], length: (2 << 20) + 1), nil),
        ("a frame of any length", WebClient.frame([], length: Int.max), nil),
        (
            "too many fragments",
            WebClient.frame([32], isLast: false)
                + (0..<1100).flatMap { _ in WebClient.frame([32], opcode: 0, isLast: false) }, 1009
        ),
        (
            "fragments that are too much",
            WebClient.frame([UInt8](repeating: 32, count: 1 << 20), isLast: false)
                + WebClient.frame(
                    [UInt8](repeating: 32, count: 1 << 20), opcode: 0, isLast: false)
                + WebClient.frame([32, 32], opcode: 0), 1009
        ),
        ("a fragment of nothing", WebClient.frame([32], opcode: 0), nil),
        (
            "a ping that is too long",
            WebClient.frame([UInt8](repeating: 32, count: 126), opcode: 9), nil
        ),
        ("a frame without a mask", [0x81, 2] + Array("{}".utf8), 1002),
        ("a reserved bit", [0xc1, 0x82, 0, 0, 0, 0] + Array("{}".utf8), 1002),
        ("an opcode that nothing has", WebClient.frame(Array("{}".utf8), opcode: 3), 1002),
        ("a control frame that nothing has", WebClient.frame([], opcode: 11), 1002),
    ]

    @Test(arguments: tooMuch.indices)
    func limitsWebSocketFrames(row: Int) async throws {
        let (name, bytes, status) = Self.tooMuch[row]
        try await ServedSite.use { site in
            let socket = try await site.socket()
            var rest = bytes[...]
            #expect(
                await soon {
                    let count = socket.send(Array(rest))
                    if count > 0 { rest = rest.dropFirst(count) }
                    return rest.isEmpty || count < 0 && errno != EAGAIN
                })
            let last = await ServedSite.message(socket)
            if let status {
                #expect(last?.opcode == 8)
                #expect(last?.payload.prefix(2) == [UInt8(status >> 8), UInt8(status & 255)])
            } else {
                #expect(last == nil || last?.opcode == 8, "\(name)")
            }
            #expect(
                await soon {
                    socket.take()
                    return socket.isEnded
                }, "\(name)")
            #expect(
                try await site.ask("GET /api/v2/health", ServedSite.authorization)?.status == 200)
        }
    }

    /// Frames that follow the end of a WebSocket.
    @Test(arguments: [
        WebClient.frame([3, 232], opcode: 8), WebClient.frame([], opcode: 3),
        WebClient.frame([32], opcode: 0),
    ])
    func ignoresFramesAfterClose(end: [UInt8]) async throws {
        try await ServedSite.use { site in
            let socket = try await site.socket()
            let call = ServedSite.call("aria2.addUri", #",["http://a/b"]"#)
            socket.send(end + WebClient.frame(Array(call.utf8)))
            #expect(await ServedSite.message(socket)?.opcode == 8)
            #expect(
                await soon {
                    socket.take()
                    return socket.isEnded
                })
            #expect(await site.door.commands.isEmpty)
        }
    }

    /// Otherwise the download of its first call could end before the WebSocket receives
    /// notifications.
    @Test func webSocketIsAnsweredAfterSubscription() async throws {
        try await ServedSite.use { site in
            // The queue does not report its tasks yet.
            await site.door.hold()
            let socket = try await site.socket()
            socket.say(ServedSite.call())
            #expect(try await site.ask("POST /jsonrpc", "", ServedSite.call())?.status == 200)
            #expect(socket.text.isEmpty)
            await site.door.release()
            #expect(await ServedSite.message(socket)?.text.contains("version") == true)
        }
    }

    @Test func joinsFragments() async throws {
        try await ServedSite.use { site in
            let socket = try await site.socket()
            let text = Array(ServedSite.call().utf8)
            socket.send(WebClient.frame(Array(text[..<5]), isLast: false))
            socket.send(WebClient.frame([1, 2], opcode: 9))
            socket.send(WebClient.frame(Array(text[5...]), opcode: 0))
            let pong = await ServedSite.message(socket)
            #expect(pong?.opcode == 10 && pong?.payload == [1, 2])
            #expect(await ServedSite.message(socket)?.text.contains("version") == true)
        }
    }

    /// Clients that do not read: one that sends calls, and one that sends pings.
    @Test(arguments: [false, true])
    func closesWebSocketThatNeverReads(pings: Bool) async throws {
        try await ServedSite.use(limits: Self.limits { $0.replyTime = Self.short }) { site in
            let socket = try await site.socket(receiveBuffer: 2048)
            let frame =
                pings
                ? WebClient.frame([UInt8](repeating: 1, count: 125), opcode: 9)
                : WebClient.frame(Array(ServedSite.call("system.listMethods").utf8))
            let many = [UInt8]((0..<100).flatMap { _ in frame })
            var rest = many[...]
            let isGone = await soon {
                let count = socket.send(Array(rest))
                // Sends only complete frames.
                if count > 0 { rest = rest.dropFirst(count) }
                if rest.isEmpty { rest = many[...] }
                return socket.isGone
            }
            #expect(isGone)
        }
    }

    /// Only a few calls are read from a client that does not read the responses.
    @Test func limitsPendingCalls() async throws {
        try await ServedSite.use { site in
            await site.door.hold()
            let socket = try await site.socket()
            let call = ServedSite.call("aria2.tellActive")
            let padded = call + String(repeating: " ", count: (2 << 20) - call.utf8.count)
            let frame = WebClient.frame(Array(padded.utf8))
            var sent = 0
            var rest = frame[...]
            // The kernel buffers some megabytes, and the service reads a few calls.
            var idle = 0
            _ = await soon {
                let count = socket.send(Array(rest))
                idle = count > 0 ? 0 : idle + 1
                if count > 0 {
                    sent += count
                    rest = rest.dropFirst(count)
                }
                if rest.isEmpty { rest = frame[...] }
                return idle > 100 || sent > 32 << 20
            }
            #expect(sent < 28 << 20)
        }
    }

    /// The API reports the download folder and its free space.
    @Test func reportsDownloadFolder() async throws {
        try await ServedSite.use { site in
            let reply = try await site.ask("GET /api/v2/health", ServedSite.authorization)
            let health = try JSONDecoder().decode(
                HealthReport.self, from: Data(try #require(reply).body.utf8))
            #expect(health.folder == "/srv/downloads")
            #expect(try #require(health.freeBytes) > 0)
        }
    }

    /// If a folder does not exist yet, its nearest existing parent is used.
    @Test func freeSpaceIsOfNearestExistingFolder() throws {
        let home = try Sandbox()
        #expect(try #require(HealthReport.freeBytes(at: home.path)) > 0)
        #expect(try #require(HealthReport.freeBytes(at: home.path("a/b/c"))) > 0)
        #expect(try #require(HealthReport.freeBytes(at: "/no-such-folder/a")) > 0)
        _ = try home.write("file", "x")
        #expect(HealthReport.freeBytes(at: home.path("file/a")) == nil)
    }
}
