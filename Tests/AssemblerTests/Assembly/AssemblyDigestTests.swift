import Crypto
import Glibc
import TestSupport
import Testing

@testable import Assembler

/// Avoids Crypto's protocol of the same name.
private typealias Digest = Assembler.Digest

/// Digests of the whole file, computed while it arrives.
@Suite struct AssemblyDigestTests {
    private let folder = TemporaryFolder()
    private let sample: Sample

    /// The file needs several steps of the hashing thread.
    init() { sample = Sample(size: 1_300_000, in: folder) }

    /// Returns the digest of an array, computed by Crypto and not by the code under test.
    private static func digest(_ algorithm: DigestAlgorithm, _ data: [UInt8]) -> Digest? {
        switch algorithm {
        case .sha256: Digest(algorithm, Array(SHA256.hash(data: data)))
        case .sha512: Digest(algorithm, Array(SHA512.hash(data: data)))
        case .sha1: Digest(algorithm, Array(Insecure.SHA1.hash(data: data)))
        case .md5: Digest(algorithm, Array(Insecure.MD5.hash(data: data)))
        case .gitSHA1:
            Digest(
                algorithm,
                Array(Insecure.SHA1.hash(data: Array("blob \(data.count)\0".utf8) + data)))
        case .crc32: Digest(crc32: CRC32.of(data))
        }
    }

    private func right(_ algorithm: DigestAlgorithm) throws -> Digest {
        try #require(Self.digest(algorithm, sample.data))
    }

    private func wrong(_ algorithm: DigestAlgorithm) throws -> Digest {
        try #require(Digest(algorithm, try right(algorithm).bytes.map { ~$0 }))
    }

    /// Writes the file in random pieces and in random order, and records each piece.
    private func fetch(_ assembly: Assembly, seed: UInt64 = 1) throws {
        var random = SplitMix64(seed: seed)
        for piece in sample.pieces(upTo: 200_000, &random).shuffled(using: &random) {
            sample.write(piece, with: assembly)
            try assembly.record()
        }
    }

    @Test(arguments: DigestAlgorithm.allCases)
    func digestsAreRightForBytesOutOfOrder(algorithm: DigestAlgorithm) throws {
        let digest = try right(algorithm)
        let assembly = try Assembly(sample.request { $0.checksum = digest })
        try fetch(assembly)
        let file = try #require(try assembly.publish(size: sample.whole.count))
        #expect(file.verified == [digest])
        #expect(folder.read(Sample.name) == sample.data)
    }

    @Test func allDigestsAreCompared() throws {
        let all = try DigestAlgorithm.allCases.map { try right($0) }
        let assembly = try Assembly(
            sample.request {
                $0.advertised = all
                $0.checksum = all[0]
            })
        try fetch(assembly, seed: 2)
        #expect(try assembly.publish(size: sample.whole.count)?.verified == all)
    }

    @Test func digestsIncludeBytesOfEarlierRuns() throws {
        try sample.leave([ByteRange(0, 700_000), ByteRange(900_000, 1_000_000)])
        let digest = try right(.sha256)
        let assembly = try Assembly(sample.request { $0.checksum = digest })
        assembly.verifyAll()
        for gap in assembly.recorded.covered.gaps(in: sample.whole).ranges {
            sample.write(gap, with: assembly)
        }
        #expect(try assembly.publish(size: sample.whole.count)?.verified == [digest])
    }

    @Test(arguments: DigestAlgorithm.allCases, [false, true])
    func wrongDigestPreventsPublishing(algorithm: DigestAlgorithm, isAdvertised: Bool) throws {
        let (expected, actual) = (try wrong(algorithm), try right(algorithm))
        let request = sample.request {
            if isAdvertised { $0.advertised = [expected] } else { $0.checksum = expected }
        }
        do {
            let assembly = try Assembly(request)
            try fetch(assembly)
            let error = AssemblyError.digestMismatch(
                expected: expected, actual: actual, part: folder.path(of: Sample.part))
            #expect(throws: error) { try assembly.publish(size: sample.whole.count) }
        }
        #expect(folder.names == [Sample.part, Sample.manifest])
        #expect(folder.read(Sample.part) == sample.data, "the part is kept")
        let manifest = try Manifest(reading: try #require(folder.read(Sample.manifest)))
        #expect(manifest.rejected == actual.description)
        #expect(Assembly.bytesRecorded(folder: folder.path, name: Sample.name) == 0)
        // A rejected part is not resumed.
        for checksum in [nil, expected] {
            let decision = try Assembly.preview(sample.request { $0.checksum = checksum })
            guard case .startOver(.rejected) = decision else {
                Issue.record("\(decision)")
                continue
            }
        }
        // It is resumed if its actual digest is expected. The bytes on the disk are hashed again.
        let next = try Assembly(sample.request { $0.checksum = actual })
        #expect(next.bytesKept == sample.whole.count)
        next.verifyAll()
        #expect(try next.publish(size: sample.whole.count)?.verified == [actual])
        #expect(folder.read(Sample.name) == sample.data)
    }

    /// If the line that rejects the part is damaged, the extents in it are lost too.
    @Test func rejectionDiscardsTheBytes() throws {
        let expected = try wrong(.md5)
        let assembly = try Assembly(sample.request { $0.checksum = expected })
        try fetch(assembly)
        #expect(throws: AssemblyError.self) { try assembly.publish(size: sample.whole.count) }
        var bytes = try #require(folder.read(Sample.manifest))
        bytes[bytes.count - 20] ^= 1
        let manifest = try Manifest(reading: bytes)
        #expect(manifest.rejected == nil && manifest.extents.extents.isEmpty)
        #expect(manifest.damagedLines == 1)
    }

    @Test func wrongDigestKeepsExistingDestination() throws {
        try folder.write([1, 2, 3], to: Sample.name)
        let expected = try wrong(.sha1)
        let assembly = try Assembly(
            sample.request {
                $0.checksum = expected
                $0.overwrite = true
            })
        try fetch(assembly)
        #expect(throws: AssemblyError.self) { try assembly.publish(size: sample.whole.count) }
        #expect(folder.read(Sample.name) == [1, 2, 3])
    }

    @Test func digestingCanBeInterrupted() throws {
        let digest = try right(.sha512)
        let request = sample.request { $0.checksum = digest }
        do {
            let assembly = try Assembly(request)
            try fetch(assembly)
            assembly.interrupt()
            #expect(try assembly.publish(size: sample.whole.count) == nil)
        }
        #expect(folder.names == [Sample.part, Sample.manifest])
        let next = try Assembly(request)
        #expect(next.startedOver == nil)
        #expect(next.bytesKept == sample.whole.count)
        next.verifyAll()
        #expect(try next.publish(size: sample.whole.count)?.verified == [digest])
        #expect(folder.read(Sample.name) == sample.data)
    }

    @Test func truncatedPartFails() throws {
        let digest = try right(.md5)
        let assembly = try Assembly(sample.request { $0.checksum = digest })
        sample.write(sample.whole, with: assembly)
        try #require(truncate(folder.path(of: Sample.part), 100) == 0)
        let path = folder.path(of: Sample.part)
        #expect(throws: AssemblyError.io(operation: "pread", path: path, errno: ENODATA)) {
            try assembly.publish(size: sample.whole.count)
        }
        #expect(folder.status(Sample.name) == nil)
    }
}
