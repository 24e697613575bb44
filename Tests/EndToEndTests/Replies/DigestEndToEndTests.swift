import Crypto
import Foundation
import TestSupport
import Testing

/// Tests digests that the caller expects or the server advertises.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct DigestEndToEndTests {
    static let size: Int64 = 2_000_000
    static let bytes = Content(size: size, seed: 1).bytes(0..<size)
    static let sha256 = Array(SHA256.hash(data: bytes))
    static let sha512 = Array(SHA512.hash(data: bytes))
    static let sha1 = Array(Insecure.SHA1.hash(data: bytes))
    static let md5 = Array(Insecure.MD5.hash(data: bytes))

    static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    static func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    @Test(
        arguments: [
            "sha256:\(hex(sha256))", "SHA-256=\(hex(sha256).uppercased())",
            "sha-512:\(hex(sha512))", "sha1:\(hex(sha1))", "md5:\(hex(md5))",
        ])
    func matchingChecksumIsVerified(checksum: String) async throws {
        let trial = try WireTrial(size: Self.size)
        let outcome = try await trial.run("-x", "3", "--checksum", checksum)
        try outcome.expectComplete(trial.content)
        let verified = try #require(try outcome.events("finished").first?.verified)
        #expect(verified.count == 1)
        let hex = try #require(checksum.split { $0 == ":" || $0 == "=" }.last)
        #expect(verified.first?.hasSuffix(":" + hex.lowercased()) == true)
        #expect(outcome.errorOutput.contains("verified \(verified[0])"))
    }

    /// A corrupt file is not published or resumed, and the message shows both digests.
    @Test(arguments: ["sha256", "crc32", "segments", "one stream"])
    func corruptBytesAreNotPublished(kind: String) async throws {
        let isHonest = Guarded(false)
        let trial = try WireTrial(size: Self.size) { request, reply in
            if kind == "one stream", request.method == "GET" || request.method == "HEAD" {
                reply = OriginReply(
                    body: .content(Content(size: Self.size, seed: 1), 0..<Self.size))
            }
            if !isHonest.withLock({ $0 }) { reply.corruptAt = [1_234_567] }
        }
        var wrong = Self.bytes
        wrong[1_234_567] ^= 0xFF
        let expected = Self.hex(Self.sha256)
        // The CRC of the correct file, taken from a download without faults.
        isHonest.withLock { $0 = true }
        let honest = try await trial.run("-o", "honest")
        let report = honest.errorOutput
        let crc = String(report.components(separatedBy: "CRC-32 ").last?.prefix(8) ?? "")
        isHonest.withLock { $0 = false }
        try FileManager.default.removeItem(atPath: trial.sandbox.path("honest"))
        let checksum = kind == "crc32" ? "crc32:\(crc)" : "sha256:\(expected)"
        let outcome = try await trial.run("-x", "3", "--checksum", checksum)
        try outcome.expectFailure(code: 65, kind: "checksum_mismatch")
        #expect(outcome.errorOutput.contains(kind == "crc32" ? crc : expected))
        if kind != "crc32" {
            #expect(outcome.errorOutput.contains(Self.hex(Array(SHA256.hash(data: wrong)))))
        }
        #expect(outcome.errorOutput.contains("never resumed"))
        #expect(try trial.sandbox.read("file.bin.part") == Data(wrong))
        let manifest = String(decoding: try trial.sandbox.read("file.bin.segget"), as: UTF8.self)
        #expect(manifest.contains("\"rejected\":"))
        // The bytes are still corrupt: the second run downloads the whole file again, and fails the
        // same way.
        let before = trial.origin.bytesServed
        let second = try await trial.run("-x", "3", "--checksum", checksum)
        try second.expectFailure(code: 65, kind: "checksum_mismatch")
        #expect(trial.origin.bytesServed - before >= Self.size)
        isHonest.withLock { $0 = true }
        let third = try await trial.run("-x", "3", "--checksum", checksum)
        try third.expectComplete(trial.content)
        #expect(try third.notices("started_over").first?.reason == "rejected")
        #expect(try third.events("finished").first?.bytesResumed == 0)
    }

    /// A header field in which servers state a digest, and the verified digest in the output.
    struct Field: Sendable, CustomTestStringConvertible {
        var name: String
        var value: String
        var verified: String
        var testDescription: String { "\(name): \(value.prefix(12))" }
    }

    static let fields = [
        Field(
            name: "Repr-Digest", value: "sha-256=:\(base64(sha256)):",
            verified: "sha-256:\(hex(sha256))"),
        Field(
            name: "Repr-Digest", value: "sha-512=:\(base64(sha512)):, unknown=:AAAA:",
            verified: "sha-512:\(hex(sha512))"),
        Field(
            name: "Digest", value: "SHA-256=\(base64(sha256)),unixsum=30637",
            verified: "sha-256:\(hex(sha256))"),
        Field(name: "Digest", value: "SHA=\(base64(sha1))", verified: "sha-1:\(hex(sha1))"),
        Field(name: "Content-MD5", value: base64(md5), verified: "md5:\(hex(md5))"),
        Field(
            name: "x-goog-hash", value: "crc32c=n03x6A==,md5=\(base64(md5))",
            verified: "md5:\(hex(md5))"),
        Field(
            name: "x-amz-checksum-sha256", value: base64(sha256),
            verified: "sha-256:\(hex(sha256))"),
    ]

    @Test(arguments: fields)
    func rightAdvertisedDigestIsVerified(field: Field) async throws {
        let trial = try WireTrial(size: Self.size) { request, reply in
            // `Content-MD5` covers the body, so it is the file's digest only in replies with the
            // whole file.
            if reply.status == 200 { reply.set(field.name, field.value) }
        }
        let outcome = try await trial.run("-x", "3")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.events("probed").first?.digests == [field.verified])
        #expect(try outcome.events("finished").first?.verified == [field.verified])
        #expect(outcome.errorOutput.contains("verified \(field.verified)"))
    }

    @Test(arguments: fields)
    func wrongAdvertisedDigestIsNotPublished(field: Field) async throws {
        let trial = try WireTrial(size: Self.size) { request, reply in
            if reply.status == 200 { reply.set(field.name, field.value) }
            reply.corruptAt = [77_777]
        }
        let outcome = try await trial.run("-x", "3")
        try outcome.expectFailure(code: 65, kind: "checksum_mismatch")
        #expect(outcome.errorOutput.contains(field.verified))
        #expect(try trial.sandbox.read("file.bin.part").count == Int(Self.size))
    }

    /// Digests of a range or of parts do not apply to the file.
    @Test(
        arguments: [
            HeaderField("Content-Digest", "sha-256=:\(base64(md5)):"),
            HeaderField("x-amz-checksum-sha256", "\(base64(sha256))-3"),
            HeaderField("Repr-Digest", "sha-256=:###:"), HeaderField("Digest", "sha-256="),
            HeaderField("Content-MD5", "AAAA"), HeaderField("x-goog-hash", "crc32c=AAAAAA=="),
        ])
    func ignoresDigestsOfRangesAndParts(field: HeaderField) async throws {
        let trial = try WireTrial(size: Self.size) { _, reply in
            reply.set(field.name, field.value)
        }
        let outcome = try await trial.run("-x", "3")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.events("finished").first?.verified == [])
        #expect(outcome.errorOutput.contains("only the size is verified"))
    }

    /// Both the caller's and the server's digest are verified.
    @Test func verifiesCallersAndServersDigest() async throws {
        let trial = try WireTrial(size: Self.size) { _, reply in
            reply.set("Repr-Digest", "sha-256=:\(Self.base64(Self.sha256)):")
        }
        let outcome = try await trial.run("--checksum", "md5:\(Self.hex(Self.md5))")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.events("finished").first?.verified?.count == 2)
    }
}
