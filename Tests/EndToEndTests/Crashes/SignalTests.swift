import Foundation
import Glibc
import TestSupport
import Testing

/// Tests that SIGINT, SIGTERM and SIGHUP stop a run within a second, keep the received bytes, and
/// let a later run resume.
struct SignalTests {
    /// The maximum number of seconds until the process ends.
    ///
    /// One second is required. The rest is for a machine that is busy with other tests. The folders
    /// are in memory, because a disk may take longer than a second to write its part.
    private static let patience = 5.0

    private static let signals: [(signal: Int32, code: Int32, name: String)] = [
        (SIGINT, 130, "SIGINT"), (SIGTERM, 143, "SIGTERM"), (SIGHUP, 75, "SIGHUP"),
    ]

    /// Sends a signal, expects the process to end in time, and returns its outcome.
    private func stop(
        _ process: Run, by signal: Int32, code: Int32
    ) throws -> Run.Outcome {
        let sent = monotonicSeconds()
        process.signal(signal)
        let outcome = try process.wait(timeout: 120)
        #expect(monotonicSeconds() - sent <= Self.patience)
        #expect(outcome.end == .exit(code), "\(outcome.errorOutput)")
        return outcome
    }

    @Test(.timeLimit(.minutes(5))) func stopsAndResumesRepeatedly() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("signals: seed \(seed)")
        var random = SplitMix64(seed: seed)
        let size: Int64 = 24_000_000
        let stage = try Stage(size: size, seed: 50, memory: 64 << 20)
        stage.origin.bendGET { $0.pace = 1_500_000 }
        let arguments = ["-x", "4", "--checksum", "sha256=\(stage.content.sha256Hex)"]
        for round in 0..<6 {
            let (signal, code, name) = Self.signals[round % 3]
            let before = stage.recorded() ?? 0
            let place = before + Int64.random(in: 1...3_000_000, using: &random)
            let process = try stage.start(arguments)
            try #require(process.waits(for: place), "seed \(seed), round \(round)")
            let outcome = try stop(process, by: signal, code: code)
            #expect(outcome.errorOutput.contains("was stopped by \(name)"))
            #expect(outcome.errorOutput.contains("kept: "))
            #expect(outcome.errorOutput.contains("run the same command again to resume"))
            #expect(try stage.names() == ["file.part", "file.segget"])
            #expect(try #require(stage.recorded()) >= place)
        }
        stage.origin.behave()
        let kept = try #require(stage.recorded())
        let requests = stage.origin.requests.count
        let outcome = try stage.run(arguments)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("resuming: "))
        #expect(outcome.errorOutput.contains("; resumed "))
        #expect(try stage.isRight())
        // An orderly stop records all received bytes. The next run requests none of them again,
        // except bytes in flight when another connection took over the end of a segment.
        #expect(stage.bytesAsked(after: requests) <= size - kept)
    }

    @Test(.timeLimit(.minutes(5)), arguments: [0, 1, 2])
    func recordsAllReceivedBytes(index: Int) throws {
        let (signal, code, _) = Self.signals[index]
        let stage = try Stage(size: 4_000_000, memory: 64 << 20)
        stage.origin.bendGET { $0.stallAfter = 123_456 }
        let arrived: Int64 = 4 * 123_456
        let process = try stage.start(["-x", "4", "--json"])
        try #require(process.waits(for: arrived))
        let outcome = try stop(process, by: signal, code: code)
        let last = try #require(try jsonEvents(outcome.output).last)
        #expect(last["event"] as? String == "error")
        #expect(last["kind"] as? String == "cancelled")
        #expect(last["code"] as? Int32 == code)
        #expect(last["bytes_kept"] as? Int64 == arrived)
        #expect(stage.recorded() == arrived)
    }

    @Test(.timeLimit(.minutes(5))) func stopsWhileProbing() throws {
        let stage = try Stage(size: 1000, memory: 64 << 20)
        stage.origin.bend { $1.delayBeforeHeaders = .infinity }
        let process = try stage.start()
        #expect(eventually { stage.origin.requests.count == 1 })
        let outcome = try stop(process, by: SIGINT, code: 130)
        #expect(outcome.errorOutput.contains("was stopped by SIGINT"))
        #expect(try stage.names().isEmpty)
    }

    @Test(.timeLimit(.minutes(5))) func stopsWhileWaitingForRetry() throws {
        let stage = try Stage(size: 4_000_000, memory: 64 << 20)
        try stage.leavePart(each: 200_000)
        stage.origin.bendGET { reply in
            reply = .text(503, headers: [HeaderField("Retry-After", "600")])
        }
        let process = try stage.start(["-v"])
        #expect(eventually { process.errorOutput.contains("trying ") })
        let outcome = try stop(process, by: SIGTERM, code: 143)
        #expect(outcome.errorOutput.contains("was stopped by SIGTERM"))
        #expect(stage.recorded() == 800_000)
    }

    /// The server refuses connections when the run begins.
    @Test(.timeLimit(.minutes(5))) func stopsWhileServerRefusesConnections() throws {
        let stage = try Stage(size: 4_000_000, memory: 64 << 20)
        try stage.leavePart(each: 200_000)
        stage.origin.refuseConnections()
        let process = try stage.start(["-v", "--retries", "1000", "-o", "file"])
        #expect(eventually { process.errorOutput.contains("attempt 3") })
        let outcome = try stop(process, by: SIGINT, code: 130)
        #expect(outcome.errorOutput.contains("kept: 781 KiB"), "\(outcome.errorOutput)")
        #expect(stage.recorded() == 800_000)
        try stage.origin.acceptConnections()
        #expect(try stage.run().end == .exit(0))
        #expect(try stage.isRight())
    }

    /// segget requests the original URL again, and the server does not answer.
    @Test(.timeLimit(.minutes(5))) func stopsWhileRequestingOriginalURLAgain() throws {
        let stage = try Stage(size: 4_000_000, memory: 64 << 20)
        stage.origin.bend { request, reply in
            guard request.method == "GET" else { return }
            if request.range?.last == 0 {
                reply.delayBeforeHeaders = .infinity
            } else if request.range?.first == 0 {
                // Some bytes are received first.
                reply.cutAfter = 100_000
            } else {
                reply = .text(403)
            }
        }
        let process = try stage.start(["-v", "-x", "1"])
        #expect(eventually { stage.origin.requests.contains { $0.range?.last == 0 } })
        let outcome = try stop(process, by: SIGINT, code: 130)
        #expect(!outcome.errorOutput.contains("MISUSE"), "\(outcome.errorOutput)")
    }

    /// The part is complete; only its digest is still being computed.
    @Test(.timeLimit(.minutes(5))) func stopsWhileComputingDigest() throws {
        let size: Int64 = 1_500_000_000
        let stage = try Stage(size: size)
        try stage.leaveWholePart()
        let process = try stage.start([
            "--json", "-x", "1", "--checksum", "sha-512:" + String(repeating: "0", count: 128),
        ])
        #expect(eventually(timeout: 120) { process.output.contains("\"verifying\"") })
        let outcome = try stop(process, by: SIGINT, code: 130)
        #expect(outcome.errorOutput.contains("was stopped by SIGINT"))
        #expect(try stage.names() == ["file.part", "file.segget"])
        #expect(stage.recorded() == size)
    }

    /// After a crash during publishing, segget checks a large file again without network.
    @Test(.timeLimit(.minutes(5))) func stopsWhileFinishingAfterCrash() throws {
        let stage = try Stage(size: 2_000_000_000)
        try stage.leaveWholePart(publishing: true)
        stage.origin.stop()
        let process = try stage.start([
            "-o", "file", "--checksum", "sha-512:" + String(repeating: "0", count: 128),
        ])
        #expect(eventually { process.hasOpen(stage.path("file.part")) })
        _ = try stop(process, by: SIGTERM, code: 143)
        #expect(try stage.names() == ["file.part", "file.segget"])
        #expect(stage.recorded() == 2_000_000_000)
    }

    /// A second signal ends a run whose orderly stop takes long.
    @Test(.timeLimit(.minutes(5))) func stopsImmediatelyOnSecondSignal() throws {
        let stage = try Stage(size: 4_000_000, memory: 64 << 20)
        stage.origin.bendGET { $0.stallAfter = 100_000 }
        // Standard error is a full pipe, so writing the message about the first signal blocks
        // indefinitely.
        let pipe = try FullPipe()
        let process = try Run(
            "/bin/sh",
            [
                "-c", "exec \"$0\" \"$@\" 2>\(pipe.path)", try Segget.binary(),
                stage.origin.url("/file"), "-x", "4",
            ], in: stage.folder)
        try #require(process.waits(for: 400_000))
        process.signal(SIGINT)
        let sent = monotonicSeconds()
        let hasEnded = eventually(timeout: 0.4) { !process.isRunning }
        process.signal(SIGTERM)
        // After a second the first signal ends the process too, so a slow machine tests nothing
        // here.
        let isLate = monotonicSeconds() - sent > 0.9
        #expect(!hasEnded || isLate)
        let outcome = try process.wait()
        #expect(outcome.end == .exit(143) || isLate && outcome.end == .exit(130))
        #expect(stage.recorded() == 400_000)
    }

    /// nohup(1) ignores SIGHUP before it starts a program.
    @Test(.timeLimit(.minutes(5))) func ignoredHangupStaysIgnored() throws {
        let stage = try Stage(size: 1_000_000, memory: 64 << 20)
        stage.origin.bendGET { $0.pace = 1_000_000 }
        let process = try Run(
            "/bin/sh",
            [
                "-c", "trap '' HUP; exec \"$0\" \"$@\"", try Segget.binary(), "-x", "1",
                stage.origin.url("/file"),
            ], in: stage.folder)
        try #require(process.waits(for: 100_000))
        process.signal(SIGHUP)
        #expect(try process.wait().end == .exit(0))
        #expect(try stage.isRight())
    }
}
