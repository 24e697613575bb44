import Glibc
import TestSupport
import Testing

/// Names that do not exist, distinguished from name servers that do not answer.
@Suite(
    .serialized, .timeLimit(.minutes(5)),
    .enabled(if: NetworkPair.unavailable == nil, "\(NetworkPair.unavailable ?? "")"))
struct UnknownNameEndToEndTests {
    private func trial(
        _ mood: NameServer.Mood
    ) throws -> (trial: WireTrial, names: NameServer, url: String) {
        let network = try NetworkPair()
        let trial = try WireTrial(size: 4_000_000, network: network)
        let names = try NameServer(network, mood, options: "timeout:1 attempts:1")
        return (trial, names, "http://origin.test:\(trial.origin.port)/dir/file.bin")
    }

    /// `--retries` changes nothing, and a name without an address counts as unknown.
    @Test(arguments: [NameServer.Mood.unknown, .empty], [[], ["--retries", "100"]])
    func unknownNameFailsWithoutRetry(mood: NameServer.Mood, options: [String]) async throws {
        let (trial, names, url) = try trial(mood)
        defer { names.stop() }
        let outcome = try await trial.start(options, url: url).ended()
        try outcome.expectFailure(code: 69, kind: "network", keepsPart: false)
        #expect(try outcome.notices("retrying").isEmpty, "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("origin.test"))
    }

    @Test func unknownProxyFailsWithoutRetry() async throws {
        let (trial, names, _) = try trial(.unknown)
        defer { names.stop() }
        let child = try trial.start(
            ["--proxy", "http://me:hush@proxy.test:3128"], url: "http://198.51.100.1:1/file.bin")
        let outcome = try await child.ended()
        try outcome.expectFailure(code: 69, kind: "proxy", keepsPart: false)
        #expect(try outcome.notices("retrying").isEmpty, "\(outcome.errorOutput)")
        #expect(!outcome.errorOutput.contains("hush"))
    }

    enum Silence: String, Sendable, CaseIterable { case fails, silent, gone }

    /// A name server that fails, stalls or does not exist does not report an unknown name.
    @Test(arguments: Silence.allCases)
    func triesFailingNameServerThreeTimes(silence: Silence) async throws {
        let (trial, names, url) = try trial(silence == .silent ? .silent : .fails)
        defer { names.stop() }
        if silence == .gone { names.stop() }
        let outcome = try await trial.start(url: url).ended()
        try outcome.expectFailure(code: 69, kind: "network", keepsPart: false)
        let waits = try outcome.notices("retrying").compactMap(\.delay)
        #expect(waits.count == 2 && waits.reduce(0, +) <= 5, "\(outcome.errorOutput)")
    }

    /// The part shows that the name existed: segget waits until it resolves again.
    @Test func waitsForNameIfPartExists() async throws {
        let isSlow = Guarded(true)
        let network = try NetworkPair()
        let trial = try WireTrial(size: 4_000_000, sendBuffer: 64 << 10, network: network) {
            request, reply in
            if request.method == "GET", isSlow.withLock({ $0 }) { reply.stallAfter = 300_000 }
        }
        let names = try NameServer(network, .answers, options: "timeout:1 attempts:1")
        defer { names.stop() }
        let url = "http://origin.test:\(trial.origin.port)/dir/file.bin"
        let first = try trial.start(["-x", "2"], url: url)
        #expect(eventually { trial.origin.bytesServed >= 600_000 })
        first.signal(SIGTERM)
        #expect(try await first.ended().exitCode == 143)
        isSlow.withLock { $0 = false }
        names.become(.unknown)
        let second = try trial.start(url: url)
        #expect(eventually { second.output.contains("\"retrying\"") })
        names.become(.answers)
        let outcome = try await second.ended()
        try outcome.expectComplete(trial.content)
        #expect(try #require(try outcome.events("finished").first?.bytesResumed) > 0)
    }
}
