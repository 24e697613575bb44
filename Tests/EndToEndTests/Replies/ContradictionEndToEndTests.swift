import TestSupport
import Testing

/// Servers that contradict themselves from the start: they are not asked by many connections, nor for
/// long.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ContradictionEndToEndTests {
    static let size: Int64 = 8_000_000

    /// What a range is answered with.
    enum Lie: String, Sendable, CaseIterable {
        case anotherStart, theBeginning, anotherTotal

        func bend(_ range: RequestedRange, _ reply: inout OriginReply) {
            let content = Content(size: size, seed: 666)
            let (first, last) = (range.first, min(range.last ?? size - 1, size - 1))
            var (start, end, total) = (first, last, size)
            switch self {
            case .anotherStart: start = min(first + 1, last)
            case .theBeginning: (start, end) = (0, last - first)
            case .anotherTotal: total = size + 1 + first % 1000
            }
            reply.set("Content-Range", "bytes \(start)-\(end)/\(total)")
            reply.body = .content(content, start..<end + 1)
        }
    }

    /// Ends soon, after few requests, with nothing published.
    @Test(arguments: Lie.allCases, ["4", "64"])
    func endsSoonAndAfterFewRequests(lie: Lie, connections: String) async throws {
        let trial = try WireTrial(size: Self.size) { request, reply in
            guard request.method == "GET" else { return }
            guard let range = request.range else {
                // Not even the whole file is to be had.
                reply = .text(416)
                return
            }
            lie.bend(range, &reply)
        }
        let outcome = try await trial.run("-x", connections, "--retries", "5")
        #expect(outcome.exitCode != 0, "\(outcome.errorOutput)")
        #expect(try !trial.sandbox.names().contains("file.bin"))
        // How many depends on how late replies come; 64 connections that know nothing of each other would make 384.
        #expect(trial.origin.requests.count < 100, "\(outcome.errorOutput)")
        // Each connection waits by itself: none of them for longer than that.
        let delays = try outcome.notices("retrying").compactMap(\.delay)
        #expect(delays.allSatisfy { $0 <= 2 }, "\(outcome.errorOutput)")
    }

    /// Before a range was right no more than four are asked for; then as many as are wanted.
    @Test func fewAreAskedForBeforeARangeWasRight() async throws {
        let asked = Tally()
        let open = Guarded<Int?>(nil)
        let trial = try WireTrial(size: Self.size, sendBuffer: 32 << 10) { request, reply in
            guard request.method == "GET" else { return }
            reply.pace = 400_000
            asked.add()
            // Nobody is answered before it is known how many ask: one more would come at once.
            _ = eventually { asked.count() >= 4 }
            _ = eventually(timeout: 1) { asked.count() > 6 || open.withLock { $0 } != nil }
            open.withLock { $0 = $0 ?? asked.count() }
        }
        let outcome = try await trial.run("-x", "16")
        try trial.expectComplete(outcome)
        // A late response to `HEAD` adds a `GET` beside it, and a second without a byte adds a canary.
        #expect((4...6).contains(open.withLock { $0 } ?? 0))
        #expect(trial.origin.peakConnections >= 12)
    }

    /// Whoever is right once, and lies for a moment later, is not given up so soon.
    @Test func aServerThatWasRightHasMorePatience() async throws {
        let tally = Tally()
        let trial = try WireTrial(size: Self.size) { request, reply in
            guard let range = request.range, request.method == "GET" else { return }
            if (5...9).contains(tally.add()) { Lie.anotherStart.bend(range, &reply) }
        }
        let outcome = try await trial.run("-x", "2", "--retries", "8")
        try trial.expectComplete(outcome)
    }
}
