import TestSupport
import Testing

@testable import Assembler

/// A manifest with several records, and the data that it describes.
struct DamageableManifest {
    let data: [UInt8]
    let header: Manifest.Header
    let extents: [Extent]
    let publishing = FileIdentity(device: 2049, inode: 1_234_567)
    let rejected = "crc32:01234567"
    let bytes: [UInt8]

    /// - Parameter endsInVerdict: Whether a `publishing` and a `rejected` line follow the extents.
    init(endsInVerdict: Bool = true) {
        var random = SplitMix64(seed: 3)
        let data = random.bytes(48 << 10)
        let url = "https://example.org/f"
        header = Manifest.Header(
            identity: RemoteIdentity(
                size: Int64(data.count), etag: "\"v1\"",
                lastModified: "Mon, 01 Jan 2024 00:00:00 GMT", lastModifiedIsStrong: true),
            url: url, fullURL: url + "?key=secret", generation: random.next())
        // Every second 2 KiB in random order, three extents per line.
        let ranges = stride(from: Int64(0), to: Int64(data.count), by: 4096)
            .map { ByteRange($0, $0 + 2048) }.shuffled(using: &random)
        let extents = ranges.map {
            Extent($0, crc: CRC32.of(data[Int($0.start)..<Int($0.end)]))
        }
        var records = stride(from: 0, to: extents.count, by: 3).map {
            Manifest.Record(extents: extents[$0..<min($0 + 3, extents.count)])
        }
        if endsInVerdict {
            records += [
                Manifest.Record(publishing: publishing), Manifest.Record(rejected: rejected),
            ]
        }
        let seed = Manifest.seed(generation: header.generation)
        bytes = records.reduce(SealedLine.of(header, seed: seed)) {
            $0 + SealedLine.of($1, seed: seed)
        }
        self.data = data
        self.extents = extents
    }

    /// Returns the first wrong fact that a reader finds in damaged `bytes`; `nil` if all facts are
    /// right.
    func lie(in bytes: [UInt8]) -> String? {
        guard let manifest = try? Manifest(reading: bytes) else { return nil }
        if manifest.header != header { return "another header" }
        for extent in manifest.extents.extents {
            guard extent.range.start >= 0, extent.range.end <= Int64(data.count) else {
                return "\(extent.range) lies outside"
            }
            let content = data[Int(extent.range.start)..<Int(extent.range.end)]
            if extent.crc != CRC32.of(content) { return "\(extent.range) is not of the data" }
        }
        let written = RangeSet(extents.map(\.range))
        let invented = manifest.extents.covered.ranges.first { !written.contains($0) }
        if let invented { return "\(invented) was never written" }
        if let file = manifest.publishing, file != publishing { return "publishes another file" }
        if let digest = manifest.rejected, digest != rejected { return "rejected as another" }
        return nil
    }
}

extension RangeSet {
    init(_ ranges: [ByteRange]) {
        self.init()
        for range in ranges { insert(range) }
    }
}

@Suite struct ManifestDamageTests {
    private let sample = DamageableManifest()

    @Test func undamagedManifestIsReadInFull() throws {
        let manifest = try Manifest(reading: sample.bytes)
        #expect(manifest.header == sample.header)
        #expect(Set(manifest.extents.extents) == Set(sample.extents))
        #expect(manifest.publishing == sample.publishing)
        #expect(manifest.rejected == sample.rejected)
        #expect(sample.lie(in: sample.bytes) == nil)
    }

    @Test func truncationNeverAddsExtents() {
        var most = 0
        for length in 0..<sample.bytes.count {
            let cut = Array(sample.bytes[..<length])
            #expect(sample.lie(in: cut) == nil, "cut to \(length) bytes")
            most = max(most, (try? Manifest(reading: cut))?.extents.extents.count ?? 0)
        }
        #expect(most == sample.extents.count, "the last cuts lose no extent")
    }

    @Test func bitFlipNeverAddsExtents() {
        var readable = 0
        for index in sample.bytes.indices {
            for bit in 0..<8 {
                var bytes = sample.bytes
                bytes[index] ^= 1 << bit
                #expect(sample.lie(in: bytes) == nil, "bit \(bit) of byte \(index)")
                guard let manifest = try? Manifest(reading: bytes) else { continue }
                readable += 1
                // Only the loss of the last line feed may go unnoticed.
                let isWhole = manifest.damagedLines == 0
                #expect(!isWhole || index == sample.bytes.count - 1, "bit \(bit) of byte \(index)")
            }
        }
        #expect(readable > sample.bytes.count, "damage behind the header leaves the rest readable")
    }

    @Test func lostOrDoubledByteNeverAddsExtents() {
        for index in sample.bytes.indices {
            var lost = sample.bytes
            lost.remove(at: index)
            #expect(sample.lie(in: lost) == nil, "without byte \(index)")
            var doubled = sample.bytes
            doubled.insert(doubled[index], at: index)
            #expect(sample.lie(in: doubled) == nil, "with byte \(index) twice")
        }
    }

    @Test func zeroedBlockNeverAddsExtents() {
        // After a power cut, blocks that were not written may contain zeros.
        forEachSeed(500) { seed, random in
            var bytes = sample.bytes
            let start = Int.random(in: 0..<bytes.count, using: &random)
            let end = Int.random(in: start...bytes.count, using: &random)
            bytes.replaceSubrange(start..<end, with: repeatElement(0, count: end - start))
            #expect(sample.lie(in: bytes) == nil, "seed \(seed)")
        }
    }
}
