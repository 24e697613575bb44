import Foundation
import Glibc
import TestSupport
import Testing

/// Servers that are slow or refuse once: what segget waits for, and how long.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct PatienceEndToEndTests {
    /// Connections that wait for responses must not take ranges from each other repeatedly.
    @Test func completesIfEveryReplyIsLate() async throws {
        let trial = try WireTrial(size: 2_000_000) { request, reply in
            reply.delayBeforeHeaders = 1.5
        }
        let began = monotonicSeconds()
        let outcome = try await trial.run("-x", "8")
        try outcome.expectComplete(trial.content)
        #expect(monotonicSeconds() - began < 100)
        #expect(trial.excess <= 1 << 20)
        #expect(trial.gets.count < 40)
    }

    /// The server refuses a range once, and ignores the range of the request that resolves again.
    ///
    /// That is not a new version: segget keeps the received bytes.
    @Test func ignoredRangeWhileResolvingIsNotNewVersion() async throws {
        let tally = Tally()
        let trial = try WireTrial(size: 6_000_000) { request, content in
            let right = OriginReply.file(content, for: request, etag: "\"a\"")
            guard request.method == "GET" else { return right }
            if request.range?.last == 0, tally.add("resolving") == 1 {
                return .file(content, for: request, etag: "\"a\"", ranges: false)
            }
            let isRefused = request.range?.first ?? 0 > 2_000_000 && tally.add("refused") == 1
            return isRefused ? .text(403) : right
        }
        let outcome = try await trial.run("-x", "4")
        try outcome.expectComplete(trial.content)
        #expect(tally.count("refused") > 1)
        #expect(tally.count("resolving") >= 1)
        #expect(try outcome.notices("started_over").isEmpty)
        // Subtracts what was sent of the whole file before segget closed the connection.
        let resolving = trial.gets.filter { $0.range?.last == 0 }
        #expect(trial.excess - resolving.reduce(0) { $0 + $1.bytesServed } <= 1 << 20)
    }

    /// One connection gets 403, and the request that resolves the URL again gets 503.
    @Test func othersContinueWhileURLIsResolvedAgain() async throws {
        let tally = Tally()
        let trial = try WireTrial(size: 8_000_000) { request, reply in
            guard request.method == "GET" else { return }
            if request.range?.last == 0 {
                reply = .text(503, headers: [HeaderField("Retry-After", "600")])
            } else if tally.add() == 3 {
                reply = .text(403)
            }
        }
        let outcome = try await trial.run("-x", "4")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("resolving_again").count == 1)
    }

    /// `HEAD` states an absurd size: segget sends `GET` before it checks or reserves disk space.
    @Test func sizeFromHeadAloneReservesNoSpace() async throws {
        let trial = try WireTrial { request, reply in
            if request.method == "HEAD" { reply.claimedLength = 1_000_000_000_000_000 }
        }
        try await trial.run().expectComplete(trial.content)
    }

    @Test func stallTimeoutLimitsSlowErrorBody() async throws {
        let trial = try WireTrial { request, _ in
            OriginReply.text(404, String(repeating: "x", count: 60_000)).with { $0.pace = 10 }
        }
        let began = monotonicSeconds()
        let outcome = try await trial.run("--stall-timeout", "1")
        try outcome.expectFailure(code: 69, kind: "status", keepsPart: false)
        #expect(monotonicSeconds() - began < 100)
    }

    /// Text that is not a URL may contain a password.
    @Test(arguments: ["https://alice:s3cr?et@host/x", "ht!tp://u:s3cr@h", "s3cr@@://"])
    func invalidURLIsNotPrinted(text: String) async throws {
        let trial = try WireTrial()
        let outcome = try await trial.run(url: text)
        #expect(outcome.exitCode != 0)
        #expect(!(outcome.output + outcome.errorOutput).contains("s3cr"))
    }

    /// The reader of the events has stopped reading.
    @Test func signalEndsRunIfEventReaderStalls() async throws {
        let trial = try WireTrial(size: 60_000_000) { request, reply in
            if request.method == "GET" { reply.pace = 200_000 }
        }
        let path = trial.sandbox.path("events")
        try #require(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        // F_SETPIPE_SZ: a pipe of one page holds few events.
        #expect(fcntl(reader, 1031, 4096) == 4096)
        let child = try Run(
            "/bin/sh",
            [
                "-c", "exec \"$0\" \"$1\" --json -q >'\(path)'", Segget.binary(),
                trial.origin.url("/file.bin"),
            ], in: trial.sandbox.path)
        var unread: Int32 = 0
        #expect(eventually { ioctl(reader, UInt(FIONREAD), &unread) == 0 && unread > 3000 })
        // Waits until segget has more events to report than the pipe can hold.
        let served = trial.origin.bytesServed
        #expect(eventually { trial.origin.bytesServed > served + 3_000_000 })
        let began = monotonicSeconds()
        child.signal(SIGINT)
        let outcome = try await child.ended()
        #expect(outcome.exitCode == 130)
        #expect(monotonicSeconds() - began < 60)
        let kept = try trial.sandbox.names().filter { $0.hasPrefix("file.bin") }
        #expect(kept.sorted() == ["file.bin.part", "file.bin.segget"])
    }
}
