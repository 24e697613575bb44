import Glibc
import TestSupport
import Testing

/// Servers that are away: from the start, for a while, or permanently.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct OutageEndToEndTests {
    @Test func failsIfServerIsDownAtStart() async throws {
        let trial = try WireTrial()
        trial.origin.refuseConnections()
        let outcome = try await trial.run("--retries", "2")
        try outcome.expectFailure(code: 69, kind: "network", keepsPart: false)
        #expect(try outcome.notices("retrying").count == 2)
        #expect(outcome.errorOutput.contains("(3 attempts without progress)"))
        #expect(outcome.errorOutput.contains("127.0.0.1"))
        // The only message that explains the delay.
        #expect(outcome.errorOutput.contains("attempt 2"))
    }

    @Test func completesAfterServerStarts() async throws {
        let trial = try WireTrial()
        trial.origin.refuseConnections()
        let child = try Run(
            // By default segget would fail after a few seconds, because it has received nothing
            // yet.
            [trial.origin.url("/dir/file.bin"), "-v", "--json", "--retries", "30"],
            in: trial.sandbox.path)
        #expect(eventually { child.output.contains("\"retrying\"") })
        try trial.origin.acceptConnections()
        try await child.ended().expectComplete(trial.content)
    }

    @Test func failsIfHostDoesNotExist() async throws {
        let trial = try WireTrial()
        let outcome = try await trial.run("--retries", "1", url: "http://nowhere.invalid/file.bin")
        try outcome.expectFailure(code: 69, kind: "network", keepsPart: false)
        #expect(outcome.errorOutput.contains("nowhere.invalid"))
    }

    /// No server answers: the connect timeout applies.
    @Test func connectTimeoutLimitsAttempts() async throws {
        // A listener with a full backlog drops SYN packets.
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        var fillers: [Int32] = []
        defer { for filler in fillers { close(filler) } }
        withUnsafeMutablePointer(to: &name) { name in
            name.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                _ = bind(listener, name, length)
                _ = listen(listener, 0)
                _ = getsockname(listener, name, &length)
                for _ in 0..<4 {
                    let filler = socket(
                        AF_INET,
                        Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
                    _ = connect(filler, name, length)
                    fillers.append(filler)
                }
            }
        }
        let trial = try WireTrial()
        let outcome = try await trial.run(
            "--connect-timeout", "0.5", "--retries", "1",
            url: "http://127.0.0.1:\(UInt16(bigEndian: name.sin_port))/file.bin")
        try outcome.expectFailure(code: 69, kind: "network", keepsPart: false)
        #expect((0.9...60).contains(outcome.wallSeconds))
    }

    /// The server drops all connections and is down for a while.
    @Test func completesAfterServerRestart() async throws {
        let trial = try WireTrial(size: 8_000_000, sendBuffer: 64 << 10) { _, reply in
            reply.pace = 700_000
        }
        let child = try Run(
            [trial.origin.url("/dir/file.bin"), "-v", "--json", "-x", "3"],
            in: trial.sandbox.path)
        #expect(eventually { trial.origin.bytesServed > 2_000_000 })
        trial.origin.refuseConnections()
        trial.origin.dropConnections()
        #expect(eventually { child.output.contains("\"retrying\"") })
        try trial.origin.acceptConnections()
        let outcome = try await child.ended()
        try outcome.expectComplete(trial.content)
        #expect(trial.excess <= 2 << 20)
    }

    /// The server stops for good; the same command later downloads only the missing ranges.
    @Test(arguments: [1, 4])
    func resumesAfterServerWasAway(connections: Int) async throws {
        let isSlow = Guarded(true)
        let trial = try WireTrial(size: 10_000_000, sendBuffer: 64 << 10) { _, reply in
            if isSlow.withLock({ $0 }) { reply.pace = 2_000_000 / Double(connections) }
        }
        let arguments = [
            trial.origin.url("/dir/file.bin"), "-v", "--json", "-x", "\(connections)",
            "--retries", "1",
        ]
        let child = try Run(arguments, in: trial.sandbox.path)
        #expect(eventually { trial.origin.bytesServed > 4_000_000 })
        trial.origin.refuseConnections()
        trial.origin.dropConnections()
        let outcome = try await child.ended()
        try outcome.expectFailure(code: 69, kind: "network")
        let kept = try #require(try outcome.events("error").first?.bytesKept)
        #expect(kept > 2_000_000)
        #expect(outcome.errorOutput.contains("kept: "))
        #expect(outcome.errorOutput.contains("`file.bin.part`"))
        #expect(outcome.errorOutput.contains("to resume"))
        try trial.origin.acceptConnections()
        isSlow.withLock { $0 = false }
        let before = trial.origin.bytesServed
        let second = try await Run(arguments, in: trial.sandbox.path).ended()
        try second.expectComplete(trial.content)
        let started = try #require(try second.events("started").first)
        #expect(started.bytesResumed == kept)
        let finished = try #require(try second.events("finished").first)
        #expect(finished.bytesResumed == kept)
        #expect(finished.bytesReceived == 10_000_000 - kept)
        #expect(trial.origin.bytesServed - before <= 10_000_000 - kept + (2 << 20))
        #expect(second.errorOutput.contains("resuming: "))
    }

    /// The server sends only error statuses after it has sent a part of the file.
    @Test func resumesAfterPersistentErrors() async throws {
        let isOpen = Guarded(false)
        let trial = try WireTrial(size: 6_000_000) { request, reply in
            if request.number > 3, !isOpen.withLock({ $0 }) { reply = .text(503) }
        }
        let outcome = try await trial.run("-x", "2", "--retries", "1")
        try outcome.expectFailure(code: 69, kind: "status")
        let kept = try #require(try outcome.events("error").first?.bytesKept)
        isOpen.withLock { $0 = true }
        let second = try await trial.run("-x", "2", "--retries", "1")
        try second.expectComplete(trial.content)
        #expect(try second.events("finished").first?.bytesReceived == 6_000_000 - kept)
        #expect(trial.excess <= 1 << 20)
    }
}
