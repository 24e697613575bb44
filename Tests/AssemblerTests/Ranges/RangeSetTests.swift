import TestSupport
import Testing

@testable import Assembler

@Suite struct RangeSetTests {
    /// A set of offsets below 64, in a plain representation.
    private struct Model {
        static let size: Int64 = 64
        var members = [Bool](repeating: false, count: Int(size))

        subscript(_ range: ByteRange) -> [Bool] {
            get { Array(members[Int(range.start)..<Int(range.end)]) }
            set { members.replaceSubrange(Int(range.start)..<Int(range.end), with: newValue) }
        }

        /// Returns the longest runs of members, which are sorted, disjoint and non-adjacent by
        /// construction.
        func runs(_ isWanted: Bool, in whole: ByteRange) -> [ByteRange] {
            var result: [ByteRange] = []
            var start: Int64?
            for offset in whole.start...whole.end {
                let isIn = offset < whole.end && members[Int(offset)] == isWanted
                if isIn, start == nil { start = offset }
                if !isIn, let begin = start {
                    result.append(ByteRange(begin, offset))
                    start = nil
                }
            }
            return result
        }
    }

    private static func range(_ random: inout SplitMix64) -> ByteRange {
        let start = Int64.random(in: 0...Model.size, using: &random)
        // Mostly short ranges, and sometimes empty ones.
        let longest = min(Model.size - start, Bool.random(using: &random) ? 4 : Model.size)
        return ByteRange(start, start + Int64.random(in: 0...longest, using: &random))
    }

    @Test func agreesWithASetOfIntegers() {
        let whole = ByteRange(0, Model.size)
        forEachSeed(250) { seed, random in
            var set = RangeSet()
            var model = Model()
            for step in 0..<24 {
                let changed = Self.range(&random)
                let isInsert = Int.random(in: 0..<5, using: &random) < 3
                if isInsert { set.insert(changed) } else { set.remove(changed) }
                model[changed] = Array(repeating: isInsert, count: Int(changed.count))
                let asked = Self.range(&random)
                let members = model[asked]
                let context: Comment = "seed \(seed), step \(step), \(set.ranges), \(asked)"
                #expect(set.ranges == model.runs(true, in: whole), context)
                #expect(set.count == model.members.count { $0 }, context)
                #expect(set.isEmpty == !model.members.contains(true), context)
                #expect(set.front == model.members.prefix { $0 }.count, context)
                #expect(set.contains(asked) == members.allSatisfy { $0 }, context)
                #expect(set.intersects(asked) == members.contains(true), context)
                #expect(set.overlap(with: asked) == members.count { $0 }, context)
                #expect(set.gaps(in: asked).ranges == model.runs(false, in: asked), context)
            }
        }
    }

    @Test func canBeMadeFromOneRange() {
        #expect(RangeSet(ByteRange(3, 8)).ranges == [ByteRange(3, 8)])
        #expect(RangeSet(ByteRange(3, 3)).isEmpty)
        #expect(RangeSet(ByteRange(3, 8)).front == 0)
        #expect(RangeSet(ByteRange(0, 8)).front == 8)
    }

    @Test func holdsTheLargestOffset() {
        var set = RangeSet(ByteRange(0, Int64.max))
        set.remove(ByteRange(10, Int64.max - 10))
        #expect(set.ranges == [ByteRange(0, 10), ByteRange(Int64.max - 10, Int64.max)])
        #expect(set.count == 20)
    }
}

@Suite struct ByteRangeTests {
    @Test func isInclusiveOnlyOnTheWire() {
        #expect(ByteRange(0, 1).headerValue == "bytes=0-0")
        #expect(ByteRange(500, 1000).headerValue == "bytes=500-999")
        #expect(ByteRange(500, 1000).description == "500..<1000")
    }

    @Test func endIsNotBelowStart() {
        let range = ByteRange(5, 3)
        #expect(range.isEmpty)
        #expect(range.count == 0)
        #expect((range.start, range.end) == (5, 5))
    }

    @Test(arguments: [
        (ByteRange(0, 10), ByteRange(5, 20), ByteRange(5, 10)),
        (ByteRange(5, 20), ByteRange(0, 10), ByteRange(5, 10)),
        (ByteRange(0, 10), ByteRange(2, 3), ByteRange(2, 3)),
        (ByteRange(0, 10), ByteRange(10, 20), ByteRange(10, 10)),
        (ByteRange(0, 10), ByteRange(15, 20), ByteRange(15, 15)),
    ])
    func intersects(left: ByteRange, right: ByteRange, common: ByteRange) {
        #expect(left.intersection(right) == common)
    }

    @Test(arguments: [
        (ByteRange(0, 10), true), (ByteRange(3, 4), true), (ByteRange(0, 11), false),
        (ByteRange(10, 11), false), (ByteRange(50, 50), true),
    ])
    func containsOnlyWholeRanges(inner: ByteRange, isContained: Bool) {
        #expect(ByteRange(0, 10).contains(inner) == isContained)
    }

    @Test func isOrderedByStartThenEnd() {
        let sorted = [ByteRange(2, 3), ByteRange(1, 9), ByteRange(1, 2)].sorted()
        #expect(sorted == [ByteRange(1, 2), ByteRange(1, 9), ByteRange(2, 3)])
    }
}
