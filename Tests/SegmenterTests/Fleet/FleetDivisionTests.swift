import Assembler
import TestSupport
import Testing

@testable import Segmenter

/// The division of a plan into shards.
@Suite struct FleetDivisionTests {
    private static let least = FleetDivision.leastRange

    private func items(_ files: [FleetDivision.File], _ shards: Int) -> [[FleetDivision.Item]] {
        let division = FleetDivision(files, into: shards)
        return division.starts.indices.map { shard in
            division.items(of: shard) { files[$0].size }
        }
    }

    @Test func largeFileIsCutIntoEqualRanges() {
        let size: Int64 = 2 << 30
        let items = items([.init(size: size, canBeCut: true)], 4)
        #expect(items.map(\.count) == [1, 1, 1, 1])
        #expect(items.compactMap(\.first?.range).map(\.count).reduce(0, +) == size)
        for item in items { #expect(abs((item[0].range?.count ?? 0) - size / 4) <= 1 << 20) }
    }

    @Test func fileThatCannotBeCutStaysWhole() {
        let items = items([.init(size: 2 << 30, canBeCut: false)], 4)
        #expect(items == [[.init(file: 0)]])
    }

    @Test func smallFilesStayWholeAndTogether() {
        let items = items(Array(repeating: .init(size: 1000, canBeCut: true), count: 10), 3)
        #expect(items.flatMap(\.self) == (0..<10).map { .init(file: $0) })
        #expect(items.allSatisfy { (3...4).contains($0.count) })
    }

    @Test func plansOfNothingAreOneShard() {
        #expect(items([.init(size: 0, canBeCut: true)], 5) == [[.init(file: 0)]])
        #expect(items([.init(size: nil, canBeCut: false)], 5) == [[.init(file: 0)]])
        #expect(items([.init(size: 1, canBeCut: true)], 1000) == [[.init(file: 0)]])
    }

    /// Each byte is in exactly one shard, no range is short, and the shards are about equal.
    @Test func eachByteIsInOneShard() {
        forEachSeed(400) { seed, random in
            let count = Int.random(in: 1...60, using: &random)
            let files = (0..<count).map { _ -> FleetDivision.File in
                let bits = Int.random(in: 0...33, using: &random)
                let isKnown = Int.random(in: 0..<20, using: &random) > 0
                let size = isKnown ? Int64.random(in: 0...(1 << bits), using: &random) : nil
                return .init(size: size, canBeCut: Bool.random(using: &random))
            }
            let shards = Int.random(in: 1...40, using: &random)
            let items = items(files, shards)
            #expect(items.count <= shards && !items.contains { $0.isEmpty }, "seed \(seed)")
            var next = FleetDivision.Place(file: 0)
            for item in items.flatMap(\.self) {
                let range = item.range ?? ByteRange(0, files[item.file].size ?? 0)
                #expect(next == .init(file: item.file, offset: range.start), "seed \(seed)")
                if item.range != nil {
                    #expect(files[item.file].canBeCut && range.count >= Self.least, "seed \(seed)")
                }
                let isEnd = range.end == files[item.file].size ?? 0
                next =
                    isEnd ? .init(file: item.file + 1) : .init(file: item.file, offset: range.end)
            }
            #expect(next == .init(file: files.count), "seed \(seed)")
            // No shard has more than its part and the largest piece that cannot be divided.
            let total = files.reduce(Int64(0)) { $0 + ($1.size ?? 0) }
            let whole =
                files.filter { !$0.canBeCut || $0.size ?? 0 < 2 * Self.least }
                .map { $0.size ?? 0 }.max() ?? 0
            let bound = total / Int64(shards) + 2 * max(whole, 2 * Self.least) + 64 * (64 << 10)
            for shard in items {
                let bytes = shard.reduce(Int64(0)) {
                    $0 + ($1.range?.count ?? files[$1.file].size ?? 0)
                }
                #expect(bytes <= bound, "seed \(seed)")
            }
        }
    }
}
