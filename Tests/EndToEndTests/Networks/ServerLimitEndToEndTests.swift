import TestSupport
import Testing

/// Servers that serve only so many requests at a time: segget settles at that number.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ServerLimitEndToEndTests {
    /// Runs `-x 8`.
    ///
    /// - Returns: What it did, and how many requests were turned away after it had reported the
    ///   limit, in how many seconds.
    private static func run(
        _ stage: ServerLimitTrial, _ options: [String] = []
    ) async throws -> (outcome: ChildProcess.Outcome, refused: Int, seconds: Double) {
        let child = try Segget.start(
            [stage.trial.origin.url("/dir/file.bin"), "-v", "--json", "-x", "8"] + options,
            in: stage.trial.sandbox.path)
        _ = try await onThread {
            eventually(timeout: 150, poll: 0.05) {
                !child.isRunning || child.output.contains("\"notice\":\"server_limit\"")
            }
        }
        let (known, time) = (stage.refusals.count, monotonicSeconds())
        let outcome = try await Trials.end(of: child)
        return (outcome, stage.refusals.count - known, monotonicSeconds() - time)
    }

    /// By every way of turning away, all at the same time.
    @Test func settlesAtWhatIsServed() async throws {
        let cases: [(ServerLimitTrial.Refusal, Int)] = [
            (.status503, 1), (.status429, 2), (.status403, 3), (.reset, 3), (.closed, 2),
            (.words, 1), (.silence, 2), (.refused, 2),
        ]
        try await withThrowingTaskGroup { group in
            for (refusal, limit) in cases {
                group.addTask { try await Self.settle(refusal, limit) }
            }
            try await group.waitForAll()
        }
    }

    private static func settle(_ refusal: ServerLimitTrial.Refusal, _ limit: Int) async throws {
        let stage = try ServerLimitTrial(
            size: 2_400_000, pace: 300_000 / Double(limit), refusal: refusal
        ) { _ in limit }
        // A request over the limit stalls for that long.
        let (outcome, refused, seconds) = try await run(stage, ["--stall-timeout", "2"])
        let context = Comment(rawValue: "\(refusal), \(limit): \(outcome.errorOutput)")
        try stage.trial.expectComplete(outcome)
        let limits = try outcome.notices("server_limit")
        #expect(!limits.isEmpty, context)
        // One that was late for so long that it was given up is refused once more, for a while.
        #expect(limits.contains { $0.connections == limit }, context)
        #expect(limits.last?.connections ?? .max <= limit, context)
        #expect(refused <= 3 * Int((seconds / 60).rounded(.up)), context)
        #expect(stage.trial.excess <= 1 << 20, context)
        // Those that rest are not in use.
        let late = try outcome.events("progress").suffix(20).compactMap(\.connections)
        #expect(late.allSatisfy { $0 <= limit + 1 }, context)
    }

    /// They do not use up retries either, and are not waited for at the end.
    @Test func restingIsNoFailure() async throws {
        let stage = try ServerLimitTrial(
            size: 1_500_000, pace: 300_000, refusal: .status503
        ) { _ in 1 }
        let (outcome, _, _) = try await Self.run(stage, ["--retries", "1"])
        try stage.trial.expectComplete(outcome)
        let notice = try #require(try outcome.notices("server_limit").first)
        #expect(notice.connections == 1)
        #expect(notice.reason == "status")
        #expect(outcome.errorOutput.contains("serves 1 request at a time"))
    }

    /// Nor is a mirror on the same server asked for its sample without end.
    @Test func aMirrorOnTheSameServerIsNotStormed() async throws {
        let stage = try ServerLimitTrial(
            size: 2_400_000, pace: 150_000, refusal: .status503
        ) { _ in 2 }
        let mirror = stage.trial.origin.url("/mirror/file.bin")
        let outcome = try await stage.trial.run("--mirror", mirror, "-x", "4")
        try stage.trial.expectComplete(outcome)
        #expect(stage.trial.gets.count <= 60, "\(outcome.errorOutput)")
    }

    /// Nobody asks again before the time that the server names, which is longer than it takes.
    @Test func retryAfterHoldsForAllThatRest() async throws {
        let stage = try ServerLimitTrial(
            size: 2_400_000, pace: 150_000, refusal: .retryAfter
        ) { _ in 2 }
        let (outcome, _, _) = try await Self.run(stage)
        try stage.trial.expectComplete(outcome)
        // Those that went out together; by itself one would be tried after five seconds.
        let first = try #require(stage.refusals.first)
        #expect(stage.refusals.filter { $0 > first + 3 }.isEmpty, "\(outcome.errorOutput)")
        #expect(monotonicSeconds() > first + 6)
    }

    /// The limit goes up in the middle, and comes down again.
    @Test func followsALimitThatMoves() async throws {
        let stage = try ServerLimitTrial(
            size: 7_500_000, pace: 300_000, refusal: .status503
        ) { served in
            served < 1_200_000 ? 1 : served < 5_000_000 ? 4 : 2
        }
        let (outcome, _, _) = try await Self.run(stage)
        try stage.trial.expectComplete(outcome)
        let limits = try outcome.notices("server_limit")
        #expect(limits.contains { $0.reason == nil }, "it rises: \(outcome.errorOutput)")
        #expect(stage.refusals.count <= 40)
        #expect(stage.trial.excess <= 1 << 20)
    }

    /// nginx's `limit_conn`.
    @Test func nginxLimitsConnections() async throws {
        let content = Content(size: 16_000_000, seed: 9)
        let root = try Sandbox()
        try content.write(to: root.path("file.bin"))
        let nginx = try Nginx(
            root: root.path, limitRate: "400k", directives: "limit_conn all 3;",
            shared: "limit_conn_zone $server_port zone=all:1m;")
        let sandbox = try Sandbox()
        let child = try Segget.start(
            [nginx.url("/file.bin"), "-v", "--json", "-x", "8"], in: sandbox.path)
        _ = try await onThread {
            eventually(timeout: 150, poll: 0.05) {
                !child.isRunning || child.output.contains("\"notice\":\"server_limit\"")
            }
        }
        let (known, time) = (
            try nginx.accessLog().count { $0.status == 503 }, monotonicSeconds()
        )
        let outcome = try await Trials.end(of: child)
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try content.firstDifference(at: sandbox.path("file.bin")) == nil)
        let refused = try nginx.accessLog().count { $0.status == 503 } - known
        let minutes = ((monotonicSeconds() - time) / 60).rounded(.up)
        #expect(refused <= 3 * Int(minutes), "\(outcome.errorOutput)")
        #expect(
            try outcome.notices("server_limit").last?.connections == 3, "\(outcome.errorOutput)")
    }

    /// Files of one host share what it serves: none of them fails for it.
    @Test func filesOfAListShareTheLimit() async throws {
        let stage = try BatchStage(size: 600_000)
        let refused = stage.serve(atMost: 2, pace: 300_000, refusal: .text(503))
        defer { stage.behave() }
        let outcome = try await Trials.run(
            ["-j", "3", "-x", "4", "--retries", "2", "-v"] + stage.urls(4),
            in: stage.folder)
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(refused.count() > 0)
        // Which of them has which name is open where one has waited for long.
        let names = ["big.iso", "big.1.iso", "big.2.iso", "big.3.iso"]
        for number in 1...4 {
            let count = try names.count { try stage.isRight($0, "/\(number)/big.iso") }
            #expect(count == 1, "/\(number)/big.iso: \(count) times")
        }
    }
}
