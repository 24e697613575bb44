import TestSupport
import Testing

/// Tests how replies to `HEAD` and the first `GET` are used.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ProbeEndToEndTests {
    /// An unusable reply to `HEAD`.
    struct Head: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// Whether the reply alone shows that it is not usable.
        var isSeen = true
        var bend: @Sendable (inout OriginReply) -> Void

        static func status(_ status: Int) -> Head {
            Head(testDescription: "\(status)") { $0 = .text(status) }
        }
    }

    static let uselessHeads: [Head] =
        [400, 401, 403, 404, 405, 410, 416, 500, 501, 503].map(Head.status) + [
            Head(testDescription: "204") { $0 = OriginReply(status: 204) },
            Head(testDescription: "closed") { $0 = .closeWithoutReply },
            Head(testDescription: "reset") { $0 = .resetWithoutReply },
            Head(testDescription: "no length") { $0.framing = .asIs },
            Head(testDescription: "length 0") { $0.claimedLength = 0 },
            Head(testDescription: "length is no number") {
                $0.framing = .asIs
                $0.set("Content-Length", "many")
            },
            Head(testDescription: "no Accept-Ranges") { $0.set("Accept-Ranges", nil) },
            Head(testDescription: "content coding") { $0.set("Content-Encoding", "gzip") },
            Head(testDescription: "too long", isSeen: false) { $0.claimedLength = 3_000_007 },
            Head(testDescription: "far too long", isSeen: false) { $0.claimedLength = 1 << 33 },
            Head(testDescription: "too short", isSeen: false) { $0.claimedLength = 2_000_000 },
            Head(testDescription: "length 1", isSeen: false) { $0.claimedLength = 1 },
            Head(testDescription: "other ETag", isSeen: false) { $0.set("ETag", "\"head\"") },
            Head(testDescription: "no ETag") { $0.set("ETag", nil) },
        ]

    @Test(arguments: uselessHeads)
    func usesGetIfHeadIsUnusable(head: Head) async throws {
        let trial = try WireTrial(size: 3_000_000) { request, reply in
            if request.method == "HEAD" { head.bend(&reply) }
        }
        let outcome = try await trial.run("-x", "4", "--retries", "0")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.events("probed").last?.transfer == "segments")
        #expect(trial.origin.requests.count { $0.method == "HEAD" } == 1)
        if head.isSeen, head.testDescription != "no ETag" {
            #expect(try outcome.notices("head_unusable").count == 1)
            #expect(outcome.errorOutput.contains("`HEAD` was not usable"))
            #expect(try outcome.events("probed").last?.probedBy == "GET")
            // The bytes of the probing `GET` are kept, and not downloaded again.
            #expect(trial.gets.count { $0.range?.first == 0 } == 1)
            // Bytes in flight may be received twice if another connection takes over their range;
            // the whole file is 3 MB.
            #expect(trial.excess < 2_500_000)
        }
    }

    /// The bytes that the probing `GET` receives early are kept and do not delay other connections.
    @Test func probingGetIsFirstSegment() async throws {
        let trial = try WireTrial(size: 12_000_000) { request, reply in
            if request.method == "HEAD" { reply = .text(403) }
        }
        let outcome = try await trial.run("-x", "4")
        try outcome.expectComplete(trial.content)
        let first = trial.gets.filter { $0.range?.first == 0 }
        #expect(first.count == 1)
        #expect(first.first?.number == 2)
        // Bytes in flight when the reply is closed depend on the machine's load; the whole file is
        // 12 MB.
        #expect(trial.excess < 4_000_000)
        #expect(trial.gets.count > 4)
        #expect(trial.origin.peakConnections <= 4)
    }

    @Test(
        arguments: [
            (401, 77, "refused"), (403, 77, "refused"), (404, 69, "status"), (410, 69, "status"),
            (400, 69, "status"), (501, 69, "status"), (451, 69, "status"),
        ] as [(Int, Int32, String)])
    func failsIfHeadAndGetAreRefused(status: Int, code: Int32, kind: String) async throws {
        let trial = try WireTrial { _, reply in reply = .text(status, "no") }
        let outcome = try await trial.run()
        try outcome.expectFailure(code: code, kind: kind, keepsPart: false)
        #expect(outcome.errorOutput.contains("\(status)"))
        #expect(outcome.errorOutput.contains("\(trial.origin.port)/dir/file.bin"))
        // Permanent errors are not retried.
        #expect(trial.origin.requests.map(\.method) == ["HEAD", "GET"])
    }

    /// If `HEAD` succeeds and every `GET` is refused, the number of requests is limited.
    @Test(
        arguments: [(403, 77, "refused"), (404, 69, "status"), (500, 69, "status")]
            as [(Int, Int32, String)])
    func limitsRequestsIfOnlyGetIsRefused(status: Int, code: Int32, kind: String) async throws {
        let trial = try WireTrial { request, reply in
            if request.method == "GET" { reply = .text(status, "no") }
        }
        let outcome = try await trial.run("-x", "4", "--retries", "1")
        try outcome.expectFailure(code: code, kind: kind, keepsPart: false)
        #expect(try outcome.events("error").first?.bytesKept == 0)
        #expect(trial.origin.requests.count < 30)
    }

    /// The URL's signature is valid for `GET` only.
    @Test func downloadsURLSignedForGetOnly() async throws {
        let trial = try WireTrial { request, reply in
            let isSigned = request.method == "GET" && request.target.hasSuffix("?sig=x%2By&e=9")
            if !isSigned { reply = .text(403, "signature does not match") }
        }
        let outcome = try await trial.run("-x", "3", path: "/dir/file.bin?sig=x%2By&e=9")
        try outcome.expectComplete(trial.content)
        #expect(trial.excess < 2_500_000)
        #expect(!outcome.errorOutput.contains("sig="))
        #expect(!outcome.output.contains("sig="))
    }

    /// Codings that segget cannot decode, and bodies that do not have the stated coding, are
    /// refused.
    @Test(arguments: ["gzip", "br", "x-unknown", "bzip2", "gzip, x-unknown"])
    func refusesContentCodingThatCannotBeDecoded(coding: String) async throws {
        let trial = try WireTrial { _, reply in reply.set("Content-Encoding", coding) }
        let outcome = try await trial.run("--retries", "1")
        try outcome.expectFailure(code: 76, kind: "contract_broken", keepsPart: false)
        #expect(outcome.errorOutput.contains("encoded as `\(coding)`"))
        #expect(trial.gets.allSatisfy { $0.header("Accept-Encoding") == "identity" })
    }

    /// A cache behind the same name sends some replies with a content coding.
    @Test func refusesOccasionalCodedReplies() async throws {
        let trial = try WireTrial { request, reply in
            if request.method == "GET", request.number % 3 == 0 {
                reply.set("Content-Encoding", "gzip")
            }
        }
        let outcome = try await trial.run("-x", "3")
        try outcome.expectComplete(trial.content)
        #expect(try !outcome.notices("response_refused").isEmpty)
    }
}
