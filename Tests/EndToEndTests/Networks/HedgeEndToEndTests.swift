import TestSupport
import Testing

/// Downloads whose last bytes are delayed by one connection.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct HedgeEndToEndTests {
    private static let size: Int64 = 4_000_000

    /// How the server answers the second request for a stalled range.
    enum Second: CaseIterable {
        case served, unavailable, notFound, otherVersion, otherRange, cut, silent, slow
        case nothing, interimOnly, empty
    }

    /// The first response with the file's last byte stalls 20,000 bytes before its end.
    ///
    /// The stall lasts `stallFor` seconds. The next request for those bytes gets the response
    /// `second`.
    private func trial(_ second: Second, stallFor: Double = .infinity) throws -> WireTrial {
        let stalled = Guarded<Range<Int64>?>(nil)
        let hedged = Guarded(false)
        return try WireTrial(size: Self.size) { request, reply in
            guard request.method == "GET", case .content(let content, let range) = reply.body else {
                return
            }
            let isFirst = stalled.withLock { stalled in
                guard stalled == nil, range.upperBound == content.size else { return false }
                stalled = range.lowerBound..<range.upperBound
                return true
            }
            if isFirst {
                reply.stallAfter = Int64(range.count) - 20_000
                reply.stallFor = stallFor
                return
            }
            let isSecond = hedged.withLock { hedged in
                guard !hedged, range.lowerBound >= content.size - 20_000 else { return false }
                hedged = true
                return true
            }
            if isSecond { Self.bend(second, &reply) }
        }
    }

    private static func bend(_ second: Second, _ reply: inout OriginReply) {
        switch second {
        case .served: break
        case .unavailable: reply = .text(503)
        case .notFound: reply = .text(404)
        case .otherVersion:
            guard case .content(_, let range) = reply.body else { return }
            reply.set("ETag", "\"b\"")
            reply.body = .content(Content(size: Self.size, seed: 2), range)
        case .otherRange:
            guard case .content(let content, let range) = reply.body else { return }
            let other = 0..<Int64(range.count)
            reply.set("Content-Range", "bytes 0-\(other.upperBound - 1)/\(Self.size)")
            reply.body = .content(content, other)
        case .cut: reply.cutAfter = 7000
        case .nothing: reply = .closeWithoutReply
        case .interimOnly: reply = .raw("HTTP/1.1 103 Early Hints\r\n\r\n")
        case .empty:
            reply.framing = .chunked
            reply.body = .none
        case .silent: reply.delayBeforeHeaders = .infinity
        case .slow: reply.pace = 10_000
        }
    }

    /// The second request receives the rest; the first connection stalls indefinitely.
    @Test func stalledRangeIsRequestedAgain() async throws {
        let trial = try trial(.served)
        let outcome = try await trial.run("-x", "4")
        try outcome.expectComplete(trial.content)
        let hedged = try outcome.notices("hedged")
        #expect(hedged.contains { $0.message?.contains("..<4000000") == true })
        #expect(try outcome.notices("rescued").isEmpty)
        #expect(try outcome.notices("stalled").isEmpty)
        #expect(trial.excess <= 1 << 20)
    }

    @Test(arguments: Second.allCases)
    func completesDespiteFailingSecondRequest(second: Second) async throws {
        let trial = try trial(second)
        let outcome = try await trial.run("-x", "4")
        try outcome.expectComplete(trial.content)
        // Once, plus more if the replacement of a stalled connection is late as well.
        let ends = try outcome.notices("hedged").count {
            $0.message?.contains("..<4000000") == true
        }
        #expect((1...3).contains(ends), "\(outcome.errorOutput)")
        #expect(try outcome.notices("started_over").isEmpty)
    }

    /// Both connections receive the rest at the same time.
    @Test(arguments: [0.3, 0.4, 0.5, 0.7])
    func completesWhenFirstConnectionRecovers(after seconds: Double) async throws {
        let trial = try trial(.slow, stallFor: seconds)
        let outcome = try await trial.run("-x", "4")
        try outcome.expectComplete(trial.content)
    }

    /// The first connection sends 5,000 more bytes before the second response, and then stalls.
    ///
    /// segget uses only the rest of the second body.
    @Test func completesWhenFirstConnectionSendsPart() async throws {
        let tally = Tally()
        let isHedged = Guarded(false)
        let trial = try WireTrial(size: Self.size) { request, reply in
            guard request.method == "GET", case .content(_, let range) = reply.body,
                range.upperBound == Self.size
            else { return }
            if tally.add() == 1 {
                reply.stallAfter = Int64(range.count) - 20_000
                reply.release = isHedged
                reply.silentAfter = Int64(range.count) - 15_000
            } else if range.count == 20_000 {
                isHedged.withLock { $0 = true }
                reply.delayBeforeHeaders = 0.3
            }
        }
        let outcome = try await trial.run("-x", "4")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("hedged").count == 1)
    }

    @Test func singleConnectionIsNotHedged() async throws {
        let trial = try trial(.served, stallFor: 0.8)
        let outcome = try await trial.run("-x", "1")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("hedged").isEmpty)
    }
}
