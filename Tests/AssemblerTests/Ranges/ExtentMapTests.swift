import TestSupport
import Testing

@testable import Assembler

@Suite struct ExtentMapTests {
    /// Cuts `0..<count` at random offsets.
    private static func cuts(_ count: Int64, _ random: inout SplitMix64) -> [ByteRange] {
        let inner = (0..<Int.random(in: 0..<24, using: &random)).map { _ in
            Int64.random(in: 0...count, using: &random)
        }
        let bounds = Set(inner).union([0, count]).sorted()
        return zip(bounds, bounds.dropFirst()).map { ByteRange($0, $1) }
    }

    private static func crc(_ data: [UInt8], _ range: ByteRange) -> UInt32 {
        CRC32.of(data[Int(range.start)..<Int(range.end)])
    }

    @Test func mergesToTheChecksumInAnyOrder() {
        forEachSeed(400) { seed, random in
            let data = random.bytes(Int.random(in: 1...600, using: &random))
            let size = Int64(data.count)
            let pieces = Self.cuts(size, &random).shuffled(using: &random)
            var map = ExtentMap()
            for piece in pieces {
                #expect(map.combinedCRC(size: size) == nil, "seed \(seed): there is a gap")
                map.add(Extent(piece, crc: Self.crc(data, piece)))
                #expect(
                    map.extents.allSatisfy { $0.crc == Self.crc(data, $0.range) }, "seed \(seed)")
                #expect(map.extents.map(\.range) == map.covered.ranges, "seed \(seed)")
            }
            #expect(map.combinedCRC(size: size) == CRC32.of(data), "seed \(seed)")
            #expect(map.combinedCRC(size: size + 1) == nil, "seed \(seed)")
            #expect(map.combinedCRC(size: size - 1) == nil, "seed \(seed)")
        }
    }

    @Test func laterExtentsReplaceEarlierOnes() {
        forEachSeed(400) { seed, random in
            // The content of the file if each extent were written when it is added.
            var content = random.bytes(200)
            var map = ExtentMap()
            for _ in 0..<20 {
                let start = Int64.random(in: 0..<200, using: &random)
                let range = ByteRange(start, Int64.random(in: start...200, using: &random))
                content.replaceSubrange(
                    Int(range.start)..<Int(range.end), with: random.bytes(Int(range.count)))
                map.add(Extent(range, crc: Self.crc(content, range)))
                #expect(map.covered.contains(range), "seed \(seed)")
                var union = RangeSet()
                for extent in map.extents {
                    #expect(!union.intersects(extent.range), "seed \(seed): overlap")
                    union.insert(extent.range)
                    #expect(extent.crc == Self.crc(content, extent.range), "seed \(seed)")
                }
                #expect(union == map.covered, "seed \(seed)")
                #expect(map.extents.map(\.range) == map.extents.map(\.range).sorted())
            }
        }
    }

    @Test func mergesUpToTheLimit() {
        let length = 3 << 20
        let order = [4, 0, 1, 9, 8, 2, 6, 5, 3, 7]
        let blocks = order.indices.map { [UInt8](repeating: UInt8($0 + 1), count: length) }
        var map = ExtentMap()
        for index in order {
            let start = Int64(index * length)
            map.add(
                Extent(ByteRange(start, start + Int64(length)), crc: CRC32.of(blocks[index])))
        }
        let size = Int64(length * order.count)
        #expect(map.covered.ranges == [ByteRange(0, size)])
        #expect(map.extents.allSatisfy { $0.range.count <= ExtentMap.mergeLimit })
        #expect(map.extents.count < order.count, "nothing was merged")
        let whole = blocks.reduce(0) { CRC32.of($1, seed: $0) }
        #expect(map.combinedCRC(size: size) == whole)
    }

    @Test func ignoresEmptyExtents() {
        var map = ExtentMap()
        map.add(Extent(ByteRange(5, 5), crc: 1))
        #expect(map.extents.isEmpty)
        #expect(map.combinedCRC(size: 0) == 0, "an empty file is complete")
    }
}

@Suite struct CRC32Tests {
    @Test(
        arguments: [
            ("", 0), ("a", 0xe8b7_be43), ("123456789", 0xcbf4_3926),
            ("The quick brown fox jumps over the lazy dog", 0x414f_a339),
        ] as [(String, UInt32)])
    func givesKnownValues(text: String, expected: UInt32) {
        #expect(CRC32.of(text.utf8) == expected)
    }

    @Test func combinationEqualsOnePass() {
        forEachSeed(1000) { seed, random in
            let data = random.bytes(Int.random(in: 0...300, using: &random))
            let cut = Int.random(in: 0...data.count, using: &random)
            let (left, right) = (CRC32.of(data[..<cut]), CRC32.of(data[cut...]))
            let combined = CRC32.combine(left, right, length: Int64(data.count - cut))
            #expect(combined == CRC32.of(data), "seed \(seed)")
            #expect(CRC32.of(data[cut...], seed: left) == CRC32.of(data), "seed \(seed)")
        }
    }

    @Test func combinesBeyondFourGigabytes() {
        // Appends zeros to a checksum: doing so twice with half the length must equal doing so
        // once.
        let half = CRC32.combine(0xcbf4_3926, 0, length: 5 << 32)
        #expect(
            CRC32.combine(half, 0, length: 5 << 32)
                == CRC32.combine(0xcbf4_3926, 0, length: 10 << 32))
        #expect(
            CRC32.combine(0xcbf4_3926, 0, length: 1 << 32)
                != CRC32.combine(0xcbf4_3926, 0, length: 0))
    }
}
