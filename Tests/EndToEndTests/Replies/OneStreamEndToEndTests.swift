import TestSupport
import Testing

/// Servers without ranges or without a size are downloaded in one stream, and the output reports
/// that.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct OneStreamEndToEndTests {
    /// A server that appears to serve no ranges.
    struct Server: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var transfer = "one_stream_no_ranges"
        var says = "the server does not support byte ranges: downloading in one stream"
        /// The maximum number of body bytes that it may send.
        var bytes: Int64 = 3_000_000
        var bend: @Sendable (OriginRequest, inout OriginReply) -> Void
    }

    private static func whole(_ request: OriginRequest, _ reply: inout OriginReply) {
        reply = OriginReply(
            headers: [HeaderField("ETag", "\"a\"")],
            body: .content(Content(size: 3_000_000, seed: 1), 0..<3_000_000))
    }

    static let servers = [
        Server(testDescription: "Accept-Ranges: none, 200 to ranges") { request, reply in
            whole(request, &reply)
            reply.set("Accept-Ranges", "none")
        },
        Server(testDescription: "no Accept-Ranges, 200 to ranges", bend: whole),
        Server(
            testDescription: "chunked", transfer: "one_stream_unknown_size",
            says: "the server does not state the size: downloading in one stream"
        ) { request, reply in
            whole(request, &reply)
            reply.framing = .chunked
        },
        Server(
            testDescription: "until the connection closes", transfer: "one_stream_unknown_size",
            says: "nothing shows that the file is complete"
        ) { request, reply in
            whole(request, &reply)
            reply.framing = .close
        },
        // segget does not read the replies to the segments, but the kernels buffer bytes of them.
        Server(testDescription: "promises ranges and sends 200", bytes: 30_000_000) {
            request, reply in
            whole(request, &reply)
            reply.set("Accept-Ranges", "bytes")
        },
        Server(testDescription: "206 without Content-Range", bytes: 30_000_000) { request, reply in
            reply.set("Content-Range", nil)
        },
        Server(testDescription: "206 of unknown size", bytes: 30_000_000) { request, reply in
            if let range = reply.header("Content-Range") {
                reply.set("Content-Range", String(range.prefix { $0 != "/" }) + "/*")
            }
        },
        Server(testDescription: "416 to every range", bytes: 3_000_000) { request, reply in
            if request.range != nil { reply = .text(416) }
        },
    ]

    @Test(arguments: servers)
    func downloadsInOneStreamWithoutRanges(server: Server) async throws {
        let trial = try WireTrial(sendBuffer: 64 << 10) { server.bend($0, &$1) }
        let outcome = try await trial.run("-x", "4")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.events("probed").last?.transfer == server.transfer)
        #expect(try outcome.events("started").last?.connections == 1)
        #expect(outcome.errorOutput.contains(server.says), "\(outcome.errorOutput)")
        #expect(trial.origin.bytesServed <= server.bytes)
        #expect(try outcome.events("finished").first?.bytesReceived == 3_000_000)
    }

    /// The server serves ranges that begin at 0, and refuses all others with the size of the same
    /// file.
    @Test func usesOneStreamIfLaterRangesAreRefused() async throws {
        let trial = try WireTrial { request, reply in
            guard let range = request.range, range.first > 0 else {
                // Slow, so that segget requests other ranges before the first one is complete.
                reply.pace = 1_000_000
                return
            }
            reply = .text(416)
            reply.set("Content-Range", "bytes */3000000")
        }
        let outcome = try await trial.run("-x", "4")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.events("probed").last?.transfer == "one_stream_no_ranges")
        #expect(outcome.errorOutput.contains("the server ignored a range request"))
    }

    @Test func reportsUnverifiedEndOfBodyUntilClose() async throws {
        let trial = try WireTrial { request, reply in
            reply.set("Accept-Ranges", nil)
            reply.framing = .close
        }
        let outcome = try await trial.run()
        #expect(outcome.exitCode == 0)
        #expect(try outcome.notices("size_unknown").count == 1)
        #expect(outcome.errorOutput.contains("nothing is verified"))
    }

    @Test func chunkedStreamHasVerifiedEnd() async throws {
        let trial = try WireTrial { request, reply in
            Self.whole(request, &reply)
            reply.framing = .chunked
        }
        let outcome = try await trial.run()
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("size_unknown").isEmpty)
    }

    /// A broken stream starts over, because it cannot be resumed.
    @Test(
        arguments: [OriginReply.Framing.contentLength, .chunked], [OriginReply.Cut.fin, .rst])
    func brokenStreamsStartOver(framing: OriginReply.Framing, cut: OriginReply.Cut) async throws {
        let tally = Tally()
        let trial = try WireTrial { request, reply in
            Self.whole(request, &reply)
            reply.framing = framing
            if request.method == "GET", tally.add() <= 2 {
                reply.cutAfter = 1_000_001
                reply.cut = cut
            }
        }
        let outcome = try await trial.run("--retries", "3")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("started_over").last?.reason == "stream_broken")
        #expect(outcome.errorOutput.contains("the stream was interrupted"))
        #expect(tally.count() == 3)
    }

    /// The first reply is the whole file and breaks; later replies serve ranges of the same
    /// version.
    @Test func resumesBrokenStreamWithRanges() async throws {
        let tally = Tally()
        let trial = try WireTrial(sendBuffer: 64 << 10) { request, reply in
            guard request.method == "GET" else {
                reply = .text(405)
                return
            }
            guard tally.add() == 1 else { return }
            Self.whole(request, &reply)
            reply.cutAfter = 2_500_001
        }
        let outcome = try await trial.run("-x", "2")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("started_over").isEmpty, "\(outcome.errorOutput)")
        #expect(trial.gets.dropFirst(2).allSatisfy { ($0.range?.first ?? 0) >= 2_500_001 })
    }

    @Test func failsIfStreamsAlwaysBreak() async throws {
        let trial = try WireTrial { request, reply in
            Self.whole(request, &reply)
            reply.cutAfter = 1_000_001
        }
        let outcome = try await trial.run("--retries", "2")
        try outcome.expectFailure(code: 69, kind: "network")
        #expect(trial.gets.count == 3)
    }

    @Test func stalledStreamStartsOver() async throws {
        let tally = Tally()
        let trial = try WireTrial { request, reply in
            Self.whole(request, &reply)
            if request.method == "GET", tally.add() == 1 { reply.stallAfter = 1_000_000 }
        }
        let outcome = try await trial.run("--stall-timeout", "0.5")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("retrying").first?.reason == "stalled")
    }

    /// The server replies 200 to `If-Range` although the file is unchanged; unconditional ranges
    /// work.
    @Test func omitsIfRangeIfServerIgnoresRangeWithIt() async throws {
        let trial = try WireTrial(size: 6_000_000, sendBuffer: 64 << 10) { request, reply in
            guard request.header("If-Range") != nil else { return }
            reply = OriginReply(
                headers: [HeaderField("ETag", "\"a\""), HeaderField("Accept-Ranges", "bytes")],
                body: .content(Content(size: 6_000_000, seed: 1), 0..<6_000_000))
        }
        let outcome = try await trial.run("-x", "4")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.events("started").last?.transfer == "segments")
        #expect(try outcome.notices("ranges_ignored").isEmpty)
        // At most one conditional request per connection.
        #expect(trial.gets.count { $0.header("If-Range") != nil } <= 8)
        #expect(trial.gets.count { $0.header("If-Range") == nil && $0.range != nil } > 3)
    }

    @Test func usesOneStreamIfServerStopsServingRanges() async throws {
        let tally = Tally()
        let trial = try WireTrial(size: 6_000_000, sendBuffer: 64 << 10) { request, reply in
            guard request.method == "GET", tally.add() > 4 else { return }
            reply = OriginReply(
                headers: [HeaderField("ETag", "\"a\"")],
                body: .content(Content(size: 6_000_000, seed: 1), 0..<6_000_000))
        }
        let outcome = try await trial.run("-x", "4")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("ranges_ignored").count == 1)
        #expect(outcome.errorOutput.contains("downloading in one stream"))
    }

    @Test(arguments: [1 << 20, 100_000, 64 << 10] as [Int64])
    func acceptsCappedRanges(cap: Int64) async throws {
        let trial = try WireTrial(size: 5_000_000) { request, content in
            let reply = OriginReply.file(content, for: request, etag: "\"a\"")
            guard case .content(_, let range) = reply.body, reply.status == 206 else {
                return reply
            }
            let end = min(range.lowerBound + cap, range.upperBound)
            return reply.with {
                $0.body = .content(content, range.lowerBound..<end)
                $0.set("Content-Range", "bytes \(range.lowerBound)-\(end - 1)/5000000")
            }
        }
        // A capped range is not a failure: no retries are needed.
        let outcome = try await trial.run("-x", "4", "--retries", "0")
        try outcome.expectComplete(trial.content)
        #expect(trial.gets.allSatisfy { $0.bytesServed <= cap })
        #expect(try outcome.notices("response_refused").isEmpty)
        #expect(try outcome.notices("retrying").isEmpty)
        #expect(trial.excess <= 256 << 10)
    }
}
