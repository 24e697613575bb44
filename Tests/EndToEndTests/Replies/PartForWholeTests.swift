import TestSupport
import Testing

/// Servers send parts that look like whole files; segget publishes only the whole file.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct PartForWholeTests {
    private static let size: Int64 = 8_000_000

    /// Replies to each range with 200, `Content-Range` and its bytes, as gofakes3 does (`rclone
    /// serve s3`).
    private static func by200(_ reply: inout OriginReply) {
        if reply.status == 206 { reply.status = 200 }
    }

    /// How the server replies to `HEAD`.
    enum Head: String, CaseIterable, Sendable {
        case good, refused, withoutRanges

        func bend(_ reply: inout OriginReply) {
            switch self {
            case .good: break
            case .refused: reply = .text(405)
            case .withoutRanges: reply.set("Accept-Ranges", nil)
            }
        }
    }

    @Test(arguments: Head.allCases, ["1", "4", "auto"])
    func acceptsRangesWithStatus200(head: Head, connections: String) async throws {
        let trial = try WireTrial(size: Self.size) { request, reply in
            Self.by200(&reply)
            if request.method == "HEAD" { head.bend(&reply) }
        }
        let outcome = try await trial.run("-x", connections)
        try outcome.expectComplete(trial.content)
        // The replies are used: only bytes in flight are received twice.
        #expect(trial.excess < Stage.stolen)
        #expect(try outcome.events("probed").last?.transfer == "segments")
    }

    @Test(arguments: Head.allCases)
    func acceptsRangesWithStatus200ForPipe(head: Head) async throws {
        let trial = try WireTrial(size: Self.size) { request, reply in
            Self.by200(&reply)
            if request.method == "HEAD" { head.bend(&reply) }
        }
        let outcome = try await Run(
            [trial.origin.url("/dir/file.bin"), "-o", "-"], in: trial.sandbox.path
        ).ended()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(trial.content.matches(outcome.standardOutput, in: 0..<Self.size))
    }

    /// A 200 with a `Content-Range` other than the requested one is not written to the file.
    @Test(arguments: ["shorter", "elsewhere", "other tag", "other total", "no total"])
    func refusesWrongRangesWithStatus200(lie: String) async throws {
        let trial = try WireTrial(size: Self.size) { request, reply in
            guard reply.status == 206, let range = request.range?.bytes(of: Self.size) else {
                return
            }
            Self.by200(&reply)
            switch lie {
            case "shorter":
                let end = max(range.lowerBound + 1, range.upperBound - 7)
                reply.body = .content(Content(size: Self.size, seed: 1), range.lowerBound..<end)
                reply.set(
                    "Content-Range", "bytes \(range.lowerBound)-\(end - 1)/\(Self.size)")
            case "elsewhere":
                let moved = (range.lowerBound + 1)..<min(range.upperBound + 1, Self.size)
                reply.body = .content(Content(size: Self.size, seed: 1), moved)
                reply.set(
                    "Content-Range",
                    "bytes \(moved.lowerBound)-\(moved.upperBound - 1)/\(Self.size)")
            case "other tag": reply.set("ETag", "\"other\"")
            case "other total":
                reply.set(
                    "Content-Range",
                    "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(range.upperBound)")
            default:
                reply.set("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/*")
            }
        }
        let outcome = try await trial.run("-x", "4", "--retries", "2")
        if outcome.exitCode == 0 {
            try outcome.expectComplete(trial.content)
        } else {
            #expect([69, 76].contains(outcome.exitCode), "\(outcome.errorOutput)")
            #expect(try !trial.sandbox.names().contains("file.bin"))
        }
    }

    /// The server drops `Content-Range`, so that the range looks like a whole file of that length.
    ///
    /// Such a server may be a proxy that removes unknown fields, or use HTTP/1.0.
    @Test(arguments: ["length", "chunked", "close"], ["default", "1"])
    func refusesRangeWithoutContentRange(framing: String, connections: String) async throws {
        let trial = try WireTrial(size: Self.size) { request, reply in
            if request.method == "HEAD" { reply = .text(405) }
            guard reply.status == 206 else { return }
            Self.by200(&reply)
            reply.set("Content-Range", nil)
            if framing == "chunked" { reply.framing = .chunked }
            if framing == "close" { reply.framing = .close }
        }
        let options = connections == "default" ? [] : ["-x", connections]
        let outcome = try await Run(
            [trial.origin.url("/dir/file.bin"), "--json", "-v"] + options, in: trial.sandbox.path
        ).ended()
        try outcome.expectComplete(trial.content)
        let refused = try outcome.notices("response_refused")
        #expect(refused.count == 1, "\(outcome.errorOutput)")
    }

    /// A reply to a range never shortens the size that `HEAD` stated for the same version.
    @Test(arguments: [200, 206], [Head.good, .withoutRanges])
    func rangeReplyDoesNotShortenFile(status: Int, head: Head) async throws {
        let trial = try WireTrial(size: Self.size) { request, reply in
            if request.method == "HEAD" { return head.bend(&reply) }
            guard let range = request.range?.bytes(of: Self.size) else { return }
            reply.status = status
            // The end of the range is stated as the end of the file.
            reply.set(
                "Content-Range",
                "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(range.upperBound)")
        }
        let outcome = try await trial.run("-x", "4", "--retries", "2")
        try outcome.expectComplete(trial.content)
    }

    /// If the server sends the same part in reply to every request, the download fails.
    @Test func failsIfEveryReplyIsSamePart() async throws {
        let trial = try WireTrial(size: Self.size) { request, reply in
            guard request.method == "GET" else { return reply = .text(405) }
            reply.status = 200
            reply.body = .content(Content(size: Self.size, seed: 1), 0..<1_000_000)
            reply.set("Content-Range", "bytes 0-999999/\(Self.size)")
        }
        let outcome = try await trial.run("--retries", "1")
        #expect(outcome.exitCode == 76, "\(outcome.errorOutput)")
        #expect(try !trial.sandbox.names().contains("file.bin"))
    }

    /// In a list, segget sends one request for each small file; its reply may be such a part.
    @Test(arguments: [1, 100_000, 262_144, 262_145, 1_000_000] as [Int64], [true, false])
    func completesListWithPartialReplies(size: Int64, hasContentRange: Bool) async throws {
        let trial = try WireTrial(size: size) { _, reply in
            guard reply.status == 206 else { return }
            Self.by200(&reply)
            if !hasContentRange { reply.set("Content-Range", nil) }
        }
        try trial.sandbox.write("list", trial.origin.url("/dir/file.bin") + "\n")
        let outcome = try await Run(["-i", "list"], in: trial.sandbox.path).ended()
        trial.origin.hearOut()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(
            try trial.content.firstDifference(at: trial.sandbox.path("file.bin")) == nil,
            "\(outcome.errorOutput)")
    }
}
