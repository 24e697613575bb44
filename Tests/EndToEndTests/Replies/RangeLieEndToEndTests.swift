import TestSupport
import Testing

/// Wrong replies to range requests never reach the file.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct RangeLieEndToEndTests {
    static let size: Int64 = 4_000_000

    /// A wrong reply to a range; its body is other data than the file's, of the stated length.
    struct Lie: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// A text that the messages must contain.
        var says: String
        var bend: @Sendable (RequestedRange, inout OriginReply) -> Void
    }

    private static let decoy = Content(size: 4_000_000, seed: 666)

    private static func field(
        _ reply: inout OriginReply, _ start: Int64, _ end: Int64, _ of: String
    ) {
        reply.set("Content-Range", "bytes \(start)-\(end)/\(of)")
        reply.body = .content(Self.decoy, start..<max(start, end + 1))
    }

    static let lies = [
        Lie(testDescription: "start off by one", says: "were requested") { range, reply in
            field(&reply, range.first + 1, range.last ?? 0, "4000000")
        },
        Lie(testDescription: "start before", says: "were requested") { range, reply in
            field(&reply, range.first == 0 ? 2 : range.first - 1, range.last ?? 0, "4000000")
        },
        Lie(testDescription: "end beyond", says: "were requested") { range, reply in
            // The last range cannot end later, so its start is wrong instead.
            let isLast = range.last == size - 1
            field(
                &reply, range.first + (isLast ? 1 : 0), (range.last ?? 0) + (isLast ? 0 : 1),
                "4000000")
        },
        Lie(testDescription: "another range", says: "were requested") { _, reply in
            field(&reply, 17, 99, "4000000")
        },
        Lie(testDescription: "total too long", says: "the size was 4000000 bytes") {
            range, reply in field(&reply, range.first, range.last ?? 0, "4000001")
        },
        Lie(testDescription: "total too short", says: "the size was 4000000 bytes") {
            range, reply in field(&reply, range.first, range.last ?? 0, "3999999")
        },
        Lie(testDescription: "unknown total", says: "is malformed") { range, reply in
            field(&reply, range.first, range.last ?? 0, "*")
        },
        Lie(testDescription: "no Content-Range", says: "is missing") { range, reply in
            field(&reply, range.first, range.last ?? 0, "4000000")
            reply.set("Content-Range", nil)
        },
        Lie(testDescription: "malformed Content-Range", says: "is malformed") { range, reply in
            field(&reply, range.first, range.last ?? 0, "4000000")
            reply.set("Content-Range", "bytes=\(range.first)-\(range.last ?? 0)/4000000")
        },
        Lie(testDescription: "two Content-Range fields", says: "is malformed") { range, reply in
            reply.headers.append(HeaderField("Content-Range", "bytes 0-9/4000000"))
            reply.body = .content(Self.decoy, range.first..<(range.last ?? 0) + 1)
        },
        Lie(testDescription: "other unit", says: "is malformed") { range, reply in
            field(&reply, range.first, range.last ?? 0, "4000000")
            reply.set("Content-Range", "items \(range.first)-\(range.last ?? 0)/4000000")
        },
        Lie(testDescription: "length too long", says: "the length of the response is") {
            range, reply in
            reply.body = .content(Self.decoy, range.first..<(range.last ?? 0) + 1)
            reply.claimedLength = reply.body.count + 1
        },
        Lie(testDescription: "length too short", says: "the length of the response is") {
            range, reply in
            reply.body = .content(Self.decoy, range.first..<(range.last ?? 0) + 1)
            reply.claimedLength = reply.body.count - 1
        },
        Lie(testDescription: "two lengths", says: "`Content-Length: 9, ") { range, reply in
            reply.body = .content(Self.decoy, range.first..<(range.last ?? 0) + 1)
            reply.set("Content-Length", "9")
        },
        Lie(testDescription: "a length of 2^63", says: "cannot be right") { range, reply in
            reply.body = .content(Self.decoy, range.first..<(range.last ?? 0) + 1)
            reply.framing = .asIs
            reply.closeAfter = true
            reply.set("Content-Length", "9223372036854775808")
        },
        Lie(testDescription: "multipart, called one range", says: "several ranges") {
            range, reply in
            reply.set("Content-Type", "multipart/byteranges; boundary=x")
            reply.body = .content(Self.decoy, range.first..<(range.last ?? 0) + 1)
        },
        Lie(testDescription: "multipart", says: "several ranges") { range, reply in
            reply.set("Content-Type", "multipart/byteranges; boundary=x")
            reply.set("Content-Range", nil)
            reply.body = .content(Self.decoy, range.first..<(range.last ?? 0) + 1)
        },
        Lie(testDescription: "200", says: "whole file instead of a range") { _, reply in
            reply.status = 200
            reply.set("Content-Range", nil)
            reply.body = .content(Self.decoy, 0..<size)
        },
        Lie(testDescription: "204", says: "204") { _, reply in
            reply = OriginReply(status: 204)
        },
        Lie(testDescription: "202", says: "202") { _, reply in
            reply = .text(202, String(repeating: "wait", count: 100))
        },
        Lie(testDescription: "304", says: "304") { _, reply in
            reply = OriginReply(status: 304)
        },
        Lie(testDescription: "416", says: "a range that the file has (416)") { _, reply in
            reply = .text(416, headers: [HeaderField("Content-Range", "bytes */4000000")])
        },
        Lie(testDescription: "other ETag", says: "the ETag was `\"a\"` and is now `\"z\"`") {
            range, reply in
            field(&reply, range.first, range.last ?? 0, "4000000")
            reply.set("ETag", "\"z\"")
        },
        Lie(testDescription: "no ETag", says: "the ETag was `\"a\"` and is now missing") {
            range, reply in
            field(&reply, range.first, range.last ?? 0, "4000000")
            reply.set("ETag", nil)
        },
        Lie(testDescription: "ETag turned weak", says: "is now `W/\"a\"`") { range, reply in
            field(&reply, range.first, range.last ?? 0, "4000000")
            reply.set("ETag", "W/\"a\"")
        },
        Lie(testDescription: "coded", says: "is encoded as `gzip`") { range, reply in
            field(&reply, range.first, range.last ?? 0, "4000000")
            reply.set("Content-Encoding", "gzip")
        },
    ]

    /// Which of the ranged replies are wrong.
    enum When: String, Sendable, CaseIterable {
        case first, midway
    }

    /// Wrong replies are refused, and their ranges are requested again.
    ///
    /// The first reply is wrong, or two of the later ones; their number depends on timing.
    @Test(arguments: lies, When.allCases)
    func refusesWrongRangesAndRetries(lie: Lie, when: When) async throws {
        let tally = Tally()
        let trial = try WireTrial(size: Self.size, sendBuffer: 64 << 10) { request, reply in
            guard let range = request.range, request.method == "GET" else { return }
            let number = tally.add()
            // Only the first reply: a probe, which may come next, would accept another file.
            let lies = when == .first ? number == 1 : number == 3 || number == 5
            guard lies else { return }
            tally.add("lies")
            lie.bend(range, &reply)
        }
        let outcome = try await trial.run("-x", "3")
        try outcome.expectComplete(trial.content)
        let refused = try outcome.notices("response_refused")
        #expect(refused.count <= tally.count("lies"), "\(outcome.output)")
        // On a busy machine another connection may complete the range before segget reads the wrong
        // reply.
        let isOvertaken = try !outcome.notices("hedged").isEmpty
        #expect(
            isOvertaken || refused.contains { $0.message?.contains(lie.says) == true },
            "\(outcome.output)")
    }

    /// All replies after the fourth are wrong: the run ends, and keeps the bytes received before.
    @Test(arguments: lies.filter { !["200", "416"].contains($0.testDescription) })
    func endsIfRangesRemainWrong(lie: Lie) async throws {
        let tally = Tally()
        let trial = try WireTrial(size: Self.size) { request, reply in
            guard let range = request.range, request.method == "GET" else { return }
            if tally.add() > 4 { lie.bend(range, &reply) }
        }
        let outcome = try await trial.run("-x", "2", "--retries", "1")
        let names = try trial.sandbox.names()
        // A server that no longer serves ranges may be downloaded in one stream. A server that
        // always states another file has replaced it: then all bytes must be of that file.
        if outcome.exitCode == 0 {
            let size = try #require(try outcome.events("finished").first?.size)
            let path = trial.sandbox.path("file.bin")
            let isFirst = try trial.content.firstDifference(at: path) == nil
            let isOther = try Content(size: size, seed: 666).firstDifference(at: path) == nil
            #expect(isFirst != isOther, "\(outcome.errorOutput)")
            #expect(names == ["file.bin"])
        } else {
            #expect(outcome.exitCode == 76, "\(outcome.errorOutput)")
            #expect(names == ["file.bin.part", "file.bin.segget"])
        }
        #expect(trial.origin.requests.count < 60)
    }

    /// Bytes of truncated bodies are kept.
    @Test(arguments: [OriginReply.Cut.fin, .rst])
    func keepsBytesOfTruncatedBodies(cut: OriginReply.Cut) async throws {
        let trial = try WireTrial(size: Self.size, sendBuffer: 64 << 10) { request, reply in
            guard request.method == "GET", request.number % 2 == 0 else { return }
            reply.cutAfter = reply.body.count / 3
            reply.cut = cut
        }
        let outcome = try await trial.run("-x", "3", "--retries", "3")
        try outcome.expectComplete(trial.content)
        #expect(try !outcome.notices("retrying").isEmpty)
        #expect(trial.excess <= 1 << 20)
    }

    /// The bodies are longer than stated; chunked coding leaves their length open.
    @Test(arguments: When.allCases)
    func ignoresBytesBeyondRequestedRange(when: When) async throws {
        let tally = Tally()
        let trial = try WireTrial(size: Self.size) { request, reply in
            guard let range = request.range, request.method == "GET" else { return }
            let number = tally.add()
            guard when == .first ? number <= 2 : number > 6 && number % 2 == 0 else { return }
            let end = (range.last ?? 0) + 1
            reply.framing = .chunked
            reply.body = .content(Content(size: Self.size, seed: 1), range.first..<end + 100_000)
        }
        let outcome = try await trial.run("-x", "3", "--retries", "5")
        try outcome.expectComplete(trial.content)
    }

    /// Only `Content-Range` states the end of a chunked 206.
    @Test func acceptsChunkedRanges() async throws {
        let trial = try WireTrial(size: Self.size) { _, reply in
            if reply.status == 206 { reply.framing = .chunked }
        }
        let outcome = try await trial.run("-x", "3", "--retries", "0")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("response_refused").isEmpty)
    }

    @Test func resumesChunkedRangesThatEndEarly() async throws {
        let trial = try WireTrial(size: Self.size) { request, reply in
            guard reply.status == 206, case .content(let content, let range) = reply.body else {
                return
            }
            reply.framing = .chunked
            guard request.number % 2 == 0 else { return }
            // The chunked body ends correctly, but too early.
            reply.body = .content(content, range.lowerBound..<range.lowerBound + 10_000)
        }
        let outcome = try await trial.run("-x", "3", "--retries", "3")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("retrying").contains { $0.reason == "truncated" })
    }
}
