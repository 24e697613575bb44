import Assembler
import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests that every byte is exactly one of done, verifying, assigned and unassigned.
@Suite struct SegmentSchedulerTests {
    /// A second record of the events, to compare the scheduler with.
    private struct Model {
        var scheduler: SegmentScheduler
        var done = RangeSet()
        var verifying: RangeSet
        var unchecked: [ByteRange]
        var work: [Int: ByteRange] = [:]
        var rates: [Int: Double] = [:]
        let connections: Int

        init(size: Int64, verifying ranges: [ByteRange], connections: Int) {
            scheduler = SegmentScheduler(size: size, verifying: ranges)
            verifying = ranges.reduce(into: RangeSet()) { $0.insert($1) }
            unchecked = ranges
            self.connections = connections
        }

        /// The broken rule; `nil` if all hold.
        var problem: String? {
            let whole = ByteRange(0, scheduler.size)
            var seen = RangeSet()
            var sum: Int64 = 0
            let rests = scheduler.segments.values.map(\.rest)
            let all =
                scheduler.done.ranges + scheduler.verifying.ranges + scheduler.unassigned.ranges
                + rests
            for range in all {
                sum += range.count
                seen.insert(range)
            }
            if seen != RangeSet(whole) || sum != whole.count { return "no partition of the file" }
            if scheduler.segments.mapValues(\.rest) != work { return "other assignments" }
            if scheduler.done != done { return "other bytes are done" }
            if scheduler.verifying != verifying { return "other bytes are being verified" }
            if rests.contains(where: \.isEmpty) { return "a segment without work" }
            return scheduler.isComplete == (done.count == scheduler.size) ? nil : "not complete"
        }

        mutating func advance(_ connection: Int, to position: Int64) {
            scheduler.advance(connection, to: position)
            guard let rest = work[connection], position > rest.start else { return }
            let reached = min(position, rest.end)
            done.insert(ByteRange(rest.start, reached))
            work[connection] = reached == rest.end ? nil : ByteRange(reached, rest.end)
        }

        /// Assigns work, and returns the broken rule; `nil` if all hold.
        mutating func assign(_ connection: Int) -> String? {
            let before = scheduler
            guard let assignment = scheduler.assign(connection, connections: connections, now: 0)
            else { return before.unassigned.isEmpty ? nil : "there was work" }
            let range = assignment.range
            work[connection] = range
            guard let asked = scheduler.ask(connection), range.contains(asked), !asked.isEmpty,
                asked.start == range.start, scheduler.segments[connection]?.asked == asked.end
            else { return "asks for something else" }
            if range.isEmpty { return "no work" }
            switch assignment {
            case .fresh:
                if !before.unassigned.contains(range) { return "not free" }
                let gap = before.unassigned.ranges.first { $0.contains(range) }
                let isCrumb = range.count < SegmentScheduler.shortestRequest && range != gap
                if isCrumb { return "a crumb of a larger gap" }
                // A segment includes a rest that would be shorter than the shortest segment.
                let longest = SegmentScheduler.longestSegment + SegmentScheduler.shortestSegment
                if range.count >= longest, connections > 1 { return "too long" }
            case .stolen(_, let victim):
                guard let old = before.segments[victim]?.rest else { return "no such victim" }
                if !before.unassigned.isEmpty { return "stolen although there was free work" }
                let speed = rates[victim] ?? 0
                if speed <= 0 { return "nobody knows that the victim is late" }
                let isLate = Double(old.count) / speed >= SegmentScheduler.wholeStealTime
                if range.end != old.end || range.start < old.start { return "not a tail" }
                if range == old || range.count < SegmentScheduler.shortestRequest, !isLate {
                    return "too little, or too much"
                }
                if (scheduler.segments[victim]?.end ?? old.start) != range.start {
                    return "both fetch it"
                }
                work[victim] = range == old ? nil : ByteRange(old.start, range.start)
            }
            return nil
        }

        mutating func verify(at index: Int, isIntact: Bool) {
            let range = unchecked.remove(at: index)
            scheduler.verified(range, isIntact: isIntact)
            verifying.remove(range)
            if isIntact { done.insert(range) }
        }

        mutating func release(_ connection: Int) {
            scheduler.release(connection)
            work[connection] = nil
        }
    }

    /// Returns disjoint ranges of a file that are not adjacent.
    private static func earlier(_ size: Int64, _ random: inout SplitMix64) -> [ByteRange] {
        var ranges = RangeSet()
        for _ in 0..<Int.random(in: 0...5, using: &random) {
            let start = Int64.random(in: 0..<size, using: &random)
            let end = min(size, start + Int64.random(in: 1...(1 << 20), using: &random))
            ranges.insert(ByteRange(start, end))
        }
        return ranges.ranges.shuffled(using: &random)
    }

    /// Applies a random event to a connection or an extent of an earlier run.
    ///
    /// - Returns: The rule that an assignment breaks; `nil` if all hold.
    private func event(_ model: inout Model, _ random: inout SplitMix64) -> String? {
        let connection = Int.random(in: 0..<model.connections, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4:
            guard let rest = model.work[connection] else { break }
            // Sometimes one byte too many, or a byte before the range.
            let reached = [
                rest.end, rest.end, rest.end - 1, rest.end + 1, rest.start - 1, rest.start,
                Int64.random(in: rest.start...rest.end, using: &random),
            ].randomElement(using: &random)
            model.advance(connection, to: reached ?? rest.end)
        case 4..<8:
            let rate =
                [nil, 0, Double(1 << Int.random(in: 8...30, using: &random))]
                .randomElement(using: &random) ?? nil
            model.rates[connection] = rate
            model.scheduler.measured(connection, rate: rate, now: 0)
            if model.work[connection] == nil { return model.assign(connection) }
        case 8: model.release(connection)
        default:
            guard let index = model.unchecked.indices.randomElement(using: &random) else { break }
            model.verify(at: index, isIntact: Bool.random(using: &random))
        }
        return nil
    }

    @Test func everyByteIsInExactlyOneState() {
        forEachSeed(400) { seed, random in
            let size = Int64.random(in: 1...(6 << 20), using: &random)
            let connections = Int.random(in: 1...16, using: &random)
            var model = Model(
                size: size, verifying: Self.earlier(size, &random), connections: connections)
            #expect(model.problem == nil, "seed \(seed): at the start")
            for step in 0..<60 {
                let mistake = event(&model, &random)
                #expect(mistake == nil, "seed \(seed), step \(step)")
                let problem = model.problem
                #expect(problem == nil, "seed \(seed), step \(step)")
                if mistake != nil || problem != nil { return }
            }
            finish(&model, seed)
        }
    }

    /// From any state, a single connection can download the rest.
    private func finish(_ model: inout Model, _ seed: UInt64) {
        for connection in 0..<model.connections { model.release(connection) }
        while !model.unchecked.isEmpty { model.verify(at: 0, isIntact: false) }
        var rounds = 0
        while !model.scheduler.isComplete, rounds < 1000 {
            rounds += 1
            #expect(model.assign(0) == nil, "seed \(seed): at the end")
            guard let rest = model.work[0] else { break }
            model.advance(0, to: rest.end)
        }
        #expect(model.scheduler.isComplete, "seed \(seed): it never completes")
        #expect(model.problem == nil, "seed \(seed): at the end")
        #expect(model.assign(0) == nil && model.work.isEmpty, "seed \(seed): work remains")
    }

    @Test func adoptsOnlyUnassignedRanges() {
        var scheduler = SegmentScheduler(size: 1000, verifying: [ByteRange(500, 600)])
        #expect(scheduler.adopt(ByteRange(0, 1000), by: 0) == false, "some of it is being verified")
        #expect(scheduler.adopt(ByteRange(5, 5), by: 0) == false)
        #expect(scheduler.adopt(ByteRange(0, 400), by: 0) == true)
        #expect(scheduler.adopt(ByteRange(600, 700), by: 0) == false, "it has work already")
        #expect(scheduler.adopt(ByteRange(399, 450), by: 1) == false, "some of it is assigned")
        #expect(scheduler.adopt(ByteRange(400, 450), by: 1) == true)
        scheduler.advance(0, to: 400)
        #expect(scheduler.adopt(ByteRange(0, 10), by: 2) == false, "it is done")
        #expect(scheduler.unassigned.ranges == [ByteRange(450, 500), ByteRange(600, 1000)])
    }

    /// A connection that may have failed loses all of its work to a faster or a new one.
    @Test(arguments: [(3e5, true), (nil, true), (1.5e5, false), (1e5, false)] as [(Double?, Bool)])
    func takesWholeSegmentOfSlowConnection(mine: Double?, isWhole: Bool) {
        let range = ByteRange(0, 200 << 10)
        var scheduler = SegmentScheduler(size: range.end)
        #expect(scheduler.adopt(range, by: 0) == true)
        scheduler.measured(0, rate: 1e5, now: 0)
        scheduler.measured(1, rate: mine, now: 0)
        let stolen = scheduler.assign(1, connections: 2, now: 0)
        #expect(stolen != nil)
        #expect((stolen?.range == range) == isWhole)
    }

    @Test func stealsFromConnectionThatFinishesLast() {
        let size: Int64 = 60 << 20
        var scheduler = SegmentScheduler(size: size)
        #expect(scheduler.adopt(ByteRange(0, 20 << 20), by: 0) == true)
        #expect(scheduler.adopt(ByteRange(20 << 20, 60 << 20), by: 1) == true)
        // The longer segment's connection is fast, so the shorter segment would finish last.
        for (connection, rate) in [(0, 1e6), (1, 10e6), (2, 3e6)] {
            scheduler.measured(connection, rate: rate, now: 0)
        }
        guard case .stolen(let range, 0)? = scheduler.assign(2, connections: 3, now: 0) else {
            Issue.record("nothing is stolen from the first")
            return
        }
        // The bytes that the thief downloads until all could finish.
        #expect(abs(Double(range.count) / 3e6 - Double(size) / 14e6) < 1e-3)
        #expect(scheduler.segments[0]?.rest == ByteRange(0, range.start))
        #expect(range.end == 20 << 20)
    }

    /// The remaining bytes of another connection, its rate, and how many bytes a connection of
    /// equal speed steals.
    @Test(
        arguments: [
            (64 << 20, 10e6, 32 << 20), (64 << 20, nil, 0), (64 << 20, 0, 0),
            // The rest takes less than an eighth of a second.
            (1_180_000, 10e6, 0), (1_220_000, 10e6, 610_000),
            // Few bytes of a slow connection; never all, as they would be stolen back.
            (257 << 10, 2e5, 257 << 9),
            (255 << 10, 1e5, 255 << 9), (300 << 10, 1e5, 150 << 10), (1, 0.1, 0), (1, 1, 0),
        ] as [(Int64, Double?, Int64)])
    func stealsOnlyIfWorthARequest(left: Int64, speed: Double?, taken: Int64) {
        var scheduler = SegmentScheduler(size: left)
        #expect(scheduler.adopt(ByteRange(0, left), by: 0) == true)
        scheduler.measured(1, rate: speed ?? 1e6, now: 0)
        scheduler.measured(0, rate: speed, now: 0)
        let idle = scheduler.assign(1, connections: 2, now: 0, maySteal: false)
        #expect(idle == nil)
        let stolen = scheduler.assign(1, connections: 2, now: 0)
        #expect(stolen == (taken > 0 ? .stolen(ByteRange(left - taken, left), from: 0) : nil))
        let kept = ByteRange(0, left - taken)
        #expect(scheduler.segments[0]?.rest == (kept.isEmpty ? nil : kept))
    }

    /// All could finish before a request pays off, so the thief takes as much as is worth a
    /// request.
    @Test func stolenRangeIsWorthARequest() {
        let size: Int64 = 1_100_000
        var scheduler = SegmentScheduler(size: size)
        scheduler.roundTrip = 0.1
        var start: Int64 = 0
        for (connection, count) in [Int64(1_000_000), 50_000, 50_000].enumerated() {
            #expect(scheduler.adopt(ByteRange(start, start + count), by: connection) == true)
            start += count
        }
        for connection in 0..<8 { scheduler.measured(connection, rate: 1e6, now: 0) }
        let stolen = scheduler.assign(3, connections: 8, now: 0)
        #expect(stolen == .stolen(ByteRange(899_000, 1_000_000), from: 0))
    }

    /// Late connections have a rate of one byte per second; of two bytes, the thief takes one.
    @Test func neverStealsEmptyRange() {
        var scheduler = SegmentScheduler(size: 2)
        #expect(scheduler.adopt(ByteRange(0, 2), by: 0) == true)
        for connection in 0..<2 { scheduler.measured(connection, rate: 1, now: 0) }
        let stolen = scheduler.assign(1, connections: 2, now: 0)
        #expect(stolen == .stolen(ByteRange(1, 2), from: 0))
    }

    @Test func assignsWorkForUnknownSize() {
        var scheduler = SegmentScheduler(size: .max)
        #expect(scheduler.adopt(ByteRange(0, .max), by: 0) == true)
        scheduler.advance(0, to: 12_345)
        #expect(scheduler.done.count == 12_345)
        #expect(!scheduler.isComplete)
        var assigned = SegmentScheduler(size: .max)
        assigned.measured(0, rate: 1e9, now: 0)
        let range = assigned.assign(0, connections: 2, now: 0)?.range
        #expect(range == ByteRange(0, SegmentScheduler.longestSegment))
    }
}
