import TestSupport
import Testing

/// Without `--connections`, as many connections are used as bring something.
@Suite(.timeLimit(.minutes(5)))
struct ConnectionCountTests {
    /// What limits each connection, and not all of them together, is met with more of them.
    @Test func manyWhereEachIsSlow() async throws {
        let trial = try WireTrial(size: 24_000_000, sendBuffer: 32 << 10) { request, reply in
            if request.method == "GET" { reply.pace = 300_000 }
        }
        let outcome = try await trial.run("-x", "auto")
        try trial.expectComplete(outcome)
        #expect(trial.origin.peakConnections >= 16)
        let numbers = try outcome.notices("connections").compactMap(\.connections)
        #expect(numbers.max() ?? 0 >= 16, "\(numbers)")
    }

    /// The server is asked for one file by one connection, as long as that is as fast as it goes.
    @Test func fewWhereOneDoes() async throws {
        // Another process that takes a core away for a moment makes it look as if more were faster.
        let isOneEnough = try await Trials.oneOfThree {
            let trial = try WireTrial(size: 200_000_000)
            let outcome = try await trial.run("--connections=auto")
            try trial.expectComplete(outcome)
            return trial.origin.peakConnections <= 4
        }
        #expect(isOneEnough)
    }

    @Test(arguments: ["0", "65", "-1", "many", ""])
    func refusesWhatIsNoNumber(text: String) throws {
        let sandbox = try Sandbox()
        let outcome = try Segget.run(
            ["http://127.0.0.1:1/f", "--connections=\(text)"], in: sandbox.path)
        #expect(outcome.end == .exit(64), "\(outcome.errorOutput)")
    }

    /// A limit that an earlier run learned is kept from the first request on.
    @Test func aLimitIsRemembered() async throws {
        let stage = try ServerLimitTrial(
            size: 6_000_000, pace: 600_000, refusal: .status503
        ) { _ in 2 }
        let state = stage.trial.sandbox.path("state")
        func run(_ name: String) throws -> Int {
            let before = stage.refusals.count
            let outcome = try Segget.run(
                [stage.trial.origin.url("/\(name)"), "-q", "-x", "8", "-o", name],
                in: stage.trial.sandbox.path, environment: ["XDG_STATE_HOME": state])
            #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
            return stage.refusals.count - before
        }
        #expect(try run("first") >= 3)
        // No more than the one that finds out, after five seconds, whether it still holds.
        #expect(try run("second") <= 1)
    }
}
