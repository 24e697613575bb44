import Glibc
import TestSupport
import Testing

/// Tests sizes beyond limits, and repeated fields.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ReplySizeTests {
    static let absurd = [
        "1152921504606846977", "9223372036854775806", "9223372036854775807",
        "9223372036854775808", "18446744073709551615", "99999999999999999999999999999999",
    ]

    /// Impossible sizes are refused before space is reserved, for a file and for a pipe.
    @Test(arguments: absurd, [true, false])
    func refusesImpossibleSizes(size: String, isPiped: Bool) async throws {
        let trial = try WireTrial { _, reply in
            reply.status = 200
            reply.framing = .asIs
            reply.closeAfter = true
            reply.set("Content-Range", nil)
            reply.set("Content-Length", size)
        }
        let outcome = try await Run(
            [trial.origin.url("/file.bin"), "--retries", "0"] + (isPiped ? ["-o", "-"] : []),
            in: trial.sandbox.path
        ).ended()
        #expect(outcome.exitCode == 76, "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("`Content-Length: \(size)` cannot be right"))
        #expect(outcome.standardOutput.isEmpty)
        #expect(try trial.sandbox.names() == [])
    }

    /// An impossible total counts as unknown: segget downloads in one stream.
    @Test(arguments: absurd)
    func ignoresImpossibleTotals(size: String) async throws {
        let trial = try WireTrial { request, reply in
            if request.method == "HEAD" { reply = .text(405) }
            if let range = reply.header("Content-Range") {
                reply.set("Content-Range", String(range.prefix { $0 != "/" }) + "/" + size)
            }
        }
        let outcome = try await trial.run()
        try outcome.expectComplete(trial.content)
        #expect(try outcome.events("probed").last?.transfer == "one_stream_no_ranges")
    }

    /// A valid size that exceeds every disk fails because of missing space.
    @Test func reportsNoSpaceForHugeSize() async throws {
        let size = Int64(1) << 59
        let trial = try WireTrial { request, reply in
            if reply.status == 206 { reply.set("Content-Range", "bytes 0-4194303/\(size)") }
            if reply.status == 200 { reply.claimedLength = size }
        }
        let outcome = try await trial.run("--retries", "0")
        try outcome.expectFailure(code: 74, kind: "no_space", keepsPart: false)
    }

    /// A file of more than 2^32 bytes, of which an earlier run downloaded the first 2^32.
    @Test func resumesBeyond32BitOffsets() throws {
        let end = Int64(1) << 32
        let stage = try Stage(size: end + 6_000_001, memory: end + (1 << 30))
        try stage.leaveWholePart(upTo: end)
        let outcome = try stage.run(["-x", "4", "--file-allocation", "none"])
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try stage.names() == ["file"])
        #expect(try stage.status(of: "file").st_size == stage.content.size)
        let tail = end..<stage.content.size
        #expect(try stage.content.firstDifference(at: stage.path("file"), in: tail) == nil)
        let gets = stage.origin.requests.filter { $0.method == "GET" }
        #expect(gets.allSatisfy { $0.range.map { $0.first >= end } == true })
        #expect(gets.count > 1)
    }

    /// Several `ETag` fields are not sent in conditions, but compared.
    @Test func severalETagsAreNotSentInConditions() async throws {
        let trial = try WireTrial(etag: "\"a\"") { _, reply in
            reply.headers.append(HeaderField("ETag", "\"b\""))
        }
        let outcome = try await trial.run("-x", "3")
        try outcome.expectComplete(trial.content)
        #expect(trial.gets.allSatisfy { $0.header("If-Range") == nil })
        #expect(try outcome.events("started").last?.identity == "none")
    }

    /// Repeated fields with the same value count as one.
    @Test func repeatedIdenticalFieldsCountAsOne() async throws {
        let trial = try WireTrial { _, reply in
            reply.headers += reply.headers
            if [200, 206].contains(reply.status) {
                reply.headers.append(HeaderField("Content-Length", "\(reply.body.count)"))
            }
        }
        let outcome = try await trial.run("-x", "3", "--retries", "0")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.events("started").last?.transfer == "segments")
        #expect(try outcome.events("started").last?.identity == "etag")
    }
}
