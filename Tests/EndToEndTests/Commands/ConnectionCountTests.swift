import TestSupport
import Testing

/// Tests that segget opens as many connections as increase the speed, without `--connections`.
@Suite(.timeLimit(.minutes(5)))
struct ConnectionCountTests {
    /// If each connection is limited separately, segget opens more.
    @Test func opensManyIfEachIsSlow() async throws {
        let trial = try WireTrial(size: 24_000_000, sendBuffer: 32 << 10) { request, reply in
            if request.method == "GET" { reply.pace = 300_000 }
        }
        let outcome = try await trial.run("-x", "auto")
        try outcome.expectComplete(trial.content)
        #expect(trial.origin.peakConnections >= 16)
        let numbers = try outcome.notices("connections").compactMap(\.connections)
        #expect(numbers.max() ?? 0 >= 16, "\(numbers)")
    }

    /// If one connection reaches the full speed, segget opens few.
    @Test func opensFewIfOneSuffices() async throws {
        // Another process that uses a core for a moment makes more connections seem faster.
        let isOneEnough = try await oneOfThree {
            let trial = try WireTrial(size: 200_000_000)
            let outcome = try await trial.run("--connections=auto")
            try outcome.expectComplete(trial.content)
            return trial.origin.peakConnections <= 4
        }
        #expect(isOneEnough)
    }

    @Test(arguments: ["0", "65", "-1", "many", ""])
    func refusesInvalidNumber(text: String) throws {
        let sandbox = try Sandbox()
        let outcome = try Run(
            ["http://127.0.0.1:1/f", "--connections=\(text)"], in: sandbox.path
        ).wait()
        #expect(outcome.end == .exit(64), "\(outcome.errorOutput)")
    }

    /// A limit that an earlier run learned applies from the first request on.
    @Test func remembersServerLimit() async throws {
        let stage = try ServerLimitTrial(
            size: 6_000_000, pace: 600_000, refusal: .status503
        ) { _ in 2 }
        let state = stage.trial.sandbox.path("state")
        func run(_ name: String) throws -> Int {
            let before = stage.refusals.count
            let outcome = try Run(
                [stage.trial.origin.url("/\(name)"), "-q", "-x", "8", "-o", name],
                in: stage.trial.sandbox.path, environment: ["XDG_STATE_HOME": state]
            ).wait()
            #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
            return stage.refusals.count - before
        }
        #expect(try run("first") >= 3)
        // Only one request tests, after five seconds, whether the limit still applies.
        #expect(try run("second") <= 1)
    }
}
