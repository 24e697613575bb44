import TestSupport
import Testing

/// Temporary errors: segget retries, and keeps the received data.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct RetryEndToEndTests {
    /// Each connection breaks after a random number of bytes.
    @Test(arguments: [OriginReply.Cut.fin, .rst], [1, 2, 3] as [UInt64])
    func completesIfEveryConnectionBreaks(cut: OriginReply.Cut, seed: UInt64) async throws {
        let trial = try WireTrial(size: 5_000_000, sendBuffer: 64 << 10) { request, reply in
            var generator = SplitMix64(seed: seed &* 1_000 &+ UInt64(request.number))
            reply.cutAfter = Int64.random(in: 1...600_000, using: &generator)
            reply.cut = cut
            reply.closeAfter = Bool.random(using: &generator)
        }
        let outcome = try await trial.run("-x", "4")
        try outcome.expectComplete(trial.content)
        // segget does not request received bytes again; a reset loses the bytes in flight.
        #expect(trial.excess <= (cut == .fin ? 1 << 20 : 4 << 20))
        #expect(try outcome.notices("retrying").allSatisfy { $0.reason == "network" })
    }

    /// Sends at most 1 MB in one response, so that one connection needs several requests.
    private static func cap(_ request: OriginRequest, _ reply: inout OriginReply) {
        guard request.method == "GET", let first = request.range?.first else { return }
        let size: Int64 = 4_000_000
        let range = first..<min(size, (request.range?.last ?? size) + 1, first + 1_000_000)
        reply.body = .content(Content(size: size, seed: 1), range)
        reply.set("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)")
    }

    @Test(arguments: [408, 429, 500, 502, 503, 504])
    func retriesOccasionalErrors(status: Int) async throws {
        let tally = Tally()
        let trial = try WireTrial(size: 4_000_000) { request, reply in
            Self.cap(request, &reply)
            if request.method == "GET", tally.add() % 3 == 2 { reply = .text(status, "busy") }
        }
        // One connection: of several, one could receive the whole file before the others send
        // requests, and segget repeats a request without a range if it fails before the first
        // correct range.
        let outcome = try await trial.run("-x", "1")
        try outcome.expectComplete(trial.content)
        let retries = try outcome.notices("retrying")
        #expect(!retries.isEmpty)
        #expect(
            retries.allSatisfy {
                $0.reason == "status" && $0.message?.contains("\(status)") == true
            })
        #expect(trial.excess <= 1 << 20)
    }

    @Test(arguments: [400, 402, 451, 501, 505])
    func permanentErrorsFailWithoutRetry(status: Int) async throws {
        let trial = try WireTrial(size: 4_000_000) { request, reply in
            if request.number > 3 { reply = .text(status) }
        }
        let outcome = try await trial.run("-x", "2")
        try outcome.expectFailure(code: 69, kind: "status")
        #expect(trial.origin.requests.count <= 8)
        #expect(try #require(try outcome.events("error").first?.bytesKept) > 0)
    }

    /// `Retry-After` in seconds or as a date; segget ignores invalid values.
    @Test(
        arguments: [
            ("2", 429), ("date", 503), ("0", 503), ("-5", 429), ("soon", 503), ("", 429),
        ])
    func retryAfterIsHonoured(value: String, status: Int) async throws {
        let trial = try WireTrial(size: 600_000) { request, reply in
            guard request.method == "GET", request.number <= 2 else { return }
            // HTTP dates have whole seconds, so that the wait is between 2 and 3 s.
            let field = value == "date" ? httpDate(secondsFromNow: 3) : value
            reply = .text(status, headers: [HeaderField("Retry-After", field)])
        }
        let outcome = try await trial.run("-x", "1", "--retries", "1")
        try outcome.expectComplete(trial.content)
        let gets = trial.gets
        try #require(gets.count >= 2)
        let wait = gets[1].time - gets[0].time
        if ["2", "date"].contains(value) { #expect(wait >= 1.9) }
        let delay = try #require(try outcome.notices("retrying").first?.delay)
        #expect(wait >= delay - 0.1 && wait < delay + 30)
    }

    /// The server sends `Retry-After` before segget knows anything about the file.
    @Test func probeHonoursRetryAfter() async throws {
        let trial = try WireTrial(size: 600_000) { request, reply in
            guard request.number <= 2 else { return }
            reply = .text(503, headers: [HeaderField("Retry-After", "1")])
        }
        let outcome = try await trial.run("--retries", "1")
        try outcome.expectComplete(trial.content)
        let gets = trial.gets
        try #require(gets.count >= 2)
        #expect(gets[1].time - gets[0].time >= 0.95)
    }

    @Test(arguments: ["86400", "99999999"])
    func tooLongRetryAfterFailsImmediately(value: String) async throws {
        let trial = try WireTrial(size: 4_000_000) { request, reply in
            guard request.number > 3 else { return }
            reply = .text(503, headers: [HeaderField("Retry-After", value)])
        }
        let outcome = try await trial.run("-x", "2")
        try outcome.expectFailure(code: 69, kind: "retry_after_too_long")
        #expect(outcome.errorOutput.contains("asks to wait"))
    }

    enum Silence: String, Sendable, CaseIterable {
        case beforeHeaders, atFirstByte, inBody
    }

    @Test(arguments: Silence.allCases)
    func retriesStalledRequests(silence: Silence) async throws {
        let tally = Tally()
        let trial = try WireTrial(size: 4_000_000, sendBuffer: 64 << 10) { request, reply in
            Self.cap(request, &reply)
            guard request.method == "GET" else { return }
            let number = tally.add()
            guard number == 2 || number == 4 else { return }
            switch silence {
            case .beforeHeaders: reply.delayBeforeHeaders = .infinity
            case .atFirstByte: reply.stallAfter = 0
            case .inBody: reply.stallAfter = 100_000
            }
        }
        // One connection: with several, segget would request the stalled range a second time first.
        let outcome = try await trial.run("-x", "1", "--stall-timeout", "0.5")
        try outcome.expectComplete(trial.content)
        let retries = try outcome.notices("retrying")
        #expect(retries.contains { $0.reason == "stalled" })
        #expect(outcome.errorOutput.contains("no data for"))
        #expect(outcome.wallSeconds < 100)
    }

    @Test func slowSteadyServerIsNotStalled() async throws {
        let trial = try WireTrial(size: 200_000, sendBuffer: 16 << 10) { _, reply in
            reply.pace = 40_000
        }
        let outcome = try await trial.run("-x", "1", "--stall-timeout", "3", "--retries", "0")
        try outcome.expectComplete(trial.content)
    }

    @Test func failsIfServerStallsIndefinitely() async throws {
        let trial = try WireTrial { request, reply in
            if request.method == "GET" { reply.delayBeforeHeaders = .infinity }
        }
        let outcome = try await trial.run("-x", "2", "--stall-timeout", "0.3", "--retries", "1")
        try outcome.expectFailure(code: 69, kind: "stalled", keepsPart: false)
        #expect(outcome.errorOutput.contains("--stall-timeout"))
        #expect(trial.gets.count <= 5)
    }

    @Test func zeroRetriesFailAtFirstError() async throws {
        let honest = try WireTrial(size: 4_000_000)
        try await honest.run("--retries", "0").expectComplete(honest.content)
        let tally = Tally()
        let trial = try WireTrial(size: 4_000_000) { request, reply in
            Self.cap(request, &reply)
            if request.method == "GET", tally.add() == 2 { reply = .text(503) }
        }
        // With several connections, segget could take the 503 for the server's limit.
        let outcome = try await trial.run("-x", "1", "--retries", "0")
        try outcome.expectFailure(code: 69, kind: "status")
        #expect(try outcome.notices("retrying").isEmpty)
    }

    /// The server serves two requests at a time.
    @Test(arguments: [503, 429, 403])
    func completesDespiteConnectionLimit(status: Int) async throws {
        let log = Guarded<Origin?>(nil)
        let trial = try WireTrial(size: 6_000_000, sendBuffer: 64 << 10) { request, reply in
            guard request.method == "GET" else { return }
            let busy = log.withLock { $0 }?.requests.count {
                $0.status == 206 && $0.finished == nil
            }
            if busy ?? 0 < 2 {
                reply.pace = 4_000_000
            } else {
                reply = .text(status, "too many")
            }
        }
        log.withLock { $0 = trial.origin }
        defer { log.withLock { $0 = nil } }
        let outcome = try await trial.run("-x", "8")
        try outcome.expectComplete(trial.content)
        #expect(trial.excess <= 1 << 20)
    }
}
