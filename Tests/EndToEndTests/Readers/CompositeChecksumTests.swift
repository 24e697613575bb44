import Crypto
import Foundation
import TestSupport
import Testing

/// S3 objects uploaded in several parts: their checksum is that of the parts' checksums.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct CompositeChecksumTests {
    private static let size: Int64 = 6_000_000
    private static let tag = "\"0cc175b9c0f1b6a831c399e269772661-2\""

    /// Responds like moto, which omits the number of parts after the checksum.
    private func trial(
        _ checksum: [UInt8], type: String?, etag: String = tag
    ) throws -> WireTrial {
        try WireTrial(size: Self.size, etag: etag) { _, reply in
            reply.set("x-amz-checksum-sha256", Data(checksum).base64EncodedString())
            reply.set("x-amz-checksum-type", type)
            reply.set("x-amzn-requestid", "0123456789")
            reply.set("Server", "amazon.com")
        }
    }

    private static func sha256(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }
    private static let whole = sha256(Content(size: size, seed: 1).bytes(0..<size))
    private static let composite = sha256(
        sha256(Content(size: size, seed: 1).bytes(0..<5_242_880))
            + sha256(Content(size: size, seed: 1).bytes(5_242_880..<size)))

    @Test(arguments: [nil, "COMPOSITE"] as [String?])
    func compositeChecksumIsNotFileDigest(type: String?) async throws {
        let trial = try trial(Self.composite, type: type)
        let outcome = try await trial.run()
        try outcome.expectComplete(trial.content)
        #expect(try outcome.events("finished").first?.verified == [])
    }

    /// A digest of the whole file is compared, and a wrong one is refused.
    @Test(
        arguments: [(tag, "FULL_OBJECT"), ("\"0cc175b9c0f1b6a831c399e269772661\"", nil)]
            as [(String, String?)])
    func wholeFileChecksumIsCompared(etag: String, type: String?) async throws {
        let right = try trial(Self.whole, type: type, etag: etag)
        let outcome = try await right.run()
        try outcome.expectComplete(right.content)
        #expect(try outcome.events("finished").first?.verified?.count == 1)
        let wrong = try trial(Self.composite, type: type, etag: etag)
        try await wrong.run().expectFailure(code: 65, kind: "checksum_mismatch")
    }
}
