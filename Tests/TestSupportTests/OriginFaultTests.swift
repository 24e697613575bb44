import Glibc
import TestSupport
import Testing

/// Tests that curl receives each fault of the origin.
@Suite(.timeLimit(.minutes(5)))
struct OriginFaultTests {
    static let content = Content(size: 1_000_000, seed: 12)
    static let whole = content.bytes(0..<1_000_000)

    static func origin(_ change: @escaping @Sendable (inout OriginReply) -> Void) throws
        -> Origin
    {
        try Origin { OriginReply.file(content, for: $0).with(change) }
    }

    @Test(arguments: [(.fin, 18), (.rst, 56)] as [(OriginReply.Cut, Int32)])
    func cutsConnection(how: OriginReply.Cut, exitCode: Int32) throws {
        let origin = try Self.origin {
            $0.cutAfter = 600_001
            $0.cut = how
        }
        let reply = try Curl.get(origin.url("/a"))
        #expect(reply.exitCode == exitCode)
        #expect(Self.content.matches(reply.body, in: 0..<600_001))
        #expect(origin.bytesServed == 600_001)
    }

    @Test(
        arguments: [(.closeWithoutReply, 52), (.resetWithoutReply, 56)] as [(OriginReply, Int32)])
    func closesWithoutReply(reply: OriginReply, exitCode: Int32) throws {
        let origin = try Origin { _ in reply }
        #expect(try Curl.get(origin.url("/a")).exitCode == exitCode)
        #expect(origin.requests.count == 1)
    }

    @Test func sendsChunkedBody() throws {
        let origin = try Self.origin { $0.framing = .chunked }
        let url = origin.url("/a")
        let reply = try Curl.get(url, url)
        #expect(reply.exitCode == 0)
        #expect(reply.header("Content-Length") == nil)
        #expect(reply.header("Transfer-Encoding") == "chunked")
        let isTwice = reply.body == Self.whole + Self.whole
        #expect(isTwice)
        #expect(origin.acceptedConnections == 1)
    }

    @Test func cutsChunkedBody() throws {
        let origin = try Self.origin {
            $0.framing = .chunked
            $0.cutAfter = 1_000_000
        }
        let reply = try Curl.get(origin.url("/a"))
        #expect(reply.exitCode == 18)
        #expect(Self.content.matches(reply.body, in: 0..<1_000_000))
    }

    @Test func closeDelimitsBody() throws {
        let origin = try Self.origin { $0.framing = .close }
        let reply = try Curl.get(origin.url("/a"))
        #expect(reply.exitCode == 0)
        #expect(reply.header("Content-Length") == nil)
        #expect(Self.content.matches(reply.body, in: 0..<1_000_000))
    }

    @Test func sendsFalseContentLength() throws {
        let longer = try Self.origin { $0.claimedLength = 1_000_001 }
        #expect(try Curl.get(longer.url("/a")).exitCode == 18)
        let shorter = try Self.origin { $0.claimedLength = 10 }
        let reply = try Curl.get(shorter.url("/a"))
        #expect(Self.content.matches(reply.body, in: 0..<10))
    }

    @Test(arguments: [1e6, 4e6])
    func limitsSpeed(rate: Double) throws {
        let origin = try Self.origin { $0.pace = rate }
        // A busy machine can only make it slower.
        let isInTime = try (1...3).contains { _ in
            let reply = try Curl.get(origin.url("/a"))
            #expect(Self.content.matches(reply.body, in: 0..<1_000_000))
            #expect(reply.seconds * rate / 1e6 >= 0.95)
            return reply.seconds * rate / 1e6 <= 2.5
        }
        #expect(isInTime)
    }

    @Test func paceIsSmooth() throws {
        let origin = try Self.origin { $0.pace = 1e6 }
        let url = origin.url("/a")
        // On a busy machine, this test may sample too rarely.
        let isSmooth = try (1...3).contains { _ in
            let client = try Run("/usr/bin/curl", ["-q", "-sS", "-o", "/dev/null", url])
            var served: [Int64] = []
            #expect(
                eventually {
                    served.append(origin.bytesServed)
                    return !client.isRunning
                })
            let steps = zip(served.dropFirst(), served).map { $0 - $1 }
            // It writes every 10 ms for a second; a burst would be a large part of the file.
            return Set(served).count > 25 && (steps.max() ?? 0) < 250_000
        }
        #expect(isSmooth)
    }

    @Test func releaseEndsPace() throws {
        let release = Guarded(false)
        let origin = try Self.origin {
            $0.stallAfter = 1000
            $0.pace = 1000
            $0.release = release
        }
        let client = try Run("/usr/bin/curl", ["-q", "-sSN", origin.url("/a")])
        #expect(eventually { origin.bytesServed == 1000 })
        #expect(client.isRunning)
        release.withLock { $0 = true }
        // At that pace it would take 15 minutes.
        let outcome = try client.wait()
        #expect(Self.content.matches(outcome.standardOutput, in: 0..<1_000_000))
    }

    @Test func stallEndsWithTheOrigin() throws {
        let origin = try Self.origin { $0.stallAfter = 1000 }
        let client = try Run("/usr/bin/curl", ["-q", "-sSN", origin.url("/a")])
        #expect(eventually { client.output.utf8.count > 0 && origin.bytesServed == 1000 })
        #expect(client.isRunning)
        #expect(origin.openConnections == 1)
        let start = monotonicSeconds()
        origin.stop()
        #expect(monotonicSeconds() - start < 50)
        let outcome = try client.wait(timeout: 120)
        #expect(outcome.exitCode == 18)
        #expect(Self.content.matches(outcome.standardOutput, in: 0..<1000))
    }

    @Test func stallEndsWithTheClient() throws {
        let origin = try Self.origin { $0.stallAfter = 0 }
        let client = try Run("/usr/bin/curl", ["-q", "-sS", origin.url("/a")])
        #expect(eventually { origin.requests.first?.status == 200 })
        client.signal(SIGKILL)
        #expect(try client.wait().end == .signal(SIGKILL))
        #expect(eventually { origin.openConnections == 0 })
        #expect(origin.requests[0].finished != nil)
    }

    @Test func stallsAndDelaysForGivenTime() throws {
        let origin = try Self.origin {
            $0.stallAfter = 1000
            $0.stallFor = 0.3
            $0.delayBeforeHeaders = 0.3
        }
        let reply = try Curl.get(origin.url("/a"))
        #expect(Self.content.matches(reply.body, in: 0..<1_000_000))
        #expect((0.6...50).contains(reply.seconds))
    }

    @Test func sendsRawBytes() throws {
        let origin = try Origin { _ in .raw("HTTP/1.1 200 Fine\r\nX: y\r\n\r\n\u{0}hello") }
        let reply = try Curl.get(origin.url("/a"))
        #expect(reply.head == "HTTP/1.1 200 Fine\r\nX: y\r\n\r\n")
        #expect(reply.body == Array("\u{0}hello".utf8))
        let garbage = try Origin { _ in .raw([0xFF, 0x00, 0x0A]) }
        #expect(try Curl.get(garbage.url("/a")).exitCode == 1)
    }

    @Test func corruptsOneByte() throws {
        let origin = try Self.origin { $0.corruptAt = [700_000] }
        var expected = Array(Self.whole[600_000..<800_000])
        expected[100_000] ^= 0xFF
        let isDamaged = try Curl.get("-r", "600000-799999", origin.url("/a")).body == expected
        #expect(isDamaged)
        let other = try Curl.get("-r", "0-9", origin.url("/a"))
        #expect(Self.content.matches(other.body, in: 0..<10))
    }

    @Test func sendsHeadersUnchanged() throws {
        let origin = try Origin { _ in
            OriginReply.text(
                503, "later", headers: [HeaderField("Retry-After", "2"), HeaderField("X", "")]
            ).with {
                $0.reason = "Not Now"
                $0.interim = [.init(103, [HeaderField("Link", "<a>")]), .init(103)]
                $0.closeAfter = true
            }
        }
        let reply = try Curl.get(origin.url("/a"))
        #expect(
            reply.head == "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n"
                + "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 503 Not Now\r\nRetry-After: 2\r\n"
                + "X: \r\nContent-Length: 5\r\nConnection: close\r\n\r\n")
        #expect(reply.body == Array("later".utf8))
        #expect(eventually { origin.openConnections == 0 })
    }

    @Test func refusesConnectionsTemporarily() throws {
        let origin = try Self.origin { _ in }
        origin.refuseConnections()
        #expect(try Curl.get(origin.url("/a")).exitCode == 7)
        try origin.acceptConnections()
        #expect(try Self.content.matches(Curl.get(origin.url("/a")).body, in: 0..<1_000_000))
    }

    @Test func dropsConnections() throws {
        let origin = try Self.origin { $0.stallAfter = 10 }
        let clients = try (0..<3).map { _ in
            try Run("/usr/bin/curl", ["-q", "-sS", origin.url("/a")])
        }
        #expect(eventually { origin.bytesServed == 30 })
        #expect(origin.peakConnections == 3)
        #expect(origin.requests.map(\.openConnections).max() == 3)
        origin.dropConnections()
        for client in clients { #expect(try client.wait(timeout: 120).exitCode == 18) }
    }
}
