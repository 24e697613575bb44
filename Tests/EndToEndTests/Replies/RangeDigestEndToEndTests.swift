import Crypto
import Foundation
import TestSupport
import Testing

/// Tests `Content-Digest` of a range (RFC 9530).
@Suite(.serialized, .timeLimit(.minutes(5)))
struct RangeDigestEndToEndTests {
    static let size: Int64 = 6_000_000

    private static func field(_ content: Content, _ range: Range<Int64>, long: Bool = false)
        -> String
    {
        let bytes = content.bytes(range)
        return long
            ? "sha-512=:\(Data(SHA512.hash(data: bytes)).base64EncodedString()):"
            : "unknown=:AAAA:, sha-256=:\(Data(SHA256.hash(data: bytes)).base64EncodedString()):"
    }

    /// Returns an origin that states the right digest of each range, and then changes the reply.
    private static func trial(
        size: Int64 = size, long: Bool = false,
        bend: @escaping @Sendable (OriginRequest, inout OriginReply) -> Void = { _, _ in }
    ) throws -> WireTrial {
        try WireTrial(size: size, sendBuffer: 64 << 10) { request, reply in
            guard reply.status == 206, case .content(let content, let range) = reply.body else {
                return
            }
            // A long range is requested again in parts, so its digest is not compared.
            if range.count <= 8 << 20 {
                reply.set("Content-Digest", field(content, range, long: long))
            } else {
                reply.set("Content-Digest", "sha-256=:\(Data(count: 32).base64EncodedString()):")
            }
            bend(request, &reply)
        }
    }

    @Test(arguments: [false, true])
    func acceptsRangesWithMatchingDigest(long: Bool) async throws {
        let trial = try Self.trial(long: long)
        let outcome = try await trial.run("-x", "3")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("response_refused").isEmpty)
        #expect(trial.excess <= Stage.stolen)
    }

    /// One wrong byte in one reply: only that range is downloaded again.
    @Test(arguments: [false, true], [0, 1])
    func retriesRangeWithWrongDigest(long: Bool, which: Int) async throws {
        let tally = Tally()
        let trial = try Self.trial(long: long) { _, reply in
            guard tally.add() == 1 + which, case .content(_, let range) = reply.body else { return }
            reply.corruptAt = [range.upperBound - 1]
        }
        let outcome = try await trial.run("-x", "3")
        try outcome.expectComplete(trial.content)
        let refused = try outcome.notices("response_refused")
        #expect(refused.count == 1)
        #expect(refused.first?.message?.contains("Content-Digest") == true)
    }

    /// If no digest ever matches, the download fails and keeps no bytes.
    @Test func failsIfDigestsNeverMatch() async throws {
        let trial = try Self.trial { _, reply in
            guard case .content(_, let range) = reply.body else { return }
            reply.corruptAt = [range.lowerBound]
        }
        let outcome = try await trial.run("-x", "3")
        try outcome.expectFailure(code: 76, kind: "contract_broken", keepsPart: false)
        #expect(try outcome.events("error").first?.bytesKept == 0)
        #expect(trial.origin.requests.count < 30)
    }

    /// A range that is cut off or taken over is not compared with its digest, but kept.
    @Test(arguments: [OriginReply.Cut.fin, .rst])
    func keepsTruncatedRanges(cut: OriginReply.Cut) async throws {
        let trial = try Self.trial { request, reply in
            guard request.number % 2 == 0 else { return }
            reply.cutAfter = reply.body.count / 3
            reply.cut = cut
        }
        let outcome = try await trial.run("-x", "3", "--retries", "3")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("response_refused").isEmpty)
        #expect(trial.excess <= Stage.stolen)
    }

    /// Bytes of a range with a digest are recorded when it is complete, so such ranges are short.
    @Test func splitsLongRangesWithDigests() async throws {
        let trial = try Self.trial(size: 30_000_000)
        let outcome = try await trial.run("-x", "1")
        try outcome.expectComplete(trial.content)
        let lengths = trial.gets.compactMap { $0.range?.bytes(of: 30_000_000).count }
        #expect(lengths.count { $0 > 8 << 20 } <= 1)
        #expect(lengths.count >= 4)
    }

    /// Bytes are written to standard output only after their digest has been compared.
    @Test func comparesDigestsBeforeWritingToPipe() async throws {
        let tally = Tally()
        let trial = try Self.trial { _, reply in
            guard tally.add() == 2, case .content(_, let range) = reply.body else { return }
            reply.corruptAt = [range.lowerBound]
        }
        let outcome = try Run(
            "/bin/sh",
            [
                "-c", "\"$0\" -v -x 3 -o - \"$1\" >file.bin", try Segget.binary(),
                trial.origin.url("/f"),
            ], in: trial.sandbox.path
        ).wait()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("Content-Digest"), "\(outcome.errorOutput)")
        #expect(try trial.content.firstDifference(at: trial.sandbox.path("file.bin")) == nil)
    }
}
