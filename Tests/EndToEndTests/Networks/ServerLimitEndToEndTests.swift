import TestSupport
import Testing

/// Servers that serve a limited number of requests at a time: segget settles at that number.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ServerLimitEndToEndTests {
    /// Runs segget with `-x 8`.
    ///
    /// - Returns: The outcome, the number of requests refused after segget reported the limit, and
    ///   the seconds since that report.
    private static func run(
        _ stage: ServerLimitTrial, _ options: [String] = []
    ) async throws -> (outcome: Run.Outcome, refused: Int, seconds: Double) {
        let child = try Run(
            [stage.trial.origin.url("/dir/file.bin"), "-v", "--json", "-x", "8"] + options,
            in: stage.trial.sandbox.path)
        _ = try await onThread {
            child.waits(timeout: 150, poll: 0.05) {
                child.output.contains("\"notice\":\"server_limit\"")
            }
        }
        let (known, time) = (stage.refusals.count, monotonicSeconds())
        let outcome = try await child.ended()
        return (outcome, stage.refusals.count - known, monotonicSeconds() - time)
    }

    /// Runs a server for each kind of refusal, all at the same time.
    @Test func settlesAtServersLimit() async throws {
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
        // Ends requests over the limit that get no response.
        let (outcome, refused, seconds) = try await run(stage, ["--stall-timeout", "2"])
        let context = Comment(rawValue: "\(refusal), \(limit): \(outcome.errorOutput)")
        try outcome.expectComplete(stage.trial.content)
        let limits = try outcome.notices("server_limit")
        #expect(!limits.isEmpty, context)
        // The retry of a late request may be refused, which lowers the limit for a while.
        #expect(limits.contains { $0.connections == limit }, context)
        #expect(limits.last?.connections ?? .max <= limit, context)
        #expect(refused <= 3 * Int((seconds / 60).rounded(.up)), context)
        #expect(stage.trial.excess <= 1 << 20, context)
        // Connections that rest do not count as active.
        let late = try outcome.events("progress").suffix(20).compactMap(\.connections)
        #expect(late.allSatisfy { $0 <= limit + 1 }, context)
    }

    /// Connections that rest use no retries, and the end of the download does not wait for them.
    @Test func restingConnectionsUseNoRetries() async throws {
        let stage = try ServerLimitTrial(
            size: 1_500_000, pace: 300_000, refusal: .status503
        ) { _ in 1 }
        let (outcome, _, _) = try await Self.run(stage, ["--retries", "1"])
        try outcome.expectComplete(stage.trial.content)
        let notice = try #require(try outcome.notices("server_limit").first)
        #expect(notice.connections == 1)
        #expect(notice.reason == "status")
        #expect(outcome.errorOutput.contains("serves 1 request at a time"))
    }

    /// segget does not request the sample of a mirror on the same server again and again.
    @Test func mirrorOnSameServerGetsFewRequests() async throws {
        let stage = try ServerLimitTrial(
            size: 2_400_000, pace: 150_000, refusal: .status503
        ) { _ in 2 }
        let mirror = stage.trial.origin.url("/mirror/file.bin")
        let outcome = try await stage.trial.run("--mirror", mirror, "-x", "4")
        try outcome.expectComplete(stage.trial.content)
        #expect(stage.trial.gets.count <= 60, "\(outcome.errorOutput)")
    }

    /// `Retry-After` is longer than the download: no refused connection sends another request.
    @Test func retryAfterAppliesToAllRestingConnections() async throws {
        let stage = try ServerLimitTrial(
            size: 2_400_000, pace: 150_000, refusal: .retryAfter
        ) { _ in 2 }
        let (outcome, _, _) = try await Self.run(stage)
        try outcome.expectComplete(stage.trial.content)
        // Requests sent at the same time; without `Retry-After`, segget would retry one after 5 s.
        let first = try #require(stage.refusals.first)
        #expect(stage.refusals.filter { $0 > first + 3 }.isEmpty, "\(outcome.errorOutput)")
        #expect(monotonicSeconds() > first + 6)
    }

    /// The limit rises during the download and then falls.
    @Test func followsChangingLimit() async throws {
        let stage = try ServerLimitTrial(
            size: 7_500_000, pace: 300_000, refusal: .status503
        ) { served in
            served < 1_200_000 ? 1 : served < 5_000_000 ? 4 : 2
        }
        let (outcome, _, _) = try await Self.run(stage)
        try outcome.expectComplete(stage.trial.content)
        let limits = try outcome.notices("server_limit")
        #expect(limits.contains { $0.reason == nil }, "it rises: \(outcome.errorOutput)")
        #expect(stage.refusals.count <= 40)
        #expect(stage.trial.excess <= 1 << 20)
    }

    /// nginx limits connections with `limit_conn`.
    @Test func settlesAtNginxConnectionLimit() async throws {
        let content = Content(size: 16_000_000, seed: 9)
        let root = try Sandbox()
        try content.write(to: root.path("file.bin"))
        let nginx = try Nginx(
            root: root.path, limitRate: "400k", directives: "limit_conn all 3;",
            shared: "limit_conn_zone $server_port zone=all:1m;")
        let sandbox = try Sandbox()
        let child = try Run(
            [nginx.url("/file.bin"), "-v", "--json", "-x", "8"], in: sandbox.path)
        _ = try await onThread {
            child.waits(timeout: 150, poll: 0.05) {
                child.output.contains("\"notice\":\"server_limit\"")
            }
        }
        let (known, time) = (
            try nginx.accessLog().count { $0.status == 503 }, monotonicSeconds()
        )
        let outcome = try await child.ended()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try content.firstDifference(at: sandbox.path("file.bin")) == nil)
        let refused = try nginx.accessLog().count { $0.status == 503 } - known
        let minutes = ((monotonicSeconds() - time) / 60).rounded(.up)
        #expect(refused <= 3 * Int(minutes), "\(outcome.errorOutput)")
        #expect(
            try outcome.notices("server_limit").last?.connections == 3, "\(outcome.errorOutput)")
    }

    /// No file fails because of the limit of their common host.
    @Test func filesOfListShareLimit() async throws {
        let stage = try BatchStage(size: 600_000)
        let refused = stage.serve(atMost: 2, pace: 300_000, refusal: .text(503))
        defer { stage.origin.behave() }
        let outcome = try await Run(
            ["-j", "3", "-x", "4", "--retries", "5", "-v"] + stage.urls(4),
            in: stage.folder
        ).ended()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(refused.count() > 0)
        // A file that waited for long may get its name after the others.
        let names = ["big.iso", "big.1.iso", "big.2.iso", "big.3.iso"]
        for number in 1...4 {
            let count = try names.count { try stage.isRight($0, "/\(number)/big.iso") }
            #expect(count == 1, "/\(number)/big.iso: \(count) times")
        }
    }
}
