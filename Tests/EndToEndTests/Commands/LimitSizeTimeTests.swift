import Foundation
import TestSupport
import Testing

/// Tests `--max-size` and `--max-time`.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct LimitSizeTimeTests {
    // MARK: Size

    @Test(arguments: [2_999_999, 0] as [Int64])
    func refusesLargerFileBeforeDownload(limit: Int64) async throws {
        let trial = try WireTrial()
        let outcome = try await trial.run("--max-size", "\(limit)")
        try outcome.expectFailure(code: 69, kind: "too_large", keepsPart: false)
        // One byte, to confirm with `GET` what `HEAD` stated.
        #expect(trial.gets.allSatisfy { $0.range?.last == 0 })
        #expect(trial.origin.bytesServed <= 1)
        #expect(outcome.errorOutput.contains("is 3000000 bytes long"))
        #expect(outcome.errorOutput.contains("`--max-size` allows \(limit) byte"))
        try await trial.run("--max-size", "3000000").expectComplete(trial.content)
    }

    @Test func ignoresSizeFromHEADOnly() async throws {
        let trial = try WireTrial { request, reply in
            if request.method == "HEAD" { reply.claimedLength = 1_000_000_000 }
        }
        try await trial.run("--max-size", "3000000").expectComplete(trial.content)
    }

    @Test(arguments: [OriginReply.Framing.chunked, .close])
    func refusesLargerFileOfUnknownSize(framing: OriginReply.Framing) async throws {
        let trial = try WireTrial { request, content in
            OriginReply.file(content, for: request, etag: "\"a\"", ranges: false).with {
                $0.framing = framing
            }
        }
        for limit in [2_999_999, 1_000_000, 0] {
            let outcome = try await trial.run("--max-size", "\(limit)")
            try outcome.expectFailure(code: 69, kind: "too_large", keepsPart: false)
            #expect(outcome.errorOutput.contains("is longer than announced"))
        }
        try await trial.run("--max-size", "3000000").expectComplete(trial.content)
    }

    /// segget stops at the limit, not at the end of the file.
    @Test func stopsFileOfUnknownSizeAtLimit() throws {
        let stage = try Stage(size: 200_000_000)
        stage.origin.hideSize()
        let outcome = try stage.run(["--max-size", "1M"])
        #expect(outcome.end == .exit(69), "\(outcome.errorOutput)")
        #expect(stage.origin.bytesServed < 50_000_000)
        #expect(try stage.names().isEmpty)
    }

    @Test func existingFilesStayUnchanged() throws {
        let stage = try Stage(size: 4_000_000)
        let kept = try stage.leavePart(each: 200_000)
        let outcome = try stage.run(["--max-size", "1M", "-o", "file"])
        #expect(outcome.end == .exit(69), "\(outcome.errorOutput)")
        #expect(stage.recorded() == kept)
        #expect(outcome.errorOutput.contains("kept: 781 KiB in `file.part`"))
        #expect(try stage.run(["--max-size", "4M"]).end == .exit(0))
        #expect(try stage.isRight())
        stage.origin.change { $0.content = Content(size: 5_000_000, seed: 9) }
        #expect(try stage.run(["--max-size", "4M", "--overwrite"]).end == .exit(69))
        stage.origin.hideSize()
        #expect(try stage.run(["--max-size", "4M", "--overwrite"]).end == .exit(69))
        #expect(try stage.names() == ["file"])
        #expect(
            try Content(size: 4_000_000, seed: 1).firstDifference(at: stage.path("file")) == nil)
    }

    // MARK: Time

    @Test func sameCommandResumesAfterTimeLimit() throws {
        let stage = try Stage(size: 8_000_000, memory: 64 << 20)
        stage.origin.bendGET { $0.pace = 200_000 }
        let outcome = try stage.run(["-x", "4", "--max-time", "2.5", "--json"])
        #expect(outcome.end == .exit(75), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("was stopped after 2.5 s, the limit of `--max-time`"))
        #expect(outcome.errorOutput.contains("run the same command again to resume"))
        let last = try #require(try jsonEvents(outcome.output).last)
        #expect(last["kind"] as? String == "time_is_up")
        #expect(last["code"] as? Int32 == 75)
        #expect(try #require(last["time"] as? Double) >= 2.5)
        let kept = try #require(stage.recorded())
        #expect(kept > 0)
        #expect(last["bytes_kept"] as? Int64 == kept)
        #expect(try stage.names() == ["file.part", "file.segget"])
        stage.origin.behave()
        let again = try stage.run(["-x", "4", "--max-time", "100", "--json"])
        #expect(again.end == .exit(0), "\(again.errorOutput)")
        #expect(try jsonEvents(again.output).last?["bytes_resumed"] as? Int64 == kept)
        #expect(try stage.isRight())
    }

    @Test func timeLimitIncludesProbing() throws {
        let stage = try Stage(size: 1000)
        stage.origin.bend { $1.delayBeforeHeaders = .infinity }
        let outcome = try stage.run(["--max-time", "0.5"])
        #expect(outcome.end == .exit(75), "\(outcome.errorOutput)")
        #expect(try stage.names().isEmpty)
    }

    /// A signal before the time limit is reported as the signal.
    @Test func signalIsNotReportedAsTimeLimit() throws {
        let stage = try Stage(size: 4_000_000, memory: 64 << 20)
        stage.origin.bendGET { $0.pace = 100_000 }
        let process = try stage.start(["-x", "4", "--max-time", "60"])
        #expect(process.waits(for: 50_000))
        process.signal(SIGINT)
        let outcome = try process.wait(timeout: 120)
        #expect(outcome.end == .exit(130))
        #expect(outcome.errorOutput.contains("was stopped by SIGINT"))
    }
}
