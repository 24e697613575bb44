import Glibc
import TestSupport
import Testing

/// Servers that stall on some or all connections, and pauses of segget itself.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct SilentServerEndToEndTests {
    private static let patient = ["--stall-timeout", "100"]

    /// One connection stalls in its body, or never responds, while the others continue.
    @Test(arguments: [true, false])
    func replacesOneStalledConnection(isAnswered: Bool) async throws {
        let tally = Tally()
        let trial = try WireTrial(size: 12_000_000, sendBuffer: 64 << 10) { request, reply in
            guard request.method == "GET" else { return }
            reply.pace = 700_000
            guard tally.add() == 2 else { return }
            if isAnswered {
                reply.stallAfter = 100_000
            } else {
                reply.delayBeforeHeaders = .infinity
            }
        }
        let outcome = try await trial.start(["-x", "4"] + Self.patient).ended()
        try outcome.expectComplete(trial.content)
        let rescued = try outcome.notices("rescued")
        let stolen = try outcome.notices("stole")
        // An idle connection may have taken its work before.
        #expect(!rescued.isEmpty || !stolen.isEmpty)
        #expect(rescued.allSatisfy { $0.seconds ?? 0 >= 1 })
        #expect(try outcome.notices("retrying").isEmpty)
        #expect(trial.excess <= 2 << 20)
    }

    /// All connections stall in their bodies; the server answers new requests.
    @Test(arguments: [1, 4])
    func replacesConnectionsIfAllStall(connections: Int) async throws {
        let trial = try WireTrial(size: 4_000_000, sendBuffer: 64 << 10) { request, reply in
            if request.method == "GET", request.connection <= connections + 1 {
                reply.stallAfter = 200_000
            }
        }
        let outcome = try await trial.start(["-x", "\(connections)"] + Self.patient).ended()
        try outcome.expectComplete(trial.content)
        #expect(try !outcome.notices("stall_over").isEmpty)
        #expect(try outcome.notices("retrying").isEmpty)
        #expect(trial.excess <= 2 << 20)
    }

    /// The server allows one connection and pauses within its response.
    ///
    /// It refuses the canary, which does no harm.
    @Test func completesAfterRefusedCanary() async throws {
        let trial = try WireTrial(size: 3_000_000, sendBuffer: 64 << 10) { request, reply in
            guard request.method == "GET" else { return }
            if request.openConnections > 1 {
                reply = .text(503)
            } else {
                reply.stallAfter = 500_000
                reply.stallFor = 4
            }
        }
        let outcome = try await trial.start(["-x", "1"] + Self.patient).ended()
        try outcome.expectComplete(trial.content)
        #expect(try !outcome.notices("stalled").isEmpty)
        #expect(try outcome.notices("stall_over").isEmpty)
        #expect(try outcome.notices("retrying").isEmpty)
        #expect(trial.gets.count { $0.openConnections == 1 } <= 16)
        #expect(trial.gets.count <= 30)
        #expect(trial.excess <= 1 << 20)
    }

    /// The server delays every response on all connections: segget keeps them all.
    @Test func delayedResponsesAreAwaited() async throws {
        let trial = try WireTrial(size: 2_000_000) { request, reply in
            if request.method == "GET" { reply.delayBeforeHeaders = 3 }
        }
        let outcome = try await trial.start(["-x", "4"] + Self.patient).ended()
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("stall_over").isEmpty)
        #expect(try outcome.notices("rescued").isEmpty)
        #expect(trial.excess <= 1 << 20)
    }

    /// The server answers only canary requests.
    ///
    /// The stall timeout ends the download, however often segget replaces stalled connections.
    @Test(arguments: [(3.0, 1), (10.0, 0)])
    func failsIfOnlyCanariesAreAnswered(stallTimeout: Double, retries: Int) async throws {
        let trial = try WireTrial(size: 3_000_000) { request, reply in
            guard request.method == "GET", request.range?.last != 0 else { return }
            reply.delayBeforeHeaders = .infinity
        }
        let outcome = try await trial.start([
            "-x", "2", "--stall-timeout", "\(stallTimeout)", "--retries", "\(retries)",
        ]).ended()
        try outcome.expectFailure(code: 69, kind: "stalled", keepsPart: false)
        let replaced = try outcome.notices("stall_over")
        #expect((1...4).contains(replaced.count), "\(outcome.errorOutput)")
        // After 1, 3 and 7 seconds: the next one, after 15, would be beyond the stall timeout.
        #expect(replaced.allSatisfy { ($0.time ?? 0) < 2 * stallTimeout + 6 })
        #expect(outcome.wallSeconds < 100)
    }

    /// Headers arrive without bodies.
    ///
    /// Idle connections must not keep stealing work from waiting ones.
    @Test(arguments: [0, 1_000_000] as [Int64])
    func headersWithoutBodiesEndStalled(served: Int64) async throws {
        let tally = Tally()
        let trial = try WireTrial(size: 1_500_000) { request, reply in
            guard let range = request.range, request.method == "GET" else { return }
            if range.first >= served {
                reply.stallAfter = 0
            } else if let last = range.last, last >= served {
                reply.stallAfter = served - range.first
            }
            tally.add()
        }
        let child = try trial.start(["-x", "8", "--stall-timeout", "4", "--retries", "1"])
        let outcome = try await child.ended()
        try outcome.expectFailure(code: 69, kind: "stalled", keepsPart: served > 0)
        #expect(tally.count() < 100)
    }

    /// The time in which segget was stopped (SIGSTOP) does not count as a stall.
    @Test func stoppedProcessReportsNoStall() async throws {
        let isUnnoticed = try await oneOfThree {
            let trial = try WireTrial(size: 6_000_000, sendBuffer: 64 << 10) { request, reply in
                if request.method == "GET" { reply.pace = 500_000 }
            }
            let child = try trial.start(["-x", "4", "--stall-timeout", "2"])
            #expect(eventually { trial.origin.bytesServed > 1_500_000 })
            child.signal(SIGSTOP)
            let end = monotonicSeconds() + 4
            _ = eventually { monotonicSeconds() >= end }
            child.signal(SIGCONT)
            let outcome = try await child.ended()
            try outcome.expectComplete(trial.content)
            return try outcome.notices().allSatisfy { $0.notice == "stole" }
        }
        #expect(isUnnoticed)
    }

    /// Connections paused by `--limit-rate` do not count as stalled.
    @Test func rateLimitReportsNoStall() async throws {
        let trial = try WireTrial(size: 1_000_000)
        let outcome = try await trial.start(["-x", "8", "--limit-rate", "200K"]).ended()
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("stalled").isEmpty)
        #expect(try outcome.notices("rescued").isEmpty)
    }
}
