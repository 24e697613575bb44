import Foundation
import TestSupport
import Testing

/// Several servers for one file, together with other options.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct MirrorCombinationTests {
    private static let date = "Mon, 01 Jan 2024 00:00:00 GMT"

    /// Two servers whose different files have the same size and date.
    ///
    /// Only the first one may send an ETag.
    private static func strangers(_ tag: String? = nil) throws -> MirrorTrial {
        try MirrorTrial(2, size: 3_000_000) { index, offer in
            offer.lastModified = date
            offer.etag = index == 0 ? tag : nil
            if index == 1 { offer.content = Content(size: 3_000_000, seed: 8) }
            if index == 0 { offer.pace = 300_000 }
        }
    }

    // MARK: Standard output

    /// Runs segget with the file on its standard output; `meanwhile` runs during the download.
    private func stream(
        _ trial: MirrorTrial, _ options: [String], meanwhile: () -> Void = {}
    ) async throws -> Run.Outcome {
        let child = try Run(
            ["-o", "-", trial.url(0), "--mirror", trial.url(1)] + options, in: trial.sandbox.path)
        meanwhile()
        return try await child.ended()
    }

    @Test func streamsFromMirrorIfFirstServerIsDead() async throws {
        let trial = try MirrorTrial(2, size: 1_000_000)
        trial.kill(0)
        let outcome = try await stream(trial, ["--retries", "1"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(trial.content.matches(outcome.standardOutput, in: 0..<1_000_000))
    }

    /// segget never appends bytes of a mirror to a stream because of an equal date alone.
    @Test func streamIsNotContinuedByDate() async throws {
        let trial = try Self.strangers()
        let outcome = try await stream(trial, ["--retries", "0", "--window", "256K", "-x", "2"]) {
            #expect(eventually(timeout: 50) { trial.served[0] > 700_000 })
            trial.kill(0)
        }
        let out = outcome.standardOutput
        #expect(outcome.end == .exit(69), "\(outcome.errorOutput)")
        #expect(out.count > 300_000)
        #expect(trial.content.matches(out, in: 0..<Int64(out.count)))
    }

    /// A mirror with the same ETag continues the stream.
    @Test func streamIsContinuedByTag() async throws {
        let trial = try MirrorTrial(2, size: 3_000_000) { index, offer in
            if index == 0 { offer.pace = 300_000 }
        }
        let outcome = try await stream(trial, ["--retries", "0", "--window", "256K", "-x", "2"]) {
            #expect(eventually(timeout: 50) { trial.served[0] > 700_000 })
            trial.kill(0)
        }
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(trial.content.matches(outcome.standardOutput, in: 0..<3_000_000))
    }

    // MARK: Parts

    /// segget does not complete one server's part with another one's file because of an equal date.
    @Test(arguments: ["\"a\"", nil]) func partIsNotContinuedByDate(tag: String?) async throws {
        let trial = try Self.strangers(tag)
        let child = try trial.start(["-x", "2", "--retries", "0"])
        #expect(eventually(timeout: 50) { trial.served[0] > 600_000 })
        child.signal(SIGKILL)
        _ = try await child.ended()
        trial.kill(0)
        let outcome = try await trial.run(["-x", "2", "--retries", "0"])
        try outcome.expectComplete(Content(size: 3_000_000, seed: 8))
        #expect(try outcome.notices("started_over").count == 1)
    }

    /// The server with the correct file goes away for a while.
    ///
    /// segget keeps its bytes, although another server with different data is available.
    @Test func keepsBytesOfCorrectServerWhileItIsAway() async throws {
        let trial = try MirrorTrial(2, size: 3_000_000) { index, offer in
            offer.etag = "\"of \(index)\""
            if index == 0 { offer.pace = 200_000 }
            if index == 1 { offer.content = Content(size: 3_000_000, seed: 8) }
        }
        let options = ["-x", "2", "--retries", "1"] + trial.checksum
        let child = try trial.start(options)
        #expect(
            eventually(timeout: 50) {
                trial.served[0] > 600_000 && child.output.contains("mirror_dropped")
            })
        trial.kill(0)
        let outcome = try await child.ended()
        #expect(outcome.end == .exit(69), "\(outcome.errorOutput)")
        let kept = try #require(try outcome.events().last?.bytesKept)
        #expect(kept > 300_000)
        try trial.origins[0].acceptConnections()
        trial.origins[0].change { $0.pace = nil }
        let again = try await trial.run(options)
        try again.expectComplete(trial.content)
        #expect(try again.events("finished").first?.bytesResumed == kept)
    }

    /// `--no-resume` concerns earlier runs: segget keeps what this run received.
    @Test func noResumeKeepsBytesOfSameRun() async throws {
        let trial = try MirrorTrial(2, size: 3_000_000) { index, offer in
            if index == 0 { offer.pace = 200_000 }
            // This mirror responds only after the download has started.
            if index == 1 { offer.bend = { _, reply in reply.delayBeforeHeaders = 1.5 } }
        }
        let child = try trial.start(["-x", "2", "--retries", "0", "--no-resume"])
        #expect(eventually(timeout: 50) { trial.served[0] > 300_000 })
        trial.kill(0)
        let outcome = try await child.ended()
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("started_over").isEmpty)
        #expect(trial.served[1] < 2_900_000, "\(trial.served)")
    }

    // MARK: Finished files

    @Test(arguments: ["--keep-manifest", "--xattr"])
    func recognizesFileThatMirrorCompleted(option: String) async throws {
        let trial = try MirrorTrial(2, size: 1_000_000)
        trial.origins[0].refuseConnections()
        let first = try await trial.run([option, "--retries", "0"])
        #expect(first.end == .exit(0), "\(first.errorOutput)")
        try trial.origins[0].acceptConnections()
        let served = trial.served
        let again = try await trial.run([option, "--retries", "0"])
        #expect(again.end == .exit(0), "\(again.errorOutput)")
        #expect(trial.served.reduce(0, +) <= served.reduce(0, +) + 2)
    }

    // MARK: Limits

    @Test(arguments: [true, false]) func maxSizeAppliesToMirrors(isHeadRight: Bool) async throws {
        let trial = try MirrorTrial(2, size: 1_000_000) { _, offer in
            guard !isHeadRight else { return }
            offer.bend = { request, reply in
                if request.method == "HEAD" { reply.claimedLength = 9_000_000 }
            }
        }
        let outcome = try await trial.run(["--max-size", isHeadRight ? "999999" : "2M"])
        if isHeadRight {
            #expect(outcome.end == .exit(69), "\(outcome.errorOutput)")
            #expect(try outcome.events().last?.kind == "too_large")
            #expect(try trial.sandbox.names() == [])
            #expect(trial.served.reduce(0, +) <= 2)
        } else {
            try outcome.expectComplete(trial.content)
        }
    }

    /// A mirror's sample is interrupted: segget compares it again, and uses the mirror.
    @Test func mirrorJoinsAfterInterruptedSample() async throws {
        let trial = try MirrorTrial(2, size: 2_000_000) { index, offer in
            if index == 0 { offer.pace = 15_000 }
        }
        let tally = Tally()
        trial.origins[1].bend { request, reply in
            // The first sample stalls. The probe requests only one byte.
            guard request.method == "GET", reply.body.count > 1 else { return }
            if tally.add() == 1 { reply.stallAfter = 1000 }
        }
        let outcome = try await trial.run(
            ["-x", "4", "--min-rate", "300K", "--min-rate-time", "3"])
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("changing_connections").count >= 1)
        #expect(try trial.numbers("mirror_joined", outcome) == [1])
    }
}
