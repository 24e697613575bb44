import Glibc
import TestSupport
import Testing

/// Names that cannot be resolved, for a while or permanently.
@Suite(
    .serialized, .timeLimit(.minutes(5)),
    .enabled(if: NetworkPair.unavailable == nil, "\(NetworkPair.unavailable ?? "")"))
struct NameServerEndToEndTests {
    private func trial(
        _ mood: NameServer.Mood, options: String = "timeout:1 attempts:1"
    ) throws -> (trial: WireTrial, names: NameServer, url: String) {
        let network = try NetworkPair()
        let trial = try WireTrial(network: network)
        let names = try NameServer(network, mood, options: options)
        return (trial, names, "http://origin.test:\(trial.origin.port)/dir/file.bin")
    }

    @Test(arguments: [NameServer.Mood.fails, .silent])
    func completesAfterNameServerRecovers(mood: NameServer.Mood) async throws {
        let (trial, names, url) = try trial(mood)
        defer { names.stop() }
        // By default segget would fail after a few seconds, because it has received nothing yet.
        let child = try trial.start(["--retries", "30"], url: url)
        #expect(eventually { child.output.contains("\"retrying\"") })
        names.become(.answers)
        let outcome = try await child.ended()
        try outcome.expectComplete(trial.content)
        #expect(outcome.errorOutput.contains("origin.test"))
    }

    @Test(arguments: [NameServer.Mood.fails, .silent])
    func failsIfNameServerStaysAway(mood: NameServer.Mood) async throws {
        let (trial, names, url) = try trial(mood)
        defer { names.stop() }
        let child = try trial.start(["--retries", "1", "--connect-timeout", "3"], url: url)
        let outcome = try await child.ended()
        try outcome.expectFailure(code: 69, kind: "network", keepsPart: false)
        #expect(names.questions >= 2)
        #expect(outcome.wallSeconds < 60)
    }

    /// SIGINT and `--connect-timeout` end the wait for a name server.
    @Test func signalAndTimeoutEndNameResolution() async throws {
        let (trial, names, url) = try trial(.silent, options: "timeout:30 attempts:5")
        defer { names.stop() }
        let child = try trial.start(url: url)
        #expect(eventually { names.questions > 0 })
        let began = monotonicSeconds()
        child.signal(SIGINT)
        #expect(try await child.ended().exitCode == 130)
        #expect(monotonicSeconds() - began < 60)
        let second = try trial.start(["--connect-timeout", "0.5", "--retries", "1"], url: url)
        let outcome = try await second.ended()
        try outcome.expectFailure(code: 69, kind: "network", keepsPart: false)
        #expect(outcome.wallSeconds < 100)
    }
}
