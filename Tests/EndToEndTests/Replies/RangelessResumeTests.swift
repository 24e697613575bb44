import Assembler
import Glibc
import TestSupport
import Testing

/// Later runs with servers without ranges, which the manifest records.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct RangelessResumeTests {
    private static let size: Int64 = 4_000_000

    /// Returns a server that never served ranges, with a part downloaded in one stream.
    private func begun() throws -> Stage {
        let stage = try Stage(size: Self.size)
        stage.origin.change { $0.servesRanges = false }
        try stage.leavePart(each: 1_000_000, connections: 1)
        #expect(stage.manifest()?.header.isOneStream == true)
        return stage
    }

    @Test func startsOverWithoutRetries() throws {
        let stage = try begun()
        let before = stage.origin.requests.count
        let outcome = try stage.run(["--json"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try outcome.notices("started_over").first?.reason == "no_ranges")
        #expect(try outcome.notices("retrying").isEmpty, "\(outcome.errorOutput)")
        #expect(stage.origin.requests.count - before <= 4)
    }

    /// A server that serves ranges in a later run resumes the part, and the manifest drops its
    /// record.
    @Test func resumesIfServerServesRangesAgain() throws {
        let stage = try begun()
        let kept = try #require(stage.recorded())
        let tally = Tally()
        stage.origin.change { offer in
            let content = offer.content
            offer.servesRanges = true
            offer.bend = { request, reply in
                if request.method == "HEAD" || tally.add() == 1 {
                    reply = .file(content, for: request, etag: "\"v1\"", ranges: false)
                } else if request.range?.last != 0 {
                    reply.stallAfter = 300_000
                }
            }
        }
        let second = try stage.start(["-x", "2"])
        #expect(second.waits(for: kept + 600_000))
        second.signal(SIGKILL)
        _ = try second.wait()
        stage.origin.dropConnections()
        #expect(stage.manifest()?.header.isOneStream == nil)
        // From here on, replies without ranges count as temporary again.
        let (now, more) = (Tally(), try #require(stage.recorded()))
        stage.origin.change { offer in
            let content = offer.content
            offer.bend = { request, reply in
                guard request.method == "HEAD" || now.add() <= 3 else { return }
                reply = .file(content, for: request, etag: "\"v1\"", ranges: false)
            }
        }
        let outcome = try stage.run(["--json"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try outcome.notices("started_over").isEmpty, "\(outcome.errorOutput)")
        #expect(try outcome.events("finished").first?.bytesResumed == more)
    }

    /// A part that was downloaded in ranges survives temporary replies without ranges.
    @Test func keepsPartIfRangesFailTemporarily() throws {
        let stage = try Stage(size: Self.size)
        let kept = try stage.leavePart(each: 1_000_000, connections: 1)
        #expect(stage.manifest()?.header.isOneStream == nil)
        let tally = Tally()
        stage.origin.change { offer in
            let content = offer.content
            offer.bend = { request, reply in
                guard request.method == "HEAD" || tally.add() <= 3 else { return }
                reply = .file(content, for: request, etag: "\"v1\"", ranges: false)
            }
        }
        let outcome = try stage.run(["--json"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try outcome.events("finished").first?.bytesResumed == kept)
        #expect(try outcome.notices("started_over").isEmpty)
    }
}
