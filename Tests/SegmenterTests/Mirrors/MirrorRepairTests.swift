import Assembler
import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct MirrorRepairTests {
    private static func ledger(_ entries: [(Int, ByteRange)]) -> MirrorLedger {
        var ledger = MirrorLedger()
        for (number, range) in entries { ledger.note(range, by: number) }
        return ledger
    }

    @Test func mirrorWithMostBytesContinuesAlone() throws {
        let ledger = Self.ledger([(0, ByteRange(0, 30)), (1, ByteRange(30, 90))])
        let repair = try #require(
            MirrorRepair(candidates: [0, 1, 2], wrote: ledger.wrote, tried: [], size: 100))
        #expect(repair.number == 1)
        #expect(repair.keeps == RangeSet(ByteRange(30, 90)))
    }

    @Test func lowestNumberWinsTie() throws {
        let repair = try #require(
            MirrorRepair(candidates: [1, 2], wrote: [:], tried: [], size: 100))
        #expect(repair.number == 1)
        #expect(repair.keeps.isEmpty)
    }

    @Test func mirrorWithAllBytesIsExcluded() {
        let all = [0: RangeSet(ByteRange(0, 100))]
        #expect(MirrorRepair(candidates: [0], wrote: all, tried: [], size: 100) == nil)
        #expect(
            MirrorRepair(candidates: [0, 1], wrote: all, tried: [], size: 100)?.number == 1)
        #expect(MirrorRepair(candidates: [0, 1], wrote: all, tried: [1], size: 100) == nil)
    }

    /// Each byte belongs to the mirror that has written it last.
    @Test func ledgerKnowsLastWriter() {
        forEachSeed(500) { seed, random in
            let size = 64
            var model = [Int?](repeating: nil, count: size)
            var ledger = MirrorLedger()
            for _ in 0..<Int.random(in: 1...30, using: &random) {
                let start = Int.random(in: 0..<size, using: &random)
                let end = Int.random(in: start...size, using: &random)
                let number = Int.random(in: 0..<4, using: &random)
                var later = MirrorLedger()
                later.note(ByteRange(Int64(start), Int64(end)), by: number)
                ledger.add(later)
                for index in start..<end { model[index] = number }
            }
            for index in 0..<size {
                let byte = ByteRange(Int64(index), Int64(index + 1))
                let writers = (0..<4).filter { ledger.wrote[$0]?.contains(byte) ?? false }
                #expect(writers == model[index].map { [$0] } ?? [], "seed \(seed)")
            }
        }
    }

    /// With one honest mirror, the file becomes correct for any distribution of the written bytes.
    ///
    /// This takes at most as many attempts as there are mirrors.
    @Test func endsWithHonestMirror() {
        forEachSeed(500) { seed, random in
            let count = Int.random(in: 1...5, using: &random)
            let honest = Int.random(in: 0..<count, using: &random)
            let size: Int64 = 40
            var ledger = MirrorLedger()
            for index in 0..<size where Bool.random(using: &random) {
                // An earlier run has written the rest.
                ledger.note(
                    ByteRange(index, index + 1), by: .random(in: 0..<count, using: &random))
            }
            var tried: Set<Int> = []
            var candidates = Set(0..<count)
            for _ in 0...count {
                guard
                    let repair = MirrorRepair(
                        candidates: candidates.sorted(), wrote: ledger.wrote, tried: tried,
                        size: size)
                else { break }
                #expect(repair.keeps == ledger.wrote[repair.number] ?? RangeSet())
                tried.insert(repair.number)
                ledger.keepOnly(repair.number)
                ledger.note(ByteRange(0, size), by: repair.number)
                if repair.number == honest { return }
                candidates.remove(repair.number)
            }
            // The exception: the honest mirror has written the whole file, so nothing was wrong.
            #expect(ledger.wrote[honest]?.count == size, "seed \(seed)")
        }
    }
}
