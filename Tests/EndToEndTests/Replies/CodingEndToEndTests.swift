import Foundation
import Glibc
import TestSupport
import Testing

/// Tests replies with a `Content-Encoding` although segget requests `identity`.
///
/// Archives that are stored with their coding are saved as sent. Other coded replies are decoded.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct CodingEndToEndTests {
    /// About 2 MB of text, and its output from a compression program.
    private struct Text {
        let plain: [UInt8]
        let coded: [UInt8]

        init(_ program: String = "gzip") throws {
            let sandbox = try Sandbox()
            let lines = (0..<60_000).map { "line \($0) of a text that repeats itself\n" }
            try sandbox.write("text", lines.joined())
            plain = Array(try sandbox.read("text"))
            let outcome = try Run("/bin/\(program)", ["-c", "text"], in: sandbox.path).wait()
            coded = outcome.standardOutput
            guard outcome.exitCode == 0 else { throw Unexpected(text: outcome.errorOutput) }
        }
    }

    /// Returns a server's reply with these bytes, marked with a content coding.
    private static func reply(
        _ bytes: [UInt8], _ request: OriginRequest, coding: String?, ranges: Bool = true
    ) -> OriginReply {
        var reply = OriginReply(headers: [HeaderField("ETag", "\"a\"")], body: .bytes(bytes))
        reply.set("Accept-Ranges", ranges ? "bytes" : "none")
        reply.set("Content-Encoding", coding)
        if ranges, request.method == "GET", let range = request.range {
            let served = range.bytes(of: Int64(bytes.count))
            reply.status = 206
            reply.set(
                "Content-Range",
                "bytes \(served.lowerBound)-\(served.upperBound - 1)/\(bytes.count)")
            reply.body = .bytes(Array(bytes[Int(served.lowerBound)..<Int(served.upperBound)]))
        }
        return reply
    }

    private func run(
        _ name: String, _ options: [String] = [],
        answer: @escaping @Sendable (OriginRequest) -> OriginReply
    ) async throws -> (Run.Outcome, Sandbox) {
        let (origin, sandbox) = (try Origin(answer), try Sandbox())
        let outcome = try await Run(
            [origin.url("/dir/\(name)"), "--json", "-v"] + options, in: sandbox.path
        ).ended()
        origin.hearOut()
        return (outcome, sandbox)
    }

    @Test(
        arguments: [
            ("gzip", "archive.tar.gz", nil), ("x-gzip", "archive.tgz", "application/x-tar"),
            ("gzip", "drawing.svgz", "image/svg+xml"), ("bzip2", "archive.tar.bz2", nil),
            ("xz", "archive.tar.xz", nil), ("gzip", "download", "application/gzip"),
            ("binary", "text.txt", nil), ("utf-8", "text.txt", nil), ("none", "text.txt", nil),
        ] as [(String, String, String?)], ["1", "4"])
    func savesStoredArchivesAsSent(
        file: (coding: String, name: String, type: String?), connections: String
    ) async throws {
        let bytes = Content(size: 3_000_000, seed: 9).bytes(0..<3_000_000)
        let (outcome, sandbox) = try await run(file.name, ["-x", connections]) { request in
            Self.reply(bytes, request, coding: file.coding).with {
                $0.set("Content-Type", file.type)
            }
        }
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try Array(sandbox.read(file.name)) == bytes)
        #expect(try outcome.events("started").last?.transfer == "segments")
        #expect(try outcome.notices("decoding").isEmpty)
    }

    @Test(arguments: ["default", "1", "list", "pipe"], [true, false])
    func decodesUnrequestedContentCoding(mode: String, ranges: Bool) async throws {
        let text = try Text()
        let (origin, sandbox) = (
            try Origin { Self.reply(text.coded, $0, coding: "gzip", ranges: ranges) },
            try Sandbox()
        )
        let url = origin.url("/dir/text.txt")
        try sandbox.write("list", url + "\n")
        let arguments =
            switch mode {
            case "1": [url, "-x", "1"]
            case "list": ["-i", "list"]
            case "pipe": [url, "-o", "-"]
            default: [url]
            }
        let outcome = try await Run(arguments + ["-v"], in: sandbox.path).ended()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        let got =
            mode == "pipe" ? outcome.standardOutput : Array(try sandbox.read("text.txt"))
        #expect(got == text.plain)
        #expect(outcome.errorOutput.contains("encoded as `gzip`"), "\(outcome.errorOutput)")
        // The requests still accept `identity` only.
        #expect(origin.requests.allSatisfy { $0.header("Accept-Encoding") == "identity" })
    }

    /// An advertised digest of the coded bytes is ignored; `--checksum` applies to the decoded
    /// file.
    @Test func ignoresAdvertisedDigestOfCodedBytes() async throws {
        let text = try Text()
        let wrong = "sha-256=:" + Data(repeating: 7, count: 32).base64EncodedString() + ":"
        let (outcome, sandbox) = try await run("text.txt") { request in
            Self.reply(text.coded, request, coding: "gzip").with { $0.set("Repr-Digest", wrong) }
        }
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try Array(sandbox.read("text.txt")) == text.plain)
        #expect(try outcome.events("finished").first?.verified == [])
        let zeros = "sha-256:" + String(repeating: "0", count: 64)
        let (refused, empty) = try await run("text.txt", ["--checksum", zeros]) { request in
            Self.reply(text.coded, request, coding: "gzip")
        }
        #expect(refused.exitCode == 65, "\(refused.errorOutput)")
        #expect(try !empty.names().contains("text.txt"))
    }

    /// An interrupted decoded stream starts over: its offset in the coded bytes is unknown.
    @Test func startsOverAfterInterruptedDecodedStream() async throws {
        let text = try Text()
        let cuts = Tally()
        let (outcome, sandbox) = try await run("text.txt") { request in
            Self.reply(text.coded, request, coding: "gzip").with {
                // The first request without a range.
                if request.range == nil, request.method == "GET", cuts.add() == 1 {
                    $0.cutAfter = Int64(text.coded.count / 2)
                }
            }
        }
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try Array(sandbox.read("text.txt")) == text.plain)
        #expect(cuts.count() >= 2)
    }

    @Test(arguments: ["damaged", "not gzip", "two in a row"])
    func refusesBodyThatCannotBeDecoded(fault: String) async throws {
        let text = try Text()
        var bytes = text.coded
        switch fault {
        case "two in a row": bytes += bytes
        case "damaged": for index in 5_000..<5_100 { bytes[index] ^= 0x55 }
        default: bytes = text.plain
        }
        let (outcome, sandbox) = try await run("text.txt", ["--retries", "1"]) { [bytes] request in
            Self.reply(bytes, request, coding: "gzip")
        }
        #expect(outcome.exitCode == 76, "\(outcome.errorOutput)")
        #expect(try !sandbox.names().contains("text.txt"))
    }

    /// The coding identifies the version, so only bytes with the same coding continue a part.
    @Test(arguments: ["gzip", nil])
    func resumesOnlyWithSameContentCoding(later: String?) async throws {
        let stage = try Stage(size: 3_000_000)
        stage.origin.bend { $1.set("Content-Encoding", "gzip") }
        let process = try stage.start(["-x", "2", "--limit-rate", "1M"], path: "/file.gz")
        #expect(process.waits(for: 300_000, name: "file.gz"))
        process.signal(SIGKILL)
        _ = try process.wait()
        stage.origin.bend { $1.set("Content-Encoding", later) }
        let outcome = try stage.run(path: "/file.gz")
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try stage.isRight("file.gz"))
        let says = later == nil ? "and are now not encoded" : "resuming"
        #expect(outcome.errorOutput.contains(says), "\(outcome.errorOutput)")
    }
}
