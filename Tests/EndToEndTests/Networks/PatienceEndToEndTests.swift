import Foundation
import Glibc
import TestSupport
import Testing

/// Servers that are slow, refuse once or drip: what is waited for, what is not, and for how long.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct PatienceEndToEndTests {
    /// Work must not go round among connections that all wait for their reply.
    @Test func everyReplyIsLate() async throws {
        let trial = try WireTrial(size: 2_000_000) { request, reply in
            reply.delayBeforeHeaders = 1.5
        }
        let began = monotonicSeconds()
        let outcome = try await trial.run("-x", "8")
        try trial.expectComplete(outcome)
        #expect(monotonicSeconds() - began < 100)
        #expect(trial.excess <= 1 << 20)
        #expect(trial.gets.count < 40)
    }

    /// One refusal, and a whole file in place of the range when the URL is resolved again: that is
    /// no other version, and what has arrived stays.
    @Test func aBrokenReplyWhileResolvingIsNoChange() async throws {
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
        try trial.expectComplete(outcome)
        #expect(tally.count("refused") > 1)
        #expect(tally.count("resolving") >= 1)
        #expect(try outcome.notices("started_over").isEmpty)
        // What of the whole file was sent before its connection was closed.
        let resolving = trial.gets.filter { $0.range?.last == 0 }
        #expect(trial.excess - resolving.reduce(0) { $0 + $1.bytesServed } <= 1 << 20)
    }

    /// While one connection is refused and the URL resolved again, the others go on.
    @Test func othersGoOnWhileTheURLIsResolved() async throws {
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
        try trial.expectComplete(outcome)
        #expect(try outcome.notices("resolving_again").count == 1)
    }

    /// HEAD states an absurd size: GET is asked before space is missed or taken.
    @Test func theSizeThatOnlyHeadTellsReservesNothing() async throws {
        let trial = try WireTrial { request, reply in
            if request.method == "HEAD" { reply.claimedLength = 1_000_000_000_000_000 }
        }
        try trial.expectComplete(try await trial.run())
    }

    /// The body of an error that nobody wants drips: the stall timeout bounds it.
    @Test func aDrippingErrorPageIsNotWaitedFor() async throws {
        let trial = try WireTrial { request, _ in
            OriginReply.text(404, String(repeating: "x", count: 60_000)).with { $0.pace = 10 }
        }
        let began = monotonicSeconds()
        let outcome = try await trial.run("--stall-timeout", "1")
        try trial.expectFailure(outcome, code: 69, kind: "status", keepsPart: false)
        #expect(monotonicSeconds() - began < 100)
    }

    /// What is no URL may hold a password all the same.
    @Test(arguments: ["https://alice:s3cr?et@host/x", "ht!tp://u:s3cr@h", "s3cr@@://"])
    func whatIsNoURLIsNotRepeated(text: String) async throws {
        let trial = try WireTrial()
        let outcome = try await trial.run(url: text)
        #expect(outcome.exitCode != 0)
        #expect(!(outcome.output + outcome.errorOutput).contains("s3cr"))
    }

    /// Whoever reads the events has stopped reading: a signal ends segget all the same.
    @Test func aStalledReaderDoesNotHoldUpTheEnd() async throws {
        let trial = try WireTrial(size: 60_000_000) { request, reply in
            if request.method == "GET" { reply.pace = 200_000 }
        }
        let path = trial.sandbox.path("events")
        try #require(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        // F_SETPIPE_SZ: a page holds few events.
        #expect(fcntl(reader, 1031, 4096) == 4096)
        let child = try ChildProcess(
            "/bin/sh",
            [
                "-c", "exec \"$0\" \"$1\" --json -q >'\(path)'", Segget.binary(),
                trial.origin.url("/file.bin"),
            ], in: trial.sandbox.path)
        var unread: Int32 = 0
        #expect(eventually { ioctl(reader, UInt(FIONREAD), &unread) == 0 && unread > 3000 })
        // For as long as it takes to report more events than there is room for.
        let served = trial.origin.bytesServed
        #expect(eventually { trial.origin.bytesServed > served + 3_000_000 })
        let began = monotonicSeconds()
        child.signal(SIGINT)
        let outcome = try await Trials.end(of: child)
        #expect(outcome.exitCode == 130)
        #expect(monotonicSeconds() - began < 60)
        let kept = try trial.sandbox.names().filter { $0.hasPrefix("file.bin") }
        #expect(kept.sorted() == ["file.bin.part", "file.bin.segget"])
    }
}
