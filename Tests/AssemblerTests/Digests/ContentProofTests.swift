import Testing

@testable import Assembler

@Suite struct ContentProofTests {
    private static let bytes: [UInt8] = Array("hello world".utf8)
    private static let sha256 = try? Digest(
        parsing: "sha-256:b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9")

    private func write(_ bytes: [UInt8], _ writer: ExtentWriter) {
        bytes.withUnsafeBytes { buffer in
            if let base = buffer.baseAddress { #expect(writer.write(base, buffer.count) == 0) }
        }
    }

    @Test func nothingIsProvenBeforeAllBytesArrive() throws {
        let writer = ExtentWriter(samplingAt: 5)
        writer.expect(try #require(Self.sha256), end: 16)
        write(Array(Self.bytes.prefix(4)), writer)
        #expect(writer.awaitsProof && writer.unrecorded == 0 && writer.settleProof() == nil)
        #expect(writer.takeUnrecorded() == nil)
        write(Array(Self.bytes.dropFirst(4)), writer)
        #expect(writer.takeUnrecorded() == nil)
        #expect(writer.settleProof() == true)
        #expect(writer.takeUnrecorded() == Extent(ByteRange(5, 16), crc: CRC32.of(Self.bytes)))
    }

    @Test func wrongContentIsNeverProven() throws {
        let writer = ExtentWriter(samplingAt: 0)
        writer.expect(try #require(Self.sha256), end: 11)
        write(Array("hello World".utf8), writer)
        #expect(writer.settleProof() == false)
        #expect(writer.unrecorded == 0 && writer.takeUnrecorded() == nil)
    }

    /// Bytes that cannot be compared count as without a digest.
    @Test func truncatedReadIsCounted() throws {
        let writer = ExtentWriter(samplingAt: 0)
        writer.expect(try #require(Self.sha256), end: 11)
        write(Array(Self.bytes.prefix(4)), writer)
        writer.waiveProof()
        #expect(writer.settleProof() == nil)
        #expect(writer.takeUnrecorded()?.range == ByteRange(0, 4))
    }

    @Test func bytesMatchTheirDigest() throws {
        let digest = try #require(Self.sha256)
        #expect(digest.fits(Self.bytes))
        #expect(!digest.fits(Array(Self.bytes.dropLast())))
        #expect(!Digest(crc32: CRC32.of(Self.bytes)).fits(Self.bytes))
    }
}
