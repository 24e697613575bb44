import TestSupport
import Testing

/// No download hangs indefinitely: each ends within the limits that the options set.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct EndingEndToEndTests {
    enum Break: String, Sendable, CaseIterable {
        case fin, rst, silence
    }

    /// Returns a correct response as raw bytes, broken after `offset` of them.
    ///
    /// A negative offset counts from the end.
    private static func broken(
        _ reply: OriginReply, at offset: Int, _ kind: Break, _ request: OriginRequest
    ) -> OriginReply {
        guard case .content(let content, let range) = reply.body else { return reply }
        var head = "HTTP/1.1 \(reply.status) OK\r\nContent-Length: \(range.count)\r\n"
        for field in reply.headers { head += "\(field.name): \(field.value)\r\n" }
        var bytes = Array((head + "\r\n").utf8)
        let headLength = bytes.count
        if request.method == "GET" { bytes += content.bytes(range) }
        // Offsets from 9,000 on are relative to the end of the header section, which is 10,001.
        let place =
            switch offset {
            case ..<0: bytes.count + offset
            case 9_000...: headLength + offset - 10_001
            default: offset
            }
        return OriginReply.raw(bytes).with {
            let at = Int64(min(place, bytes.count))
            if kind == .silence { $0.stallAfter = at } else { $0.cutAfter = at }
            $0.cut = kind == .rst ? .rst : .fin
        }
    }

    /// Within the head, around its end, within the body, and just before the end.
    private static let offsets = [
        0, 1, 8, 9, 12, 13, 15, 16, 17, 40, 9_999, 10_000, 10_001, 10_002, 11_000, 60_001, -1,
    ]

    /// Every other response breaks at the same byte; the download still completes.
    @Test(arguments: Break.allCases)
    func completesIfEveryOtherReplyBreaks(kind: Break) async throws {
        try await withThrowingTaskGroup { group in
            for offset in Self.offsets {
                group.addTask {
                    let trial = try WireTrial(size: 400_000) { request, reply in
                        guard request.number % 2 == 0 else { return }
                        reply = Self.broken(reply, at: offset, kind, request)
                    }
                    let outcome = try await trial.run("-x", "2", "--stall-timeout", "0.7")
                    try outcome.expectComplete(trial.content)
                    #expect(outcome.wallSeconds < 120, "\(kind) at \(offset)")
                }
            }
            try await group.waitForAll()
        }
    }

    /// Every response breaks before the first byte of its body; the download fails in bounded time.
    @Test(arguments: Break.allCases)
    func failsIfEveryReplyBreaks(kind: Break) async throws {
        try await withThrowingTaskGroup { group in
            for offset in [0, 1, 12, 16, 40, 9_999, 10_000] {
                group.addTask {
                    let trial = try WireTrial(size: 400_000) { request, reply in
                        reply = Self.broken(reply, at: offset, kind, request)
                    }
                    let outcome = try await trial.run(
                        "-x", "4", "--stall-timeout", "0.5", "--retries", "2")
                    let context = Comment(rawValue: "\(kind) at \(offset): \(outcome.errorOutput)")
                    #expect(outcome.exitCode == 69, context)
                    let names = try trial.sandbox.names()
                    #expect(!names.contains("file.bin"), context)
                    #expect(trial.origin.requests.count <= 1 + 2 * 4 * 4, context)
                    #expect(outcome.wallSeconds < 100, context)
                }
            }
            try await group.waitForAll()
        }
    }

    /// The header section arrives slowly: header bytes do not reset the stall timeout.
    @Test(arguments: ["GET", "HEAD"])
    func slowHeaderSectionEnds(method: String) async throws {
        let trial = try WireTrial { request, reply in
            guard request.method == method else { return }
            let fields = (0..<5000).map { "X-\($0): y\r\n" }.joined()
            reply = OriginReply.raw("HTTP/1.1 200 OK\r\n" + fields).with { $0.pace = 40 }
        }
        let outcome = try await trial.run("-x", "2", "--stall-timeout", "1", "--retries", "1")
        if method == "HEAD" {
            try outcome.expectComplete(trial.content)
        } else {
            try outcome.expectFailure(code: 69, kind: "stalled", keepsPart: false)
        }
        #expect(outcome.wallSeconds < 100)
    }

    /// The body of each error response arrives very slowly.
    @Test(arguments: [500, 503])
    func slowErrorBodiesEnd(status: Int) async throws {
        let trial = try WireTrial { request, reply in
            guard request.method == "GET" else { return }
            reply = OriginReply.text(status, String(repeating: "x", count: 60_000))
                .with { $0.pace = 20 }
        }
        let outcome = try await trial.run("-x", "2", "--stall-timeout", "0.5", "--retries", "1")
        try outcome.expectFailure(code: 69, kind: "status", keepsPart: false)
        #expect(outcome.wallSeconds < 100)
    }

    @Test func hugeErrorBodiesAreNotRead() async throws {
        let huge = Content(size: 1 << 30, seed: 5)
        let trial = try WireTrial(size: 2_000_000, sendBuffer: 64 << 10) { request, reply in
            guard request.method == "GET", request.number % 2 == 0 else { return }
            reply = OriginReply(status: 500, body: .content(huge, 0..<huge.size))
            if request.number % 4 == 0 { reply.framing = .chunked }
        }
        let outcome = try await trial.run("-x", "2")
        try outcome.expectComplete(trial.content)
        #expect(trial.origin.bytesServed < 64 << 20)
    }

    /// Each attempt fails in another way.
    ///
    /// The first four `GET` requests succeed: segget tries a host only three times before its first
    /// byte.
    @Test func completesDespiteAlternatingErrors() async throws {
        let tally = Tally()
        let trial = try WireTrial(size: 4_000_000, sendBuffer: 64 << 10) { request, reply in
            guard request.method == "GET" else { return }
            switch (tally.add() - 4) % 12 {
            case 1: reply = .text(500)
            case 2: reply = .text(502, "<html>")
            case 3: reply = .text(504)
            case 4: reply = .text(503, headers: [HeaderField("Retry-After", "0")])
            case 5: reply = .resetWithoutReply
            case 6: reply = .closeWithoutReply
            case 7: (reply.cutAfter, reply.cut) = (70_000, .rst)
            case 8: reply.stallAfter = 90_000
            case 9: reply = .raw("\u{1}\u{2}\u{3} what?\r\n\r\n")
            default: break
            }
        }
        let outcome = try await trial.run("-x", "4", "--stall-timeout", "1")
        try outcome.expectComplete(trial.content)
        #expect(outcome.wallSeconds < 150)
    }

    /// Bytes arrive slowly, each within the stall timeout: `--max-time` ends the download.
    @Test func maxTimeEndsSlowBody() async throws {
        let trial = try WireTrial { request, reply in
            if request.method == "GET" { reply.pace = 10 }
        }
        let outcome = try await trial.run(
            "-x", "2", "--stall-timeout", "3", "--max-time", "7")
        #expect(outcome.exitCode == 75, "\(outcome.errorOutput)")
        #expect(try outcome.notices("retrying").allSatisfy { $0.reason != "stalled" })
        #expect(outcome.wallSeconds < 60)
    }

    @Test func redirectToClosedPortFails() async throws {
        let port = try Nginx.freePort()
        let trial = try WireTrial { _, reply in
            reply = .text(302, headers: [HeaderField("Location", "http://127.0.0.1:\(port)/x")])
        }
        let outcome = try await trial.run("--retries", "1")
        try outcome.expectFailure(code: 69, kind: "network", keepsPart: false)
        #expect(outcome.wallSeconds < 60)
    }

    /// The URL starts to redirect in a loop during the download.
    @Test func redirectLoopDuringDownloadEnds() async throws {
        let trial = try WireTrial(size: 4_000_000) { request, reply in
            guard request.number > 3 else { return }
            let next = request.path == "/a" ? "/b" : "/a"
            reply = .text(302, headers: [HeaderField("Location", next)])
        }
        let outcome = try await trial.run("-x", "2", "--retries", "2")
        try outcome.expectFailure(code: 69, kind: "too_many_redirects")
        #expect(trial.origin.requests.count < 200)
    }
}
