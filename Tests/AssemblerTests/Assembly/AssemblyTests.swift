import Glibc
import TestSupport
import Testing

@testable import Assembler

/// From an empty folder to a published file.
@Suite struct AssemblyTests {
    private let folder = TemporaryFolder()
    private let sample: Sample

    init() { sample = Sample(size: 300_000, in: folder) }

    /// Writes the whole file in pieces with several open writers, and records occasionally.
    private func fetch(_ assembly: Assembly, seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var waiting = sample.pieces(upTo: 40_000, &random).shuffled(using: &random)
        var busy: [(writer: ExtentWriter, end: Int64)] = []
        while !waiting.isEmpty || !busy.isEmpty {
            if busy.count < 5, let next = waiting.popLast() {
                busy.append((assembly.makeWriter(at: next.start), next.end))
            }
            let index = Int.random(in: busy.indices, using: &random)
            let (writer, end) = busy[index]
            let step = min(end - writer.position, Int64.random(in: 1...9000, using: &random))
            #expect(
                writer.put(sample.bytes(ByteRange(writer.position, writer.position + step))) == 0)
            if writer.position == end {
                assembly.retire(writer)
                busy.remove(at: index)
            }
            if Int.random(in: 0..<8, using: &random) == 0 { try assembly.record() }
        }
    }

    @Test(arguments: 0..<6 as Range<UInt64>)
    func publishesBytesOfSeveralWriters(seed: UInt64) throws {
        let assembly = try Assembly(sample.request { $0.modified = 1_000_000_000 })
        #expect(assembly.startedOver == nil)
        #expect(assembly.unverified.isEmpty)
        try fetch(assembly, seed: seed)
        let file = try #require(try assembly.publish(size: sample.whole.count))
        #expect(file.path == folder.path(of: Sample.name))
        #expect(file.size == sample.whole.count)
        #expect(file.crc32 == CRC32.of(sample.data))
        #expect(file.verified.isEmpty)
        #expect(folder.names == [Sample.name], "part and manifest are gone")
        #expect(folder.read(Sample.name) == sample.data)
        #expect(folder.status(Sample.name)?.st_mtim.tv_sec == 1_000_000_000)
    }

    /// A run that has received bytes reopens its part.
    ///
    /// If the part was removed, the run does not create a new one.
    @Test(arguments: [[Sample.part], [Sample.part, Sample.manifest]])
    func lostPartIsNotRecreated(removed: [String]) throws {
        let request = sample.request { $0.hasPart = true }
        try sample.leave([ByteRange(0, 1000)])
        let assembly = try Assembly(request)
        try assembly.stop()
        for name in removed { unlink(folder.path(of: name)) }
        let left = folder.names
        #expect(throws: AssemblyError.partGone(path: folder.path(of: Sample.part), .nameGone)) {
            try Assembly(request)
        }
        #expect(folder.names == left)
    }

    @Test func newFileGetsTheUsualMode() throws {
        let other = open(folder.path(of: "other"), O_CREAT | O_WRONLY, 0o666)
        close(other)
        try sample.leave([sample.whole])
        #expect(folder.status(Sample.part).map { $0.st_mode & 0o777 } == 0o600)
        #expect(folder.status(Sample.manifest).map { $0.st_mode & 0o777 } == 0o600)
        let assembly = try Assembly(sample.request)
        assembly.verifyAll()
        _ = try assembly.publish(size: sample.whole.count)
        #expect(folder.status(Sample.name)?.st_mode == folder.status("other")?.st_mode)
    }

    @Test func writesTheManifestBeforeTheFirstByte() throws {
        let assembly = try Assembly(sample.request)
        let manifest = try Manifest(reading: try #require(folder.read(Sample.manifest)))
        #expect(manifest.header.identity == sample.request.identity)
        #expect(manifest.extents.extents.isEmpty)
        #expect(folder.status(Sample.part)?.st_size == 300_000, "the space is reserved")
        try assembly.stop()
    }

    @Test func recordsOnlyWrittenBytes() throws {
        let assembly = try Assembly(sample.request)
        let writer = assembly.makeWriter(at: 1000)
        #expect(assembly.unrecorded == 0)
        #expect(writer.put(sample.bytes(ByteRange(1000, 1500))) == 0)
        #expect(assembly.unrecorded == 500)
        #expect(assembly.recorded.covered.isEmpty)
        try assembly.record()
        #expect(assembly.unrecorded == 0)
        #expect(assembly.recorded.covered.ranges == [ByteRange(1000, 1500)])
        #expect(writer.put(sample.bytes(ByteRange(1500, 1600))) == 0)
        assembly.retire(writer)
        #expect(assembly.unrecorded == 100)
        #expect(assembly.bytesKept == 500)
        try assembly.stop()
        let manifest = try Manifest(reading: try #require(folder.read(Sample.manifest)))
        #expect(manifest.extents.covered.ranges == [ByteRange(1000, 1600)])
    }

    @Test func publishesAnEmptyFile() throws {
        let assembly = try Assembly(sample.request { $0.identity.size = 0 })
        let file = try #require(try assembly.publish(size: 0))
        #expect((file.size, file.crc32) == (0, 0))
        #expect(folder.names == [Sample.name])
        #expect(folder.read(Sample.name) == [])
    }

    @Test func publishesAFileOfUnknownSize() throws {
        let assembly = try Assembly(
            sample.request {
                $0.identity = RemoteIdentity(size: nil)
                $0.servesRanges = false
            })
        sample.write(sample.whole, with: assembly)
        #expect(try assembly.publish(size: sample.whole.count)?.size == sample.whole.count)
        #expect(folder.read(Sample.name) == sample.data)
    }

    @Test func unrecordedTailIsNotPublished() throws {
        // A run was killed before it recorded any bytes, of a file of unknown size.
        let request = sample.request {
            $0.identity = RemoteIdentity(size: nil)
            $0.servesRanges = false
        }
        try sample.leave([], request: request)
        try folder.write(sample.data, to: Sample.part)
        let assembly = try Assembly(request)
        #expect(assembly.startedOver == nil, "nothing was lost")
        sample.write(ByteRange(0, 100), with: assembly)
        _ = try assembly.publish(size: 100)
        #expect(folder.read(Sample.name) == sample.bytes(ByteRange(0, 100)))
    }

    @Test func destinationIsReplacedAtTheEnd() throws {
        try folder.write([1, 2, 3], to: Sample.name)
        let assembly = try Assembly(sample.request { $0.overwrite = true })
        sample.write(sample.whole, with: assembly)
        try assembly.record()
        #expect(folder.read(Sample.name) == [1, 2, 3])
        #expect(try assembly.publish(size: sample.whole.count) != nil)
        #expect(folder.read(Sample.name) == sample.data)
        #expect(folder.names == [Sample.name])
    }

    @Test func fileThatAppearsMeanwhileStays() throws {
        let assembly = try Assembly(sample.request)
        sample.write(sample.whole, with: assembly)
        try folder.write([1, 2, 3], to: Sample.name)
        let error = AssemblyError.destinationExists(path: folder.path(of: Sample.name))
        #expect(throws: error) { try assembly.publish(size: sample.whole.count) }
        #expect(folder.read(Sample.name) == [1, 2, 3])
        #expect(folder.read(Sample.part) == sample.data, "the part is kept")
    }

    @Test func downloadFollowsARenamedFolder() throws {
        let inner = folder.path(of: "inner")
        try #require(mkdir(inner, 0o700) == 0)
        let assembly = try Assembly(sample.request { $0.folder = inner })
        sample.write(sample.whole, with: assembly)
        try #require(rename(inner, folder.path(of: "moved")) == 0)
        try #require(mkdir(inner, 0o700) == 0)
        #expect(try assembly.publish(size: sample.whole.count) != nil)
        #expect(folder.read("moved/\(Sample.name)") == sample.data)
        #expect(folder.status("inner/\(Sample.name)") == nil)
    }
}
