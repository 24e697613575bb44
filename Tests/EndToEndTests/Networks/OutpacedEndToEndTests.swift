import TestSupport
import Testing

/// A connection that is far slower than its peers.
@Suite(.timeLimit(.minutes(5)))
struct OutpacedEndToEndTests {
    /// segget replaces the slow connection, and the new one is as fast as the others.
    @Test func slowConnectionIsReplaced() async throws {
        let slow = 3
        let trial = try WireTrial(size: 12_000_000) { request, reply in
            reply.pace = request.connection == slow ? 40_000 : 1_000_000
        }
        let outcome = try await trial.run("-x", "4")
        try outcome.expectComplete(trial.content)
        let outpaced = try outcome.notices("outpaced")
        #expect(outpaced.count == 1, "\(outcome.errorOutput)")
        #expect(trial.gets.contains { $0.connection > 4 && $0.bytesServed > 400_000 })
        // The slow connection served only the request that was in flight.
        #expect(trial.gets.count { $0.connection == slow } == 1)
    }

    /// A connection that is only slightly slower stays: a new one would need time to speed up.
    @Test func slightlySlowConnectionStays() async throws {
        let trial = try WireTrial(size: 6_000_000) { request, reply in
            reply.pace = request.connection == 3 ? 250_000 : 1_000_000
        }
        let outcome = try await trial.run("-x", "4")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("outpaced").isEmpty)
    }
}
