import Glibc
import Testing

@testable import Assembler

/// Resuming an earlier run.
@Suite struct AssemblyResumeTests {
    private let folder = TemporaryFolder()
    private let sample: Sample

    init() { sample = Sample(size: 100_000, in: folder) }

    private static let kept = [
        ByteRange(0, 10_000), ByteRange(20_000, 45_000), ByteRange(90_000, 100_000),
    ]

    /// Flips a bit of the part in place.
    private func damage(at offset: Int64) throws {
        let part = open(folder.path(of: Sample.part), O_RDWR)
        defer { close(part) }
        let byte = sample.data[Int(offset)] ^ 4
        try #require(
            withUnsafeBytes(of: byte) { pwrite(part, $0.baseAddress, 1, off_t(offset)) } == 1)
    }

    private func fill(_ assembly: Assembly) {
        var known = assembly.recorded.covered
        for extent in assembly.unverified.values { known.insert(extent.range) }
        for gap in known.gaps(in: sample.whole).ranges { sample.write(gap, with: assembly) }
    }

    @Test func resumesFromVerifiedExtents() throws {
        try sample.leave(Self.kept)
        let assembly = try Assembly(sample.request)
        #expect(assembly.startedOver == nil)
        #expect(assembly.unverified.values.map(\.range).sorted() == Self.kept)
        #expect(assembly.recorded.covered.isEmpty, "nothing counts before it is checked")
        #expect(assembly.bytesKept == 45_000)
        assembly.verifyAll()
        #expect(assembly.recorded.covered.ranges == Self.kept)
        fill(assembly)
        #expect(try assembly.publish(size: 100_000)?.crc32 == CRC32.of(sample.data))
        #expect(folder.read(Sample.name) == sample.data)
    }

    @Test func onlyDamagedExtentIsDownloadedAgain() throws {
        try sample.leave(Self.kept)
        try damage(at: 44_999)
        let assembly = try Assembly(sample.request)
        assembly.verifyAll()
        #expect(assembly.recorded.covered.ranges == [Self.kept[0], Self.kept[2]])
        #expect(assembly.unverified.isEmpty)
        fill(assembly)
        #expect(try assembly.publish(size: 100_000) != nil)
        #expect(folder.read(Sample.name) == sample.data)
    }

    @Test func shortPartCountsAsDamaged() throws {
        try sample.leave(Self.kept)
        try #require(truncate(folder.path(of: Sample.part), 30_000) == 0)
        let assembly = try Assembly(sample.request)
        assembly.verifyAll()
        #expect(assembly.recorded.covered.ranges == [Self.kept[0]])
        #expect(folder.status(Sample.part)?.st_size == 100_000)
        try assembly.stop()
    }

    @Test func uncheckedExtentsSurviveAStop() throws {
        try sample.leave(Self.kept)
        for _ in 0..<3 {
            let assembly = try Assembly(sample.request)
            #expect(assembly.unverified.values.map(\.range).sorted() == Self.kept)
            try assembly.stop()
        }
        do {
            // Some extents are verified, some are not, and some are new.
            let assembly = try Assembly(sample.request)
            assembly.confirm(Self.kept[1], isIntact: true)
            assembly.confirm(Self.kept[2], isIntact: false)
            sample.write(ByteRange(10_000, 12_000), with: assembly)
            #expect(assembly.bytesKept == 35_000)
            try assembly.stop()
            #expect(assembly.bytesKept == 37_000)
        }
        let last = try Assembly(sample.request)
        last.verifyAll()
        #expect(last.recorded.covered.contains(ByteRange(0, 12_000)))
        #expect(last.recorded.covered.contains(Self.kept[1]))
        try last.stop()
    }

    @Test func startsOverWithNewFileAndReason() throws {
        try sample.leave(Self.kept)
        let old = try #require(folder.status(Sample.part)).st_ino
        let header = try Manifest(reading: try #require(folder.read(Sample.manifest))).header
        let holder = open(folder.path(of: Sample.part), O_RDONLY)
        defer { close(holder) }
        let assembly = try Assembly(sample.request { $0.identity.etag = "\"v2\"" })
        #expect(assembly.startedOver == .etagChanged(was: "\"v1\"", now: "\"v2\""))
        #expect(assembly.unverified.isEmpty)
        #expect(folder.status(Sample.part)?.st_ino != old)
        #expect(folder.read(Sample.part) == Array(repeating: 0, count: 100_000))
        let next = try Manifest(reading: try #require(folder.read(Sample.manifest)))
        #expect(next.header.generation != header.generation)
        #expect(next.extents.extents.isEmpty)
        try assembly.stop()
    }

    @Test func startsOverOnRequest() throws {
        try sample.leave(Self.kept)
        let assembly = try Assembly(sample.request { $0.startOver = .changedMidway })
        #expect(assembly.startedOver == .changedMidway)
        #expect(assembly.bytesKept == 0)
        try assembly.stop()
    }

    @Test func missingPartStartsOver() throws {
        try sample.leave(Self.kept)
        try #require(unlink(folder.path(of: Sample.part)) == 0)
        let assembly = try Assembly(sample.request)
        #expect(assembly.startedOver == .partMissing)
        try assembly.stop()
    }

    @Test func resumingKeepsTheGeneration() throws {
        try sample.leave(Self.kept)
        let before = try Manifest(reading: try #require(folder.read(Sample.manifest))).header
        try sample.leave([ByteRange(10_000, 20_000)])
        let after = try Manifest(reading: try #require(folder.read(Sample.manifest)))
        #expect(after.header == before)
        #expect(after.extents.covered.ranges == [ByteRange(0, 45_000), Self.kept[2]])
    }

    @Test func resumingClearsThePublishRecord() throws {
        // The destination has appeared meanwhile: the manifest records `publishing`, and a later
        // run with `--overwrite` continues from there.
        do {
            let assembly = try Assembly(sample.request)
            sample.write(sample.whole, with: assembly)
            try folder.write([1], to: Sample.name)
            #expect(throws: AssemblyError.self) { try assembly.publish(size: 100_000) }
        }
        let assembly = try Assembly(sample.request { $0.overwrite = true })
        let manifest = try Manifest(reading: try #require(folder.read(Sample.manifest)))
        #expect(manifest.publishing == nil)
        assembly.verifyAll()
        #expect(try assembly.publish(size: 100_000) != nil)
        #expect(folder.read(Sample.name) == sample.data)
    }
}
