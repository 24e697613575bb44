import Glibc
import TestSupport
import Testing

@testable import Assembler

/// A manifest that has grown is rewritten, and no record is lost.
@Suite struct JournalGrowthTests {
    private let folder = TemporaryFolder(under: "/dev/shm")
    private let sample: Sample

    /// The file has far more room for records than are needed before a rewrite, even on a busy
    /// machine.
    init() { sample = Sample(size: 400_000, in: folder) }

    private var manifestSize: Int { folder.status(Sample.manifest).map { Int($0.st_size) } ?? 0 }
    private var manifestInode: ino_t? { folder.status(Sample.manifest)?.st_ino }

    private func manifest() throws -> Manifest {
        try Manifest(reading: try #require(folder.read(Sample.manifest)))
    }

    @Test func shrinksToTheMergedExtents() throws {
        var written: Int64 = 0
        var largest = 0
        do {
            let assembly = try Assembly(sample.request)
            let writer = assembly.makeWriter(at: 0)
            while manifestSize >= largest, written < sample.whole.end {
                largest = manifestSize
                #expect(writer.put(sample.bytes(ByteRange(written, written + 4))) == 0)
                try assembly.record()
                written += 4
                // Gives the processor to the thread that rewrites the manifest.
                if largest > 256 << 10 { sched_yield() }
            }
            #expect(largest > 256 << 10, "a short manifest is left as it is")
            #expect(manifestSize < largest / 4, "\(largest) bytes, now \(manifestSize)")
            assembly.retire(writer)
            try assembly.stop()
        }
        let manifest = try manifest()
        #expect(manifest.damagedLines == 0)
        let whole = ByteRange(0, written)
        #expect(manifest.extents.extents == [Extent(whole, crc: CRC32.of(sample.bytes(whole)))])
        #expect(folder.names == [Sample.part, Sample.manifest], "no temporary file is left")
    }

    @Test func recordsDuringRewriteSurvive() throws {
        // The extents cannot merge, so each lost one is noticed.
        var random = SplitMix64(seed: 11)
        let ranges = stride(from: Int64(0), to: sample.whole.end, by: 4)
            .map { ByteRange($0, $0 + 3) }.shuffled(using: &random)
        var written: [ByteRange] = []
        do {
            let assembly = try Assembly(sample.request)
            let inode = manifestInode
            var isRewritten = false
            var rest = ranges[...]
            var after = 0
            while after < 500, let range = rest.popFirst() {
                sample.write(range, with: assembly)
                try assembly.record()
                written.append(range)
                isRewritten = isRewritten || manifestInode != inode
                if isRewritten { after += 1 }
                if written.count > 5000, !isRewritten { sched_yield() }
            }
            #expect(isRewritten, "\(written.count) records, \(manifestSize) bytes")
            try assembly.stop()
        }
        let manifest = try manifest()
        #expect(manifest.damagedLines == 0)
        #expect(manifest.extents.covered.ranges == written.sorted())
        let assembly = try Assembly(sample.request)
        assembly.verifyAll()
        #expect(assembly.recorded.covered.ranges == written.sorted())
        try assembly.stop()
    }
}
