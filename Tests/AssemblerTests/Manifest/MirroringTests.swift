import Glibc
import Testing

@testable import Assembler

/// Parts whose bytes come from several servers.
@Suite struct MirroringTests {
    private let folder = TemporaryFolder()
    private let sample: Sample

    init() { sample = Sample(size: 900_000, in: folder) }

    private var held: Assembly.Request { sample.request { $0.mirroring.isHeldByChecksum = true } }

    /// If only a checksum identifies the bytes, the part is resumed only with a checksum.
    @Test func manifestWithoutValidators() throws {
        try sample.leave([ByteRange(0, 500_000)], request: held)
        let part = try #require(try EarlierPart(sample.request))
        // A sample does not vouch for the whole file either.
        #expect(
            try Assembly(sample.request { $0.sampled = part.generation }).startedOver
                == .noValidator)
    }

    @Test func checksumAllowsResuming() throws {
        try sample.leave([ByteRange(0, 500_000)], request: held)
        let assembly = try Assembly(
            sample.request { $0.checksum = Digest(.sha256, Array(repeating: 0, count: 32)) })
        #expect(assembly.bytesKept == 500_000)
        try assembly.stop()
    }

    /// A part that was begun with validators loses them once other servers may write to it.
    @Test func validatorsAreWithdrawn() throws {
        try sample.leave([ByteRange(0, 500_000)])
        let checksum = Digest(.sha256, Array(repeating: 0, count: 32))
        let assembly = try Assembly(
            sample.request {
                $0.checksum = checksum
                $0.mirroring.isHeldByChecksum = true
            })
        #expect(assembly.bytesKept == 500_000)
        try assembly.stop()
        #expect(try Assembly(sample.request).startedOver == .noValidator)
    }

    /// Without mirrors, and for any checksum: with a checksum, the bytes of another URL or another
    /// version may have been accepted.
    @Test(arguments: DigestAlgorithm.allCases)
    func resumingByChecksumRequiresIt(algorithm: DigestAlgorithm) throws {
        try sample.leave(
            [ByteRange(0, 500_000)], request: sample.request { $0.required = [Digest(crc32: 1)] })
        let checksum = Digest(algorithm, Array(repeating: 0, count: algorithm.byteCount))
        let other = sample.request {
            ($0.url, $0.fullURL) = ("https://example.org/g", "https://example.org/g")
            $0.checksum = checksum
        }
        let assembly = try Assembly(other)
        #expect(assembly.bytesKept == 500_000)
        #expect(assembly.recorder.journal.header.required.isEmpty, "they were the other file's")
        try assembly.stop()
        #expect(try Assembly(sample.request).startedOver == .noValidator)
    }

    /// Only whole extents inside the ranges to keep are continued.
    @Test func onlyKeepableDataIsKept() throws {
        try sample.leave([
            ByteRange(0, 100_000), ByteRange(200_000, 300_000), ByteRange(400_000, 500_000),
        ])
        var keeps = RangeSet(ByteRange(0, 250_000))
        keeps.insert(ByteRange(400_000, 900_000))
        let assembly = try Assembly(sample.request { $0.mirroring.keeps = keeps })
        assembly.verifyAll()
        #expect(
            assembly.recorded.covered.ranges == [
                ByteRange(0, 100_000), ByteRange(400_000, 500_000),
            ])
        try assembly.stop()
    }

    /// If a digest mismatch is not final, the manifest immediately lists only the ranges to keep.
    @Test(arguments: [nil, RangeSet(), RangeSet(ByteRange(0, 400_000))])
    func wrongDigestMayBeFinal(keeping: RangeSet?) throws {
        let request = sample.request {
            $0.checksum = Digest(.sha256, Array(repeating: 0, count: 32))
        }
        let assembly = try Assembly(request)
        for range in [ByteRange(0, 300_000), ByteRange(300_000, 900_000)] {
            sample.write(range, with: assembly)
            try assembly.record()
        }
        #expect(throws: AssemblyError.self) {
            try assembly.publish(size: sample.whole.count, keeping: keeping)
        }
        #expect(folder.read(Sample.name) == nil)
        // This also holds without the checksum.
        let next = try Assembly(sample.request)
        #expect(next.startedOver == (keeping == nil ? .rejected : nil))
        next.verifyAll()
        #expect(next.recorded.covered == keeping ?? RangeSet())
        try next.stop()
    }

    /// Bytes that were damaged on the disk meanwhile do not get a new CRC-32.
    @Test func damagedDataIsDiscarded() throws {
        let assembly = try Assembly(
            sample.request { $0.checksum = Digest(.sha256, Array(repeating: 0, count: 32)) })
        sample.write(sample.whole, with: assembly)
        try assembly.record()
        let part = open(folder.path(of: Sample.part), O_WRONLY)
        #expect(pwrite(part, [~sample.data[1000]], 1, 1000) == 1)
        close(part)
        #expect(throws: AssemblyError.self) {
            try assembly.publish(
                size: sample.whole.count, keeping: RangeSet(ByteRange(0, 400_000)))
        }
        let next = try Assembly(sample.request)
        #expect(next.bytesKept == 0)
        try next.stop()
    }

    @Test func samplesAreCompared() throws {
        let assembly = try Assembly(sample.request)
        sample.write(ByteRange(0, 300_000), with: assembly)
        let range = ByteRange(100_000, 165_536)
        for isRight in [true, false] {
            var bytes = sample.bytes(range)
            if !isRight { bytes[40_000] ^= 1 }
            let sampler = ExtentWriter(samplingAt: range.start)
            #expect(sampler.put(bytes) == 0)
            let sent = try #require(sampler.takeUnrecorded())
            #expect(assembly.agrees(with: sent) == isRight)
        }
        #expect(assembly.unrecorded == 300_000)
        try assembly.stop()
    }
}
