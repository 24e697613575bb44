import TestSupport
import Testing

/// Endless header sections end the run, and libcurl stores only a limited part of them.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ReplyFloodTests {
    /// The maximum memory of segget, in bytes; without a flood it uses about 30 MiB.
    static let memory = Segget.mostMemory(64 << 20)

    /// A reply that repeats a unit up to 48 MiB.
    struct Flood: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var beginning = "HTTP/1.1 200 OK\r\n"
        var unit: String

        var reply: OriginReply {
            let unit = Array(String(repeating: unit, count: 1 + 65536 / unit.utf8.count).utf8)
            var bytes = Array(beginning.utf8)
            bytes.reserveCapacity(48 << 20)
            while bytes.count < 48 << 20 { bytes += unit }
            return .raw(bytes)
        }
    }

    static let floods = [
        Flood(testDescription: "short lines", unit: "X: y\r\n"),
        Flood(
            testDescription: "long lines", unit: "X: \(String(repeating: "y", count: 60_000))\r\n"),
        Flood(testDescription: "a line without end", unit: "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"),
        Flood(
            testDescription: "folded lines", beginning: "HTTP/1.1 200 OK\r\nX: a\r\n",
            unit: " b\r\n"),
        Flood(testDescription: "interim replies", beginning: "", unit: "HTTP/1.1 102 P\r\n\r\n"),
        Flood(
            testDescription: "interim replies with fields", beginning: "",
            unit: "HTTP/1.1 103 H\r\nLink: </\(String(repeating: "y", count: 500))>\r\n\r\n"),
        Flood(
            testDescription: "fields that are read",
            unit: "ETag: \"\(String(repeating: "y", count: 500))\"\r\n"),
        Flood(
            testDescription: "trailers",
            beginning: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n",
            unit: "X: y\r\n"),
        Flood(
            testDescription: "a chunk extension",
            beginning: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1", unit: ";yyyyyyyyyy"
        ),
    ]

    @Test(arguments: floods)
    func endsWithLimitedMemory(flood: Flood) async throws {
        let reply = flood.reply
        let trial = try WireTrial { _, _ in reply }
        let outcome = try await trial.run("--retries", "0")
        #expect([69, 76].contains(outcome.exitCode), "\(outcome.errorOutput)")
        #expect(outcome.peakMemory < Self.memory)
        #expect(!(try trial.sandbox.names()).contains("file.bin"))
    }

    /// One segment's reply is a flood; the others are correct.
    @Test(arguments: floods)
    func completesIfOneReplyIsFlood(flood: Flood) async throws {
        let reply = flood.reply
        let tally = Tally()
        let trial = try WireTrial { request, right in
            if request.method == "GET", tally.add() == 3 { right = reply }
        }
        let outcome = try await trial.run("-x", "3")
        try outcome.expectComplete(trial.content)
        #expect(outcome.peakMemory < Self.memory)
    }

    /// The number of lines and the number of bytes are limited.
    @Test(
        arguments: floods.filter {
            ["short lines", "fields that are read"].contains($0.testDescription)
        })
    func reportsTooLongHeader(flood: Flood) async throws {
        let reply = flood.reply
        let trial = try WireTrial { _, _ in reply }
        let outcome = try await trial.run("--retries", "0")
        try outcome.expectFailure(code: 76, kind: "contract_broken", keepsPart: false)
        #expect(outcome.errorOutput.contains("header section is too long"))
    }

    /// A header section that never ends and arrives slowly counts as a stall.
    @Test(arguments: ["X: y\r\n", "HTTP/1.1 102 P\r\n\r\n"])
    func slowEndlessHeaderIsStall(unit: String) async throws {
        let beginning = unit.hasPrefix("HTTP") ? "" : "HTTP/1.1 200 OK\r\n"
        let trial = try WireTrial { _, _ in
            .raw(beginning + String(repeating: unit, count: 2000)).with { $0.pace = 60 }
        }
        let outcome = try await trial.run("--retries", "0", "--stall-timeout", "0.5")
        try outcome.expectFailure(code: 69, kind: "stalled", keepsPart: false)
    }
}
