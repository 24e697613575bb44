import TestSupport
import Testing

/// Tests downloads from a server that refuses a second connection, and so each request beside a
/// response of which not all bytes were received.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct OneConnectionTests {
    private static let size: Int64 = 8_000_000

    /// Stages a part, and a server that refuses a second connection from then on.
    private func staged(_ next: Content, etags: (String?, String?)) throws -> Stage {
        let stage = try Stage(size: Self.size)
        stage.origin.change { $0.etag = etags.0 }
        try stage.leavePart(each: 2_000_000, connections: 1)
        stage.origin.change { offer in
            (offer.content, offer.etag) = (next, etags.1)
            offer.bend = { request, reply in
                guard request.openConnections > 1 else { return }
                reply = .text(503).with { $0.closeAfter = true }
            }
        }
        return stage
    }

    /// segget asks several times whether all servers behind the address have the new version.
    @Test func changedFileIsDownloaded() throws {
        let stage = try staged(Content(size: Self.size, seed: 2), etags: ("\"a\"", "\"b\""))
        let outcome = try stage.run(["--json"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try outcome.notices("started_over").map(\.reason) == ["etag_changed"])
    }

    /// segget requests a sample of the part.
    @Test func partIsResumedAfterSample() throws {
        let stage = try staged(Content(size: Self.size, seed: 1), etags: (nil, nil))
        let outcome = try stage.run(["--resume-unverified", "--json"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try outcome.notices("resumed_unverified").count == 1)
    }
}
