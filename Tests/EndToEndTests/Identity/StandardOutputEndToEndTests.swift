import Assembler
import Foundation
import Glibc
import TestSupport
import Testing

/// Tests that `--output -` writes the whole file in order or fails, and leaves no files.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct StandardOutputEndToEndTests {
    /// Runs `segget --output -` to its end.
    private func run(_ trial: WireTrial, _ options: String...) async throws -> Run.Outcome {
        try await Run(
            [trial.origin.url("/dir/file.bin"), "-o", "-"] + options, in: trial.sandbox.path
        ).ended()
    }

    /// Expects that the summary states the CRC-32 of the output.
    private func expectCRC(
        _ outcome: Run.Outcome, _ location: SourceLocation = #_sourceLocation
    ) {
        let hex = Digest(crc32: CRC32.of(outcome.standardOutput)).hex
        #expect(
            outcome.errorOutput.contains("(CRC-32 \(hex))"), "\(outcome.errorOutput)",
            sourceLocation: location)
    }

    /// Expects that a prefix of the file was written, and that the message states its length.
    private func expectBroken(
        _ outcome: Run.Outcome, _ trial: WireTrial, code: Int32,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let report = Comment(rawValue: outcome.errorOutput)
        #expect(outcome.exitCode == code, report, sourceLocation: location)
        let count = Int64(outcome.standardOutput.count)
        #expect(count < trial.content.size, sourceLocation: location)
        let isRight = trial.content.matches(outcome.standardOutput, in: 0..<count)
        #expect(isRight, "no prefix of the file", sourceLocation: location)
        let says =
            count == 0
            ? "written: nothing to `/dev/stdout`" : "written: the first \(count) byte"
        #expect(outcome.errorOutput.contains(says), report, sourceLocation: location)
        #expect(outcome.errorOutput.contains("hint: "), report, sourceLocation: location)
        #expect(!outcome.errorOutput.contains("kept: "), report, sourceLocation: location)
        #expect(try trial.sandbox.names() == [], sourceLocation: location)
    }

    @Test(
        arguments: [0, 1, 70_000, 3_000_000, 20_000_000] as [Int64], ["256K", "1M", "64M"])
    func writesAnySizeThroughAnyWindow(size: Int64, window: String) async throws {
        let trial = try WireTrial(size: size)
        let outcome = try await run(trial, "--window", window)
        try outcome.expectComplete(trial.content, name: nil)
        #expect(outcome.errorOutput.contains("`/dev/stdout`: "))
        #expect(trial.excess < 3 << 20)
    }

    @Test func quietPrintsTheFileOnly() async throws {
        let trial = try WireTrial()
        let outcome = try await run(trial, "-q")
        try outcome.expectComplete(trial.content, name: nil)
        #expect(outcome.standardError.isEmpty, "\(outcome.errorOutput)")
    }

    /// Every third `GET` is cut, reset, stalled or refused.
    @Test(arguments: ["256K", "2M", "64M"]) func completesDespiteFaults(window: String) async throws
    {
        let tally = Tally()
        let trial = try WireTrial(size: 8_000_000) { request, reply in
            guard request.method == "GET" else { return }
            let number = tally.add() % 12
            if [2, 5, 8, 11].contains(number) { tally.add("fault") }
            switch number {
            case 2: (reply.cutAfter, reply.cut) = (30_000, .rst)
            case 5: (reply.cutAfter, reply.cut) = (20_001, .fin)
            case 8: reply.stallAfter = 10_000
            case 11: reply = .text(503)
            default: break
            }
        }
        let outcome = try await run(
            trial, "--window", window, "-x", "4", "--stall-timeout", "0.5", "--retries", "30")
        try outcome.expectComplete(trial.content, name: nil)
        // A large window needs fewer requests.
        #expect(tally.count("fault") >= (window == "64M" ? 2 : 4))
    }

    /// The connection at the front is slow; the others take over its work.
    @Test func slowFrontConnectionLosesWork() async throws {
        let tally = Tally()
        let trial = try WireTrial(size: 16_000_000) { request, reply in
            if request.method == "GET", tally.add() == 1 { reply.pace = 20_000 }
        }
        let outcome = try await run(trial, "--window", "4M", "-x", "4", "-v")
        try outcome.expectComplete(trial.content, name: nil)
        #expect(outcome.errorOutput.contains("took over"), "\(outcome.errorOutput)")
    }

    @Test(arguments: ["sha-256", "md5", "crc32"])
    func verifiesMatchingChecksum(algorithm: String) async throws {
        let trial = try WireTrial(size: 2_000_000)
        let path = trial.sandbox.path("copy")
        try trial.content.write(to: path)
        let tool = ["sha-256": "sha256sum", "md5": "md5sum", "crc32": "gzip -c"][algorithm] ?? ""
        var hex = try Run("/bin/sh", ["-c", "\(tool) \(path)"]).wait().output.prefix {
            $0 != " "
        }
        if algorithm == "crc32" {
            let last = try Run(
                "/bin/sh", ["-c", "gzip -c \(path) | tail -c 8 | head -c 4"]
            ).wait()
            hex = Substring(
                last.standardOutput.reversed().map { String(format: "%02x", $0) }.joined())
        }
        try FileManager.default.removeItem(atPath: path)
        let outcome = try await run(trial, "--checksum", "\(algorithm):\(hex)")
        try outcome.expectComplete(trial.content, name: nil)
        #expect(outcome.errorOutput.contains("verified \(algorithm):\(hex)"))
    }

    /// segget never writes the end of a stream with a wrong digest.
    @Test(arguments: [1, 50_000, 3_000_000] as [Int64], [false, true])
    func wrongChecksumWithholdsEndOfStream(size: Int64, isAdvertised: Bool) async throws {
        let wrong = String(repeating: "0", count: 32)
        let trial = try WireTrial(size: size) { _, reply in
            if isAdvertised { reply.set("Repr-Digest", "md5=:AAAAAAAAAAAAAAAAAAAAAA==:") }
        }
        let options = isAdvertised ? ["--window", "1M"] : ["--checksum", "md5:\(wrong)"]
        let outcome = try await Run(
            [trial.origin.url("/f"), "-o", "-"] + options, in: trial.sandbox.path
        ).ended()
        try expectBroken(outcome, trial, code: 65)
        #expect(outcome.errorOutput.contains("wrong checksum: expected `md5:\(wrong)`"))
        #expect(outcome.standardOutput.count <= max(0, size - 60_000))
    }

    /// segget writes no bytes of another version after those of the first.
    @Test(arguments: [true, false]) func changeDuringDownloadFails(hasETag: Bool) async throws {
        let tally = Tally()
        let other = Content(size: 6_000_000, seed: 2)
        let trial = try WireTrial(size: 6_000_000) { request, content in
            let isNew = request.method == "GET" && tally.add() > 20
            return hasETag
                ? .file(
                    isNew ? other : content, for: request, etag: isNew ? "\"b\"" : "\"a\"")
                : .file(
                    isNew ? other : content, for: request,
                    lastModified: httpDate(unixTime: isNew ? 1_600_000_001 : 1_600_000_000))
        }
        let outcome = try await run(trial, "--window", "256K", "-x", "3")
        try expectBroken(outcome, trial, code: 76)
        #expect(!outcome.standardOutput.isEmpty)
        #expect(
            outcome.errorOutput.contains(
                "changed during the download, and the bytes already written"))
    }

    /// `GET` returns another version than `HEAD`: nothing was written yet, so segget starts over.
    @Test func changeBeforeFirstByteStartsOver() async throws {
        let old = Content(size: 4_000_000, seed: 9)
        let trial = try WireTrial(size: 3_000_000) { request, content in
            request.method == "HEAD"
                ? .file(old, for: request, etag: "\"old\"")
                : .file(content, for: request, etag: "\"new\"")
        }
        try await run(trial).expectComplete(trial.content, name: nil)
    }

    @Test(
        arguments: [OriginReply.Framing.contentLength, .chunked, .close], ["256K", "64M"])
    func writesFileWithoutRanges(framing: OriginReply.Framing, window: String) async throws {
        let trial = try WireTrial(size: 5_000_000) { request, content in
            var reply = OriginReply.file(content, for: request, etag: "\"a\"", ranges: false)
            reply.framing = framing
            return reply
        }
        try await run(trial, "--window", window).expectComplete(trial.content, name: nil)
    }

    /// With a strong ETag, segget repeats a broken stream and continues at the same byte.
    @Test(arguments: [OriginReply.Framing.contentLength, .chunked])
    func brokenStreamContinuesWithStrongTag(framing: OriginReply.Framing) async throws {
        let tally = Tally()
        let trial = try WireTrial(size: 3_000_000) { request, content in
            var reply = OriginReply.file(content, for: request, etag: "\"a\"", ranges: false)
            reply.framing = framing
            if request.method == "GET" {
                let number = tally.add()
                if number <= 3 { reply.cutAfter = Int64(number) * 700_001 }
            }
            return reply
        }
        let outcome = try await run(trial, "--window", "256K")
        try outcome.expectComplete(trial.content, name: nil)
        expectCRC(outcome)
        #expect(tally.count() == 4)
    }

    /// Without a strong ETag, a broken stream ends the download.
    @Test(arguments: [nil, "W/\"a\""] as [String?])
    func brokenStreamWithoutStrongTagFails(etag: String?) async throws {
        let tally = Tally()
        let trial = try WireTrial(size: 3_000_000) { request, content in
            var reply = OriginReply.file(content, for: request, etag: etag, ranges: false)
            if request.method == "GET", tally.add() == 1 { reply.cutAfter = 1_000_001 }
            return reply
        }
        let outcome = try await run(trial, "--window", "256K", "--retries", "3")
        try expectBroken(outcome, trial, code: 69)
        #expect(!outcome.standardOutput.isEmpty)
    }

    @Test func brokenStreamOfAnotherVersionFails() async throws {
        let tally = Tally()
        let trial = try WireTrial(size: 3_000_000) { request, content in
            let number = request.method == "GET" ? tally.add() : 1
            var reply = OriginReply.file(
                content, for: request, etag: "\"v\(number)\"", ranges: false)
            reply.cutAfter = 1_000_001
            return reply
        }
        let outcome = try await run(trial, "--window", "256K", "--retries", "3")
        try expectBroken(outcome, trial, code: 76)
    }

    /// If the server stops serving ranges, the same version continues in one stream, even if bytes
    /// after the front have arrived.
    @Test(arguments: [false, true]) func usesOneStreamIfServerStopsServingRanges(frontIsSlow: Bool)
        async throws
    {
        let tally = Tally()
        let trial = try WireTrial(size: 6_000_000) { request, content in
            guard request.method == "GET" else {
                return .file(content, for: request, etag: "\"a\"")
            }
            let number = tally.add()
            return OriginReply.file(
                content, for: request, etag: "\"a\"", ranges: number <= (frontIsSlow ? 4 : 12)
            ).with { if frontIsSlow, number == 1 { $0.pace = 20_000 } }
        }
        let outcome = try await run(trial, "--window", "512K", "-x", "3")
        try outcome.expectComplete(trial.content, name: nil)
        expectCRC(outcome)
        #expect(outcome.errorOutput.contains("downloading in one stream"), "\(outcome.errorOutput)")
    }

    /// The reply to the probing `GET` is longer than the window.
    @Test(arguments: ["256K", "64M"]) func writesFileIfHeadFails(window: String) async throws {
        let trial = try WireTrial(size: 9_000_000) { request, reply in
            if request.method == "HEAD" { reply = .text(405) }
        }
        try await run(trial, "--window", window, "-x", "4").expectComplete(trial.content, name: nil)
    }
}
