import Foundation
import TestSupport
import Testing

/// Several servers that have the same file.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct MirrorEndToEndTests {
    /// The evidence that the mirrors have the same file.
    enum Proof: String, Sendable, CaseIterable {
        case etag, checksum, digest
    }

    private static func trial(
        _ count: Int, _ proof: Proof, size: Int64 = 12_000_000, pace: Double? = 1_000_000
    ) throws -> MirrorTrial {
        let digest = Data(Content(size: size, seed: 7).sha256).base64EncodedString()
        return try MirrorTrial(count, size: size) { index, offer in
            offer.pace = pace
            guard proof != .etag else { return }
            offer.etag = "\"of \(index)\""
            guard proof == .digest else { return }
            offer.bend = { _, reply in reply.set("Repr-Digest", "sha-256=:\(digest):") }
        }
    }

    @Test(arguments: [(.etag, 2), (.checksum, 3), (.digest, 2), (.etag, 3)] as [(Proof, Int)])
    func mirrorsShareWork(proof: Proof, count: Int) async throws {
        // A mirror that is late because the machine is busy sends less.
        let isShared = try await oneOfThree {
            let trial = try Self.trial(count, proof)
            let options = proof == .checksum ? trial.checksum : []
            let outcome = try await trial.run(["-x", "6"] + options)
            try outcome.expectComplete(trial.content)
            #expect(try trial.dropped(outcome).isEmpty)
            #expect(try trial.numbers("mirror_joined", outcome).sorted() == Array(1..<count))
            #expect(try outcome.events("started").first?.mirrors?.count == count)
            #expect(trial.served.reduce(0, +) < 15_000_000)
            #expect(trial.origins.allSatisfy { $0.peakConnections <= 7 })
            // Every mirror sends a considerable part.
            return trial.served.allSatisfy { $0 > 12_000_000 / Int64(3 * count) }
        }
        #expect(isShared)
    }

    @Test func fasterMirrorSendsMore() async throws {
        let isFaster = try await oneOfThree {
            let trial = try Self.trial(2, .etag, size: 20_000_000)
            trial.origins[0].change { $0.pace = 600_000 }
            trial.origins[1].change { $0.pace = 2_400_000 }
            let outcome = try await trial.run(["-x", "4"])
            try outcome.expectComplete(trial.content)
            return trial.served[1] > 2 * trial.served[0] && trial.served[0] > 400_000
        }
        #expect(isFaster)
    }

    /// segget uses the second mirror only after the first one fails.
    @Test func singleConnectionUsesOneMirror() async throws {
        let trial = try Self.trial(2, .etag, size: 3_000_000)
        let child = try trial.start(["-x", "1", "--retries", "2"])
        #expect(eventually(timeout: 120) { trial.served[0] > 1_000_000 })
        #expect(trial.served[1] == 0)
        trial.kill(0)
        let outcome = try await child.ended()
        try outcome.expectComplete(trial.content)
        #expect(trial.served[1] < 2_300_000)
    }

    /// Real servers whose copies have the same date, as those of mirrors do.
    @Test func mirrorsWithSameDateShareWork() async throws {
        let content = Content(size: 20_000_000, seed: 3)
        let folders = try [Sandbox(), Sandbox()]
        for folder in folders {
            try content.write(to: folder.path("file.bin"))
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)],
                ofItemAtPath: folder.path("file.bin"))
        }
        let servers = try folders.map { try Nginx(root: $0.path, limitRate: "2m") }
        let target = try Sandbox()
        let outcome = try await Run(
            [
                servers[0].url("file.bin"), "--mirror", servers[1].url("file.bin"), "--json", "-x",
                "4",
            ],
            in: target.path
        ).ended()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try content.firstDifference(at: target.path("file.bin")) == nil)
        #expect(try outcome.notices("mirror_joined").count == 1)
        #expect(try outcome.notices("mirror_dropped").isEmpty)
        for server in servers { #expect(try eventually { try server.bytesSent() > 1_000_000 }) }
    }

    // MARK: Failures

    /// The other mirror sends the rest, and segget downloads nothing twice.
    @Test(arguments: [0, 1], [Proof.etag, .checksum])
    func continuesAfterMirrorDies(number: Int, proof: Proof) async throws {
        let trial = try Self.trial(2, proof)
        let options = proof == .checksum ? trial.checksum : []
        let child = try trial.start(["-x", "4"] + options)
        #expect(eventually(timeout: 120) { trial.served[number] > 1_500_000 })
        trial.kill(number)
        let outcome = try await child.ended()
        try outcome.expectComplete(trial.content)
        #expect(try trial.dropped(outcome) == [number: ["network"]])
        #expect(try outcome.notices("started_over").isEmpty)
        #expect(trial.served.reduce(0, +) < 15_000_000, "\(trial.served)")
        #expect(outcome.errorOutput.contains("the mirror `\(trial.url(number))` is no longer used"))
    }

    /// If no mirror sends anything, the mirrors are not at fault: segget drops none.
    @Test func waitsIfAllMirrorsAreAway() async throws {
        let trial = try Self.trial(2, .etag)
        let child = try trial.start(["-x", "4"])
        #expect(eventually(timeout: 120) { trial.served.allSatisfy { $0 > 1_000_000 } })
        // Both at the same time: otherwise segget would rightly prefer the one that works.
        for origin in trial.origins { origin.refuseConnections() }
        for origin in trial.origins { origin.dropConnections() }
        // Four connections, one of which retries more often than segget retries one of several
        // mirrors.
        #expect(
            eventually(timeout: 120) {
                child.output.split(separator: "\n").count { $0.contains("\"retrying\"") } > 13
            })
        for origin in trial.origins { try origin.acceptConnections() }
        let outcome = try await child.ended()
        try outcome.expectComplete(trial.content)
        #expect(try trial.dropped(outcome).isEmpty)
    }

    /// A mirror accepts connections and never responds.
    @Test(arguments: [0, 1])
    func unresponsiveMirrorDelaysNothing(number: Int) async throws {
        let trial = try Self.trial(2, .checksum, size: 4_000_000)
        trial.origins[number].bend { _, reply in reply.delayBeforeHeaders = .infinity }
        let outcome = try await trial.run(
            ["-x", "4", "--stall-timeout", "300"] + trial.checksum)
        try outcome.expectComplete(trial.content)
        #expect(outcome.wallSeconds < 100)
    }

    @Test(arguments: [0, 1])
    func dropsMirrorThatAnswers404(number: Int) async throws {
        let trial = try Self.trial(3, .etag)
        trial.origins[number].bend { _, reply in reply = .text(404) }
        let outcome = try await trial.run(["-x", "4"])
        try outcome.expectComplete(trial.content)
        #expect(try trial.dropped(outcome) == [number: ["status"]])
        #expect(trial.served[2] > 100_000)
    }

    @Test(arguments: [0, 1])
    func completesIfOneMirrorIsDead(number: Int) async throws {
        let trial = try Self.trial(3, .etag)
        trial.kill(number)
        let outcome = try await trial.run(["-x", "4"])
        try outcome.expectComplete(trial.content)
        #expect(trial.served[2] > 100_000)
        #expect(try outcome.events("finished").count == 1)
    }

    @Test func dropsMirrorWithAnotherSize() async throws {
        let trial = try Self.trial(3, .checksum)
        trial.origins[1].change { $0.content = Content(size: 11_999_999, seed: 7) }
        let outcome = try await trial.run(["-x", "4"] + trial.checksum)
        try outcome.expectComplete(trial.content)
        #expect(try trial.dropped(outcome) == [1: ["other_size"]])
        #expect(trial.served[1] == 0)
        #expect(trial.served[2] > 100_000)
    }

    /// A mirror's advertised digest differs from the checksum, or from the first server's digest.
    @Test(arguments: [true, false], [0, 1])
    func rejectsMirrorWithAnotherDigest(hasChecksum: Bool, number: Int) async throws {
        let trial = try Self.trial(2, .digest, size: 8_000_000)
        let other = Data(Content(size: 1, seed: 1).sha256).base64EncodedString()
        trial.origins[number].bend { _, reply in reply.set("Repr-Digest", "sha-256=:\(other):") }
        let outcome = try await trial.run(["-x", "4"] + (hasChecksum ? trial.checksum : []))
        if hasChecksum {
            try outcome.expectComplete(trial.content)
            #expect(try trial.dropped(outcome) == [number: ["other_digest"]])
            #expect(trial.served[number] == 0)
        } else if number == 1 {
            try outcome.expectComplete(trial.content)
            #expect(try trial.dropped(outcome) == [1: ["other_digest"]])
        } else {
            // segget expects the first server's digest, and the file does not match it.
            #expect(outcome.exitCode == 65, "\(outcome.errorOutput)")
        }
    }

    @Test func reportsFailureOfEachMirror() async throws {
        let trial = try Self.trial(3, .etag)
        trial.origins[0].bend { _, reply in reply = .text(404) }
        trial.origins[1].bend { _, reply in reply = .text(403) }
        trial.kill(2)
        let secret = "?token=hidden"
        let outcome = try await Run(
            [trial.url(0) + secret, "--json"]
                + [1, 2].flatMap { ["--mirror", trial.url($0) + secret] }, in: trial.sandbox.path
        ).ended()
        #expect(outcome.exitCode == 69, "\(outcome.errorOutput)")
        #expect(try trial.sandbox.names().isEmpty)
        let error = try #require(try outcome.events("error").first)
        #expect(error.mirrors?.failed?.map(\.url) == (0..<3).map(trial.url))
        #expect(error.mirrors?.failed?.map(\.reason) == ["status", "refused", "network"])
        for number in 0..<3 {
            #expect(outcome.errorOutput.contains("note: the mirror `\(trial.url(number))`:"))
        }
        #expect(!outcome.errorOutput.contains("hidden"))
        #expect(!outcome.output.contains("hidden"))
    }

    /// The same command later resumes from either mirror.
    @Test(arguments: [Proof.etag, .checksum], [0, 1])
    func resumesFromAnyMirrorAfterAllDied(proof: Proof, survivor: Int) async throws {
        let trial = try Self.trial(2, proof)
        let options = ["-x", "4", "--retries", "1"] + (proof == .checksum ? trial.checksum : [])
        let child = try trial.start(options)
        #expect(eventually(timeout: 120) { trial.served.allSatisfy { $0 > 1_500_000 } })
        trial.kill(0)
        trial.kill(1)
        let outcome = try await child.ended()
        #expect(outcome.exitCode == 69, "\(outcome.errorOutput)")
        let error = try #require(try outcome.events("error").first)
        let kept = try #require(error.bytesKept)
        #expect(kept > 1_000_000)
        #expect(error.mirrors?.failed?.count == 2)
        try trial.origins[survivor].acceptConnections()
        trial.origins[survivor].change { $0.pace = nil }
        let second = try await trial.run(options)
        try second.expectComplete(trial.content)
        #expect(try second.events("finished").last?.bytesResumed == kept)
        #expect(try second.notices("started_over").isEmpty)
    }

    @Test func resumesKilledMirrorDownload() async throws {
        let trial = try Self.trial(3, .checksum)
        for part in [3_000_000, 6_000_000, 9_000_000] as [Int64] {
            let child = try trial.start(["-x", "6"] + trial.checksum)
            #expect(eventually(timeout: 120) { trial.served.reduce(0, +) > part })
            child.signal(SIGKILL)
            _ = try await child.ended()
        }
        let outcome = try await trial.run(["-x", "6"] + trial.checksum)
        try outcome.expectComplete(trial.content)
        #expect(trial.served.reduce(0, +) < 18_000_000, "\(trial.served)")
    }

    @Test func refusesInvalidMirrorURLs() async throws {
        let trial = try MirrorTrial(1)
        for (mirror, text) in [
            ("ftp://127.0.0.1/x", "is a `ftp:` URL"), ("", "--mirror"),
            ("http://user:hidden@/", "not shown"),
        ] {
            let outcome = try await trial.run(["--mirror", mirror])
            #expect(outcome.exitCode == 64, "\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains(text), "\(outcome.errorOutput)")
            #expect(!outcome.errorOutput.contains("hidden"))
        }
    }

    /// `-H` applies only to the origin of the first URL.
    @Test func headersAreSentOnlyToFirstOrigin() async throws {
        let trial = try Self.trial(2, .etag, size: 8_000_000)
        let outcome = try await trial.run(["-x", "4", "-H", "X-Key: hidden"])
        try outcome.expectComplete(trial.content)
        #expect(trial.origins[0].requests.allSatisfy { $0.header("X-Key") == "hidden" })
        #expect(trial.origins[1].requests.allSatisfy { $0.header("X-Key") == nil })
        #expect(trial.served[1] > 0)
    }
}
