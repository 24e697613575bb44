import TestSupport
import Testing

/// `--min-rate`: segget opens new connections first, and then fails.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct MinRateTests {
    private static let options = ["--min-rate", "100K", "--min-rate-time", "1"]

    @Test func failsIfServerIsTooSlow() async throws {
        let trial = try WireTrial { request, reply in
            if request.method == "GET" { reply.pace = 2000 }
        }
        let outcome = try await trial.run("-x", "2", "--min-rate", "100K", "--min-rate-time", "1")
        try outcome.expectFailure(code: 69, kind: "too_slow")
        #expect(try outcome.notices("changing_connections").count == 1)
        // One connection for `HEAD` and the first request, and two for each period.
        #expect((4...5).contains(trial.origin.acceptedConnections))
        #expect(outcome.errorOutput.contains("`--min-rate` requires 100 KiB/s"))
        #expect(try outcome.events().last?.bytesKept ?? 0 > 0)
    }

    /// Neither a rate limit above the received rate nor pauses between bytes disable `--min-rate`.
    @Test func highRateLimitDoesNotDisableMinRate() async throws {
        let trial = try WireTrial { request, reply in
            if request.method == "GET" { reply.pace = 20 }
        }
        let outcome = try await trial.run(
            "-x", "2", "--limit-rate", "1M", "--min-rate", "100K", "--min-rate-time", "1")
        try outcome.expectFailure(code: 69, kind: "too_slow")
    }

    @Test func sameCommandResumesAfterFailure() throws {
        let stage = try Stage(size: 4_000_000)
        stage.origin.bendGET { $0.pace = 20_000 }
        let outcome = try stage.run(["-x", "2"] + Self.options)
        #expect(outcome.end == .exit(69), "\(outcome.errorOutput)")
        let kept = try #require(stage.recorded())
        #expect(kept > 0)
        stage.origin.behave()
        let again = try stage.run(["-x", "2", "--json"] + Self.options)
        #expect(again.end == .exit(0), "\(again.errorOutput)")
        #expect(try jsonEvents(again.output).last?["bytes_resumed"] as? Int64 == kept)
        #expect(try stage.isRight())
    }

    @Test func completesIfNewConnectionsAreFast() async throws {
        let trial = try WireTrial { request, reply in
            if request.method == "GET", request.connection <= 2 { reply.pace = 2000 }
        }
        let outcome = try await trial.run("-x", "2", "--min-rate", "100K", "--min-rate-time", "1")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("changing_connections").count == 1)
        #expect(trial.excess <= 1 << 20)
    }

    /// segget does not replace the connection of a stream that it cannot resume.
    @Test func streamWithoutRangesKeepsConnection() async throws {
        let trial = try WireTrial { request, content in
            OriginReply.file(content, for: request, etag: "\"a\"", ranges: false).with {
                $0.pace = 2000
            }
        }
        let outcome = try await trial.run("--min-rate", "100K", "--min-rate-time", "1")
        try outcome.expectFailure(code: 69, kind: "too_slow")
        #expect(try outcome.notices("changing_connections").isEmpty)
        #expect(trial.gets.count == 1)
    }

    /// The download is slow because of `--limit-rate`, not because of the server.
    @Test(arguments: ["1", "4"])
    func rateLimitDoesNotCountAsTooSlow(connections: String) async throws {
        let trial = try WireTrial(size: 800_000)
        let outcome = try await trial.run(
            "-x", connections, "--limit-rate", "300K", "--min-rate", "300K", "--min-rate-time",
            "1")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("changing_connections").isEmpty)
    }

    @Test func fastServerKeepsConnections() async throws {
        let trial = try WireTrial(size: 2_000_000) { request, reply in
            if request.method == "GET" { reply.pace = 400_000 }
        }
        let outcome = try await trial.run("-x", "2", "--min-rate", "100K", "--min-rate-time", "2")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("changing_connections").isEmpty)
    }
}
