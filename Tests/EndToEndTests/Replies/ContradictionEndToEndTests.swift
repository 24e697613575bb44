import TestSupport
import Testing

/// Servers that contradict themselves from the start get few connections and few retries.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ContradictionEndToEndTests {
    static let size: Int64 = 8_000_000

    /// A wrong reply to a range request.
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

    /// The run fails after few requests and publishes no file.
    @Test(arguments: Lie.allCases, ["4", "64"])
    func failsAfterFewRequests(lie: Lie, connections: String) async throws {
        let trial = try WireTrial(size: Self.size) { request, reply in
            guard request.method == "GET" else { return }
            guard let range = request.range else {
                // The whole file is not available either.
                reply = .text(416)
                return
            }
            lie.bend(range, &reply)
        }
        let outcome = try await trial.run("-x", connections, "--retries", "5")
        #expect(outcome.exitCode != 0, "\(outcome.errorOutput)")
        #expect(try !trial.sandbox.names().contains("file.bin"))
        // The number depends on when replies arrive; 64 independent connections would send 384
        // requests.
        #expect(trial.origin.requests.count < 100, "\(outcome.errorOutput)")
        // Each connection has a separate retry delay, of at most 2 s.
        let delays = try outcome.notices("retrying").compactMap(\.delay)
        #expect(delays.allSatisfy { $0 <= 2 }, "\(outcome.errorOutput)")
    }

    /// At most four requests are sent before a range is correct; afterwards all connections are
    /// used.
    @Test func limitsRequestsUntilFirstCorrectRange() async throws {
        let asked = Tally()
        let open = Guarded<Int?>(nil)
        let trial = try WireTrial(size: Self.size, sendBuffer: 32 << 10) { request, reply in
            guard request.method == "GET" else { return }
            reply.pace = 400_000
            asked.add()
            // All replies wait until the number of requests is known: a finished request is
            // replaced by a new one.
            _ = eventually { asked.count() >= 4 }
            _ = eventually(timeout: 1) { asked.count() > 6 || open.withLock { $0 } != nil }
            open.withLock { $0 = $0 ?? asked.count() }
        }
        let outcome = try await trial.run("-x", "16")
        try outcome.expectComplete(trial.content)
        // A late response to `HEAD` adds a parallel `GET`, and a second without a byte adds a
        // canary.
        #expect((4...6).contains(open.withLock { $0 } ?? 0))
        #expect(trial.origin.peakConnections >= 12)
    }

    /// A server that has sent one correct range may send several wrong ones.
    @Test func toleratesWrongRangesAfterCorrectOne() async throws {
        let tally = Tally()
        let trial = try WireTrial(size: Self.size) { request, reply in
            guard let range = request.range, request.method == "GET" else { return }
            if (5...9).contains(tally.add()) { Lie.anotherStart.bend(range, &reply) }
        }
        let outcome = try await trial.run("-x", "2", "--retries", "8")
        try outcome.expectComplete(trial.content)
    }
}
