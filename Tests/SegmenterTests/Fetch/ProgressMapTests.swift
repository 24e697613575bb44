import Assembler
import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct ProgressMapTests {
    private static func map(_ done: RangeSet, _ size: Int64) -> [UInt8] {
        ProgressReporter.map(of: done, size: size)
    }

    @Test func hasCellPerPart() {
        for size in [1, 2, 127, 128, 129, 1000, 1 << 30, 1 << 50] as [Int64] {
            let cells = Int(min(128, size))
            #expect(Self.map(RangeSet(), size) == Array(repeating: 0, count: cells))
            let whole = RangeSet(ByteRange(0, size))
            #expect(Self.map(whole, size) == Array(repeating: 8, count: cells))
        }
        #expect(Self.map(RangeSet(), 0).isEmpty)
    }

    @Test func fillsFromTheFront() {
        let size: Int64 = 128 * 800
        let map = Self.map(RangeSet(ByteRange(0, 10 * 800 + 400)), size)
        #expect(map[..<10].allSatisfy { $0 == 8 })
        #expect(map[10] == 4)
        #expect(map[11...].allSatisfy { $0 == 0 })
    }

    @Test func cellIsFullOnlyIfComplete() {
        for size in [129, 1000, 12_345, 1 << 30, 1 << 50] as [Int64] {
            for missing in [0, 1, size / 3, size - 1] {
                var done = RangeSet(ByteRange(0, size))
                done.remove(ByteRange(missing, missing + 1))
                #expect(Self.map(done, size).count { $0 != 8 } == 1, "\(missing) of \(size)")
            }
        }
    }

    @Test func agreesWithByteCount() {
        forEachSeed(500) { seed, random in
            let size = Int64.random(in: 1...3000, using: &random)
            var done = RangeSet()
            for _ in 0..<Int.random(in: 0...8, using: &random) {
                let start = Int64.random(in: 0...size, using: &random)
                done.insert(ByteRange(start, Int64.random(in: start...size, using: &random)))
            }
            let map = Self.map(done, size)
            let cells = Int64(map.count)
            #expect(cells == min(128, size), "seed \(seed)")
            #expect(map.allSatisfy { $0 <= 8 }, "seed \(seed)")
            // A cell of n bytes that shows k of 8 has at least k·n/8 and less than (k+1)·n/8 bytes.
            let longest = (size + cells - 1) / cells
            let least = map.reduce(0) { $0 + Int64($1) } * (size / cells) / 8
            let most = map.reduce(0) { $0 + min(8, Int64($1) + 1) } * longest / 8 + cells
            #expect((least...most).contains(done.count), "seed \(seed)")
            #expect((map.allSatisfy { $0 == 8 }) == (done.count == size), "seed \(seed)")
        }
    }
}
