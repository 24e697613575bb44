import TestSupport
import Testing

/// Tests the request after the last byte, which detects a file that was overwritten during the last
/// responses.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct EndCheckTests {
    private static let size: Int64 = 3_000_000

    /// Returns a server whose first response takes longer than a second, and whose file changes
    /// after all of the first version was sent.
    private static func trial(
        changes: Bool = true, etag: Bool = true, ranges: Bool = true, digest: String? = nil,
        bend: @escaping @Sendable (OriginRequest, _ isLate: Bool, inout OriginReply) -> Void = {
            _, _, _ in
        }
    ) throws -> WireTrial {
        let (heads, gets) = (Tally(), Tally())
        return try WireTrial(size: size) { request, content in
            let number = request.method == "HEAD" ? heads.add() : heads.count()
            // segget repeats `HEAD`, or `GET` in one stream, only after the last byte has arrived.
            let streams = request.method == "GET" ? gets.add() : gets.count()
            let isLate = number > 1 || !ranges && streams > 1
            let now = isLate && changes ? Content(size: size, seed: 2) : content
            var reply = OriginReply.file(
                now, for: request, etag: etag ? (isLate && changes ? "\"b\"" : "\"a\"") : nil,
                lastModified: httpDate(unixTime: isLate && changes ? 1_700_000_009 : 1_700_000_000),
                ranges: ranges)
            if let digest, !isLate { reply.set("Repr-Digest", digest) }
            if request.method == "HEAD", number == 1 { reply.delayBeforeHeaders = 1.2 }
            bend(request, isLate, &reply)
            return reply
        }
    }

    private static func heads(_ trial: WireTrial) -> Int {
        trial.origin.requests.count { $0.method == "HEAD" }
    }

    @Test(arguments: [true, false], ["1", "4"])
    func changeAtEndStartsOver(hasTag: Bool, connections: String) async throws {
        let trial = try Self.trial(etag: hasTag)
        let outcome = try await trial.run("-x", connections)
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        let new = Content(size: Self.size, seed: 2)
        #expect(try new.firstDifference(at: trial.sandbox.path("file.bin")) == nil)
        #expect(try outcome.notices("started_over").map(\.reason) == ["changed_midway"])
    }

    @Test func unchangedFileIsCheckedOnce() async throws {
        let trial = try Self.trial(changes: false)
        let outcome = try await trial.run("-x", "4")
        try outcome.expectComplete(trial.content)
        #expect(Self.heads(trial) == 2)
        #expect(trial.excess < Stage.stolen)
    }

    /// Written bytes cannot be withdrawn: segget exits with an error.
    @Test func changeAtEndFailsForPipe() async throws {
        let trial = try Self.trial()
        let outcome = try await Run(
            [trial.origin.url("/dir/file.bin"), "-o", "-"], in: trial.sandbox.path
        ).ended()
        #expect(outcome.exitCode == 76, "\(outcome.errorOutput)")
    }

    /// A checksum verifies the file, so segget sends no further `HEAD`.
    @Test func checksumSkipsFinalCheck() async throws {
        let content = Content(size: Self.size, seed: 1)
        let sandbox = try Sandbox()
        try content.write(to: sandbox.path("file"))
        let sum = try Run("/usr/bin/sha256sum", ["file"], in: sandbox.path).wait()
        let hex = String(sum.output.prefix { $0 != " " })
        let trial = try Self.trial()
        let outcome = try await trial.run("--checksum", "sha-256:\(hex)")
        try outcome.expectComplete(trial.content)
        #expect(Self.heads(trial) == 1)
    }

    @Test func shortDownloadSkipsFinalCheck() async throws {
        let trial = try WireTrial(size: 1000)
        let outcome = try await trial.run()
        try outcome.expectComplete(trial.content)
        let seconds = try outcome.events("finished").first?.seconds ?? 0
        if seconds < 1 { #expect(Self.heads(trial) == 1) }
    }

    /// A final check without a usable response causes a notice, not a failure.
    @Test(arguments: ["closed", "403", "500"])
    func failedFinalCheckIsNotice(kind: String) async throws {
        let trial = try Self.trial(changes: false) { request, isLate, reply in
            guard request.method == "HEAD", isLate else { return }
            reply = kind == "closed" ? .closeWithoutReply : .text(Int(kind) ?? 500)
        }
        let outcome = try await trial.run("-x", "2")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("version_unchecked").count == 1, "\(outcome.errorOutput)")
    }

    /// A momentary difference in the response makes segget repeat the check.
    @Test func momentaryDifferenceIsIgnored() async throws {
        let late = Tally()
        let trial = try Self.trial(changes: false) { request, isLate, reply in
            guard request.method == "HEAD", isLate, late.add() == 1 else { return }
            reply.set("ETag", "\"other\"")
        }
        let outcome = try await trial.run("-x", "2")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("started_over").isEmpty)
    }

    /// Without ranges, the file arrives in one response, and may change during it.
    @Test func changeAtEndOfStreamStartsOver() async throws {
        let trial = try Self.trial(ranges: false)
        let outcome = try await trial.run()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        let new = Content(size: Self.size, seed: 2)
        #expect(try new.firstDifference(at: trial.sandbox.path("file.bin")) == nil)
    }
}
