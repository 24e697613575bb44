import Testing

@testable import Assembler

/// Parts whose bytes come from several servers.
@Suite struct MirroringTests {
    private let folder = TemporaryFolder()
    private let sample: Sample

    init() { sample = Sample(size: 900_000, in: folder) }

    private var held: Assembly.Request { sample.request { $0.mirroring.isHeldByChecksum = true } }

    /// What only a checksum holds together is continued only with a checksum.
    @Test func theManifestTellsNoValidators() throws {
        try sample.leave([ByteRange(0, 500_000)], request: held)
        #expect(try Assembly(sample.request).startedOver == .noValidator)
    }

    @Test func theChecksumContinues() throws {
        try sample.leave([ByteRange(0, 500_000)], request: held)
        let assembly = try Assembly(
            sample.request { $0.checksum = Digest(.sha256, Array(repeating: 0, count: 32)) })
        #expect(assembly.bytesKept == 500_000)
        try assembly.stop()
    }

    /// A part that was begun with validators loses them once others may write into it.
    @Test func validatorsAreTakenBack() throws {
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

    /// Only extents that lie in what may be kept, whole, are continued.
    @Test func onlyWhatMayBeKeptIs() throws {
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

    /// A wrong digest that is not final leaves a part that can be continued.
    @Test(arguments: [true, false])
    func aWrongDigestIsFinalOrNot(rejects: Bool) throws {
        let checksum = Digest(.sha256, Array(repeating: 0, count: 32))
        let request = sample.request { $0.checksum = checksum }
        let assembly = try Assembly(request)
        sample.write(sample.whole, with: assembly)
        #expect(throws: AssemblyError.self) {
            try assembly.publish(size: sample.whole.count, rejects: rejects)
        }
        let next = try Assembly(request)
        #expect(next.startedOver == (rejects ? .rejected : nil))
        #expect(next.bytesKept == (rejects ? 0 : sample.whole.count))
        try next.stop()
        #expect(folder.read(Sample.name) == nil)
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
            #expect(assembly.agrees(with: sampler) == isRight)
        }
        #expect(!assembly.agrees(with: ExtentWriter(samplingAt: 0)))
        #expect(assembly.unrecorded == 300_000)
        try assembly.stop()
    }
}
