import TestSupport
import Testing

/// Canary requests to a server that answers with `Retry-After`.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct CanaryEndToEndTests {
    /// segget sends no request before the time in `Retry-After`.
    ///
    /// The bodies stall, and the first new request gets a 503.
    @Test func retryAfterIsHeeded() async throws {
        let canaries = Tally()
        let trial = try WireTrial(size: 3_000_000, sendBuffer: 32 << 10) { request, reply in
            guard request.method == "GET" else { return }
            if request.range?.last == 0 {
                guard canaries.add() == 1 else { return }
                reply = .text(503, "busy", headers: [HeaderField("Retry-After", "3")])
            } else if canaries.count() == 0 {
                reply.stallAfter = 200_000
            }
        }
        let outcome = try await trial.run("-x", "2", "--stall-timeout", "60")
        try outcome.expectComplete(trial.content)
        #expect(try !outcome.notices("stall_over").isEmpty, "\(outcome.errorOutput)")
        let requests = trial.gets
        let first = try #require(requests.first { $0.range?.last == 0 })
        let later = requests.filter { $0.number > first.number }
        #expect(!later.isEmpty)
        #expect(later.allSatisfy { $0.time - first.time >= 3 }, "\(outcome.errorOutput)")
    }
}
