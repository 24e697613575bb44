import Foundation
import SeggetReports
import SeggetQueue
import TestSupport
import Testing

@testable import SeggetService

/// What clients over TCP may take up.
@Suite(.timeLimit(.minutes(10)))
struct SiteBoundsTests {
    /// The time after which something is given up, in tests that wait for that.
    private static let short = Duration.milliseconds(200)

    private static func limits(_ change: (inout ServerLimits) -> Void) -> ServerLimits {
        var limits = ServerLimits.web
        change(&limits)
        return limits
    }

    @Test func theBoundsAreThoseOfTheManual() {
        #expect(ServerLimits.web.body == 2 << 20)
        #expect(ServerLimits.web.connections == 256)
        #expect(ServerLimits.web.headTime == .seconds(10))
        #expect(JSONValue.mostLevels == 64)
    }

    @Test func oneTooManyIsClosed() async throws {
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

    @Test func aHeadThatDoesNotComeIsGivenUp() async throws {
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

    /// The time for a head is none for a WebSocket.
    @Test func aWebSocketStays() async throws {
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

    @Test func aBodyThatDoesNotComeIsRefused() async throws {
        try await ServedSite.use(limits: Self.limits { $0.bodyTime = Self.short }) { site in
            let stalled = try site.connect()
            stalled.send("POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{")
            #expect(await ServedSite.reply(stalled)?.status == 408)
        }
    }

    // MARK: WebSockets

    /// What a client sends, and the status with which it is closed.
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
    func aWebSocketIsBounded(row: Int) async throws {
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

    /// Whatever a client sends behind the end of its WebSocket.
    @Test(arguments: [
        WebClient.frame([3, 232], opcode: 8), WebClient.frame([], opcode: 3),
        WebClient.frame([32], opcode: 0),
    ])
    func nothingBehindTheEndIsCarriedOut(end: [UInt8]) async throws {
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

    /// Else what its first call has begun could be over before it hears of anything.
    @Test func aWebSocketIsAnsweredOnceItHearsWhatHappens() async throws {
        try await ServedSite.use { site in
            // The queue does not say yet what tasks there are.
            await site.door.hold()
            let socket = try await site.socket()
            socket.say(ServedSite.call())
            #expect(try await site.ask("POST /jsonrpc", "", ServedSite.call())?.status == 200)
            #expect(socket.text.isEmpty)
            await site.door.release()
            #expect(await ServedSite.message(socket)?.text.contains("version") == true)
        }
    }

    @Test func fragmentsAreOneMessage() async throws {
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

    /// One that calls and one that pings, and neither reads.
    @Test(arguments: [false, true])
    func aWebSocketThatNeverReadsIsClosed(pings: Bool) async throws {
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
                // Whole frames only.
                if count > 0 { rest = rest.dropFirst(count) }
                if rest.isEmpty { rest = many[...] }
                return socket.isGone
            }
            #expect(isGone)
        }
    }

    /// A client that calls and does not read has few calls taken from it.
    @Test func callsDoNotPileUp() async throws {
        try await ServedSite.use { site in
            await site.door.hold()
            let socket = try await site.socket()
            let call = ServedSite.call("aria2.tellActive")
            let padded = call + String(repeating: " ", count: (2 << 20) - call.utf8.count)
            let frame = WebClient.frame(Array(padded.utf8))
            var sent = 0
            var rest = frame[...]
            // As long as bytes go: the kernel's buffers take some megabytes, the service a few calls.
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

    /// Clients are told where their files go, and how much room there is.
    @Test func clientsAreToldOfTheirFolder() async throws {
        try await ServedSite.use { site in
            let reply = try await site.ask("GET /api/v2/health", ServedSite.authorization)
            let health = try JSONDecoder().decode(
                HealthReport.self, from: Data(try #require(reply).body.utf8))
            #expect(health.folder == "/srv/downloads")
            #expect(try #require(health.freeBytes) > 0)
        }
    }

    /// Of a folder that is not there yet, the one counts that it is to be in.
    @Test func roomIsThatOfTheFolderThatIsThere() throws {
        let home = try Sandbox()
        #expect(try #require(QueueAPI.freeBytes(at: home.path)) > 0)
        #expect(try #require(QueueAPI.freeBytes(at: home.path("a/b/c"))) > 0)
        #expect(try #require(QueueAPI.freeBytes(at: "/no-such-folder/a")) > 0)
        _ = try home.write("file", "x")
        #expect(QueueAPI.freeBytes(at: home.path("file/a")) == nil)
    }
}
