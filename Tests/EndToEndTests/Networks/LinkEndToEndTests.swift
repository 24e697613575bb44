import Glibc
import TestSupport
import Testing

/// Network links that are cut and restored, between two network namespaces.
///
/// The stall timeout is long: a stall ends only because segget detects it.
@Suite(
    .serialized, .timeLimit(.minutes(5)),
    .enabled(if: NetworkPair.unavailable == nil, "\(NetworkPair.unavailable ?? "")"))
struct LinkEndToEndTests {
    static let patient = ["--stall-timeout", "150", "--connect-timeout", "100"]

    /// A file that takes about 6 s per 6 MB, whatever the number of connections.
    private func trial(
        _ connections: Int, size: Int64 = 6_000_000,
        bend: @escaping @Sendable (OriginRequest, inout OriginReply) -> Void = { _, _ in }
    ) throws -> (WireTrial, NetworkPair) {
        let network = try NetworkPair()
        let trial = try WireTrial(
            size: size, sendBuffer: 64 << 10, network: network
        ) { request, reply in
            if request.method == "GET" { reply.pace = 1_000_000 / Double(connections) }
            bend(request, &reply)
        }
        return (trial, network)
    }

    /// Waits for a fixed time, in which the outage lasts.
    private func wait(_ seconds: Double) {
        let end = monotonicSeconds() + seconds
        _ = eventually(timeout: seconds + 60, poll: 0.05) { monotonicSeconds() >= end }
    }

    @Test(arguments: [(NetworkPair.End.client, 8), (.server, 8), (.client, 1)])
    func recoversAfterLinkWasDown(end: NetworkPair.End, connections: Int) async throws {
        let (trial, network) = try trial(connections)
        let child = try trial.start(["-x", "\(connections)"] + Self.patient)
        #expect(eventually { trial.origin.bytesServed > 2_000_000 })
        try network.unplug(end)
        #expect(eventually { child.output.contains("\"stalled\"") })
        wait(3)
        try network.plug(end)
        let mended = monotonicSeconds()
        #expect(
            eventually { child.output.contains("\"stall_over\"") || !child.isRunning })
        let recovered = monotonicSeconds() - mended
        let outcome = try await child.ended()
        try outcome.expectComplete(trial.content)
        // One connection may recover on its own first; then segget rescues the others.
        #expect(recovered < 30)
        #expect(try outcome.notices("retrying").isEmpty)
        #expect(trial.excess <= 4 << 20)
    }

    /// All connections die without a packet; new ones work.
    @Test(arguments: [1, 8])
    func replacesSilentlyDeadConnections(connections: Int) async throws {
        let (trial, network) = try trial(connections)
        let child = try trial.start(["-x", "\(connections)"] + Self.patient)
        #expect(eventually { trial.origin.bytesServed > 2_000_000 })
        try network.cut(ports: network.clientPorts())
        let outcome = try await child.ended()
        try outcome.expectComplete(trial.content)
        #expect(try !outcome.notices("stalled").isEmpty)
        let over = try outcome.notices("stall_over")
        #expect(over.first?.connections == connections)
        #expect(try outcome.notices("retrying").isEmpty)
        #expect(outcome.errorOutput.contains("all connections have stalled"))
        #expect(outcome.wallSeconds < 60)
        #expect(trial.excess <= 4 << 20)
    }

    /// Some connections die; the others continue, and new ones download the missing bytes.
    @Test func rescuesSomeDeadConnections() async throws {
        let (trial, network) = try trial(6, size: 9_000_000)
        let child = try trial.start(["-x", "6"] + Self.patient)
        #expect(eventually { trial.origin.bytesServed > 2_000_000 })
        let ports = try network.clientPorts()
        #expect(ports.count >= 6)
        try network.cut(ports: Array(ports.prefix(3)))
        let outcome = try await child.ended()
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("rescued").count >= 2)
        #expect(try outcome.notices("retrying").isEmpty)
        #expect(outcome.errorOutput.contains("while others did not"))
        #expect(outcome.wallSeconds < 60)
        #expect(trial.excess <= 4 << 20)
    }

    /// As between two wireless networks: the old connections die without a packet.
    @Test func recoversAfterClientAddressChanged() async throws {
        let (trial, network) = try trial(4)
        let child = try trial.start(["-x", "4"] + Self.patient)
        #expect(eventually { trial.origin.bytesServed > 2_000_000 })
        try network.changeClientAddress()
        let outcome = try await child.ended()
        try outcome.expectComplete(trial.content)
        #expect(try !outcome.notices("stall_over").isEmpty)
        #expect(outcome.wallSeconds < 60)
        #expect(trial.excess <= 4 << 20)
    }

    /// The outage is longer than all limits: segget keeps the part, and the same command resumes.
    @Test(arguments: [1, 4])
    func failsAndResumesAfterLongOutage(connections: Int) async throws {
        let (trial, network) = try trial(connections)
        let options = [
            "-x", "\(connections)", "--stall-timeout", "2", "--connect-timeout", "1", "--retries",
            "1",
        ]
        let child = try trial.start(options)
        #expect(eventually { trial.origin.bytesServed > 2_000_000 })
        try network.unplug(.server)
        let cut = monotonicSeconds()
        let outcome = try await child.ended()
        try outcome.expectFailure(code: 69, kind: "network")
        // 2 s of stall, at most 0.5 s until the next attempt, and 1 s for that attempt.
        #expect(monotonicSeconds() - cut < 60)
        let kept = try #require(try outcome.events("error").first?.bytesKept)
        #expect(kept > 1_000_000)
        try network.plug(.server)
        let second = try await trial.start(options).ended()
        try second.expectComplete(trial.content)
        #expect(try second.events("finished").first?.bytesReceived == 6_000_000 - kept)
    }

    /// segget does not replace a stream that it cannot resume, even if a canary is answered.
    @Test func keepsStreamThatCannotBeResumed() async throws {
        let (trial, network) = try trial(1) { request, reply in
            guard case .content(let content, _) = reply.body else { return }
            reply = .file(content, for: request, etag: "\"a\"", ranges: false)
            reply.pace = 2_000_000
        }
        let child = try trial.start(Self.patient)
        #expect(eventually { trial.origin.bytesServed > 2_000_000 })
        try network.unplug(.server)
        wait(2.5)
        try network.plug(.server)
        let outcome = try await child.ended()
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("stalled").isEmpty)
        #expect(try outcome.notices("started_over").isEmpty)
        #expect(trial.gets.count == 1)
    }
}
