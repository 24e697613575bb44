import TestSupport
import Testing

/// Links whose query states when they expire, and which the server refuses after that.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct LinkExpiryEndToEndTests {
    static let size: Int64 = 6_000_000
    private static let link = "/file.bin?Expires=1700000000&Signature=secret"

    /// Serves `most` requests to the old link, and all requests to a new one.
    private static func trial(
        serving most: Int, refusal: Int = 403, head: Int? = nil,
        bend: @escaping @Sendable (Int, inout OriginReply) -> Void = { _, _ in }
    ) throws -> WireTrial {
        let tally = Tally()
        return try WireTrial(size: size, sendBuffer: 32 << 10) { request, content in
            let file = OriginReply.file(content, for: request, etag: "\"a\"")
            guard request.target.contains("1700000000") else { return file }
            if request.method == "HEAD" { return head.map { .text($0) } ?? file }
            let number = tally.add()
            guard number <= most else { return .text(refusal, "expired") }
            return file.with { reply in
                reply.pace = 1_000_000
                bend(number, &reply)
            }
        }
    }

    /// Each connection has requested its whole share when the link expires.
    @Test(arguments: [1, 3, 4], [403, 404])
    func receivesAllRequestedBeforeExpiry(connections: Int, refusal: Int) async throws {
        let trial = try Self.trial(serving: connections, refusal: refusal)
        let outcome = try await trial.run("-x", "\(connections)", path: Self.link)
        try outcome.expectComplete(trial.content)
        #expect(trial.gets.count { $0.status == 206 } == connections)
        #expect(trial.excess == 0)
    }

    /// The link is signed for `GET` only: the probe's response counts as one of the three.
    @Test func usesProbeResponseOfExpiringLink() async throws {
        let trial = try Self.trial(serving: 3, head: 403)
        let outcome = try await trial.run("-x", "3", path: Self.link)
        try outcome.expectComplete(trial.content)
    }

    /// One connection breaks after the link has expired.
    ///
    /// The others receive their shares, and a run with a new link downloads the rest.
    @Test(arguments: [(403, 77), (410, 69)] as [(Int, Int32)])
    func resumesWithNewLinkAfterExpiry(refusal: Int, code: Int32) async throws {
        let trial = try Self.trial(serving: 3, refusal: refusal) { number, reply in
            if number == 2 { reply.cutAfter = 100_000 }
        }
        let outcome = try await trial.run("-x", "3", path: Self.link)
        try outcome.expectFailure(code: code, kind: code == 77 ? "refused" : "status")
        #expect(outcome.errorOutput.contains("has expired"), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("new link"), "\(outcome.errorOutput)")
        #expect(!(outcome.output + outcome.errorOutput).contains("secret"))
        let kept = try #require(try outcome.events("error").first?.bytesKept)
        #expect(kept == 4_100_000)
        #expect(trial.origin.requests.count < 15, "\(outcome.errorOutput)")
        let fresh = try await trial.run(
            "-x", "3", path: "/file.bin?Expires=1900000000&Signature=other")
        try fresh.expectComplete(trial.content)
        #expect(try fresh.events("finished").first?.bytesResumed == kept)
    }

    @Test func refusalBeforeExpiryIsNotReportedAsExpiry() async throws {
        let trial = try WireTrial { request, content in
            request.method == "HEAD" ? .file(content, for: request, etag: "\"a\"") : .text(403)
        }
        let outcome = try await trial.run(path: "/file.bin?Expires=9900000000")
        #expect(outcome.exitCode == 77)
        #expect(!outcome.errorOutput.contains("has expired"))
    }
}
