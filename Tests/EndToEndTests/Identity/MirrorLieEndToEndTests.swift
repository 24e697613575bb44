import Foundation
import TestSupport
import Testing

/// Tests mirrors that do not have the file that they claim to have.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct MirrorLieEndToEndTests {
    private static let size: Int64 = 12_000_000

    /// Returns mirrors with different ETags, so that only a checksum shows that they have the same
    /// file.
    private static func trial(
        _ count: Int, sameTag: Bool = false, pace: Double = 1_000_000
    ) throws -> MirrorTrial {
        try MirrorTrial(count, size: size) { index, offer in
            offer.pace = pace
            if !sameTag { offer.etag = "\"of \(index)\"" }
        }
    }

    /// A sample shows that a mirror has another file of the same size before segget uses its bytes.
    @Test(arguments: [true, false])
    func dropsMirrorWithOtherContent(sameTag: Bool) async throws {
        let trial = try Self.trial(3, sameTag: sameTag, pace: 750_000)
        trial.origins[1].change { $0.content = Content(size: Self.size, seed: 8) }
        let outcome = try await trial.run(["-x", "6"] + (sameTag ? [] : trial.checksum))
        try outcome.expectComplete(trial.content)
        #expect(try trial.dropped(outcome) == [1: ["other_data"]])
        #expect(trial.served[1] <= 128 << 10)
        #expect(trial.served[2] > 100_000)
        #expect(try outcome.notices("started_over").isEmpty)
    }

    /// The first URL has another file: the checksum shows that at the end, and the other mirrors
    /// deliver the file.
    @Test(arguments: [2, 3])
    func dropsFirstMirrorWithWrongChecksum(count: Int) async throws {
        let trial = try Self.trial(count, pace: 2_000_000)
        trial.origins[0].change { $0.content = Content(size: Self.size, seed: 8) }
        let outcome = try await trial.run(["-x", "6"] + trial.checksum)
        try outcome.expectComplete(trial.content)
        let dropped = try trial.dropped(outcome)
        #expect(dropped[0] == ["checksum_mismatch"])
        #expect(try outcome.notices("started_over").map(\.reason) == ["mirrors_differ"])
    }

    /// Only the first URL has a file of another size.
    @Test func dropsFirstMirrorWithWrongSize() async throws {
        let trial = try Self.trial(3)
        for number in 0..<3 { trial.origins[number].change { $0.pace = nil } }
        trial.origins[0].change { $0.content = Content(size: Self.size - 1, seed: 7) }
        let outcome = try await trial.run(["-x", "6"] + trial.checksum)
        try outcome.expectComplete(trial.content)
        #expect(try trial.dropped(outcome)[0] == ["checksum_mismatch"])
    }

    /// Without a checksum the size at the first URL counts, even after that server fails.
    @Test func mirrorWithOtherSizeIsNotStandby() async throws {
        let trial = try Self.trial(2, sameTag: true)
        trial.origins[1].change { $0.content = Content(size: Self.size - 1, seed: 7) }
        let child = try trial.start(["-x", "4", "--retries", "1"])
        #expect(eventually(timeout: 120) { trial.served[0] > 3_000_000 })
        trial.kill(0)
        let outcome = try await child.ended()
        #expect(outcome.exitCode == 69, "\(outcome.errorOutput)")
        #expect(try outcome.events("error").first?.mirrors?.failed?.count == 2)
        #expect(try outcome.events("error").first?.bytesKept ?? 0 > 1_000_000)
    }

    /// One mirror sends damaged bytes in the middle of the file.
    @Test(arguments: [0, 1])
    func recoversFromDamagedBytesOfMirror(liar: Int) async throws {
        let trial = try Self.trial(2, pace: 2_000_000)
        trial.origins[liar].bend { request, reply in
            guard request.method == "GET", reply.body.count > 64 << 10 else { return }
            reply.corruptAt = (0..<12).map { $0 * 1_000_000 + 500_001 }
        }
        let outcome = try await trial.run(["-x", "4"] + trial.checksum)
        try outcome.expectComplete(trial.content)
        let dropped = try trial.dropped(outcome)
        #expect(!dropped.isEmpty)
        #expect(outcome.errorOutput.contains("has the wrong checksum"))
        // The bytes of the first mirror that segget tried alone were kept.
        #expect(trial.served.reduce(0, +) < 3 * Self.size, "\(trial.served)")
    }

    /// All mirrors have wrong files: segget publishes nothing, and a later run does not use the
    /// part.
    @Test func failsIfAllMirrorsHaveWrongFiles() async throws {
        let trial = try Self.trial(3)
        for number in 0..<3 {
            trial.origins[number].change {
                $0.content = Content(size: Self.size, seed: 20 + UInt64(number))
                $0.pace = nil
            }
        }
        let outcome = try await trial.run(["-x", "4"] + trial.checksum)
        #expect(outcome.exitCode == 65, "\(outcome.errorOutput)")
        #expect(try trial.sandbox.names() == ["file.bin.part", "file.bin.segget"])
        #expect(try outcome.events("error").first?.mirrors?.failed?.count == 2)
        trial.origins[1].change { $0.content = trial.content }
        let second = try await trial.run(["-x", "4"] + trial.checksum)
        try second.expectComplete(trial.content)
        #expect(try second.notices("started_over").first?.reason == "rejected")
    }

    /// A later run without the checksum does not trust a part that was downloaded with one.
    @Test(arguments: [[], ["--resume-unverified"]])
    func laterRunWithoutChecksumStartsOver(options: [String]) async throws {
        let trial = try Self.trial(2)
        trial.origins[1].bend { request, reply in
            guard request.method == "GET", reply.body.count > 64 << 10 else { return }
            reply.corruptAt = (0..<120).map { $0 * 100_000 + 50_001 }
        }
        let child = try trial.start(["-x", "4"] + trial.checksum)
        #expect(eventually(timeout: 120) { trial.served.allSatisfy { $0 > 1_500_000 } })
        child.signal(SIGKILL)
        _ = try await child.ended()
        let outcome = try await Run(
            [trial.url(0), "--json", "-v"] + options, in: trial.sandbox.path
        ).ended()
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("started_over").map(\.reason) == ["no_validator"])
    }

    /// The source of the wrong bytes in the part is unknown, so they are downloaded again.
    @Test func laterRunWithChecksumCompletes() async throws {
        let trial = try Self.trial(2)
        trial.origins[1].bend { request, reply in
            guard request.method == "GET", reply.body.count > 64 << 10 else { return }
            reply.corruptAt = (0..<120).map { $0 * 100_000 + 50_001 }
        }
        let child = try trial.start(["-x", "4"] + trial.checksum)
        #expect(eventually(timeout: 120) { trial.served.allSatisfy { $0 > 1_500_000 } })
        child.signal(SIGKILL)
        _ = try await child.ended()
        trial.kill(1)
        let outcome = try await trial.run(["-x", "4", "--retries", "2"] + trial.checksum)
        try outcome.expectComplete(trial.content)
    }

    // MARK: One at a time

    /// Nothing shows that the second mirror has the same file, so it is on standby.
    @Test func standbyMirrorReceivesNoRequests() async throws {
        let trial = try Self.trial(2, pace: 1_000_000)
        trial.origins[1].change { $0.content = Content(size: Self.size, seed: 8) }
        let outcome = try await trial.run(["-x", "4"])
        try outcome.expectComplete(trial.content)
        #expect(try trial.numbers("mirror_on_standby", outcome) == [1])
        #expect(trial.served[1] == 0)
    }

    /// Equal dates do not show that the files are the same.
    @Test func equalDatesDoNotShowSameFile() async throws {
        let trial = try Self.trial(2, pace: 1_000_000)
        for number in 0..<2 {
            trial.origins[number].change {
                $0.etag = nil
                $0.lastModified = "Sun, 13 Sep 2020 12:26:40 GMT"
            }
        }
        trial.origins[1].change { $0.content = Content(size: Self.size, seed: 8) }
        let outcome = try await trial.run(["-x", "4"])
        try outcome.expectComplete(trial.content)
        #expect(trial.served[1] == 0)
    }

    /// The standby mirror takes over after the first one fails, and their bytes are not mixed.
    @Test func standbyMirrorStartsOver() async throws {
        let trial = try Self.trial(2)
        let other = Content(size: Self.size, seed: 8)
        trial.origins[1].change {
            $0.content = other
            $0.pace = nil
        }
        let child = try trial.start(["-x", "4", "--retries", "1"])
        #expect(eventually(timeout: 120) { trial.served[0] > 3_000_000 })
        trial.kill(0)
        let outcome = try await child.ended()
        try outcome.expectComplete(other)
        #expect(try trial.dropped(outcome) == [0: ["network"]])
        #expect(try trial.numbers("mirror_is_primary", outcome) == [1])
        #expect(try outcome.notices("started_over").count == 1)
        #expect(trial.served[1] >= Self.size)
    }

    /// segget keeps an earlier run's part, despite the standby mirror, as long as the first mirror
    /// recovers.
    @Test func keepsPartWhileFirstMirrorRecovers() async throws {
        let trial = try Self.trial(2)
        let child = try trial.start(["-x", "4"])
        #expect(eventually(timeout: 120) { trial.served[0] > 3_000_000 })
        child.signal(SIGKILL)
        _ = try await child.ended()
        let tally = Tally()
        trial.origins[0].change {
            $0.pace = nil
            $0.bend = { _, reply in if tally.add() <= 4 { reply = .text(503) } }
        }
        let outcome = try await trial.run(["-x", "4"])
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("started_over").isEmpty)
        #expect(trial.served[1] == 0)
        #expect(try outcome.events("finished").first?.bytesResumed ?? 0 > 1_000_000)
    }

    /// Servers without ranges are used one at a time, each from the beginning.
    @Test func usesOneMirrorAtATimeWithoutRanges() async throws {
        let trial = try Self.trial(2, sameTag: true)
        for number in 0..<2 {
            trial.origins[number].change {
                $0.pace = nil
                $0.bend = { request, reply in
                    guard request.method == "GET" else { return reply = .text(405) }
                    reply = OriginReply(
                        headers: [
                            HeaderField("Accept-Ranges", "none"), HeaderField("ETag", "\"v1\""),
                        ], body: .content(Content(size: Self.size, seed: 7), 0..<Self.size))
                    if number == 0 { reply.cutAfter = 3_000_000 }
                }
            }
        }
        let outcome = try await trial.run(["--retries", "1"])
        try outcome.expectComplete(trial.content)
        #expect(try trial.dropped(outcome)[0]?.count == 1)
        #expect(try trial.dropped(outcome)[1] == nil)
        #expect((Self.size...Self.size + (1 << 20)).contains(trial.served[1]))
    }

    /// The file changes on one mirror during the download: the other one continues with the first
    /// version.
    @Test(arguments: [0, 1])
    func dropsMirrorWhoseFileChanges(number: Int) async throws {
        let trial = try Self.trial(2, sameTag: true, pace: 400_000)
        let child = try trial.start(["-x", "6"])
        #expect(eventually(timeout: 120) { trial.served.allSatisfy { $0 > 1_500_000 } })
        trial.origins[number].change {
            $0.content = Content(size: Self.size, seed: 9)
            $0.etag = "\"v2\""
        }
        let outcome = try await child.ended()
        try outcome.expectComplete(trial.content)
        #expect(try trial.dropped(outcome) == [number: ["remote_changed"]])
        #expect(try outcome.notices("started_over").isEmpty)
    }

    /// An equal digest in replies to `HEAD` lets segget use a mirror some of whose bytes are wrong.
    ///
    /// The digest counts in a later run too, although no server states it then.
    @Test func laterRunVerifiesDigestOfMirrors() async throws {
        let trial = try Self.trial(2, pace: 100_000)
        let digest = Data(trial.content.sha256).base64EncodedString()
        for number in 0..<2 {
            trial.origins[number].bend { request, reply in
                if request.method == "HEAD" {
                    reply.set("Repr-Digest", "sha-256=:\(digest):")
                } else if number == 1, case .content(_, let range) = reply.body,
                    range.count > 64 << 10
                {
                    // Not in the compared samples.
                    reply.pace = 1_000_000
                    reply.corruptAt = Array(stride(from: 0, to: Self.size, by: 10_000))
                }
            }
        }
        let child = try trial.start(["-x", "4"])
        #expect(eventually(timeout: 120) { trial.served[1] > 1_000_000 })
        child.signal(SIGTERM)
        #expect(try await child.ended().end == .exit(143))
        trial.origins[0].change {
            $0.pace = nil
            $0.bend = { request, reply in if request.method == "HEAD" { reply = .text(405) } }
        }
        let alone = try await Run([trial.url(0)], in: trial.sandbox.path).ended()
        #expect(alone.end == .exit(65), "\(alone.errorOutput)")
        #expect(try trial.sandbox.names() == ["file.bin.part", "file.bin.segget"])
        try await Run([trial.url(0)], in: trial.sandbox.path).ended().expectComplete(trial.content)
    }
}
