import Assembler
import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests the assignments for an output that takes bytes in order, within a window.
@Suite struct WindowSchedulingTests {
    /// The scheduler's view of a download to a reader.
    private struct Model {
        var scheduler: SegmentScheduler
        let window: Int64
        let connections: Int
        /// The maximum number of bytes that are held back for a digest.
        let reserve: Int64
        var written: Int64 = 0

        init(_ random: inout SplitMix64) {
            let size = Int64.random(in: 1...(24 << 20), using: &random)
            scheduler = SegmentScheduler(size: size)
            window = Int64.random(
                in: StreamOptions.smallestWindow...(8 << 20), using: &random)
            connections = Int.random(in: 1...16, using: &random)
            reserve = [0, min(64 << 10, window / 4)].randomElement(using: &random) ?? 0
        }

        var front: Int64 { scheduler.done.front }
        /// The position that a reader could reach if it took everything.
        var readable: Int64 {
            front == scheduler.size ? front : max(written, front - reserve)
        }
        var limit: Int64 { written + window }

        /// Assigns work, and returns the broken rule; `nil` if all hold.
        mutating func assign(_ connection: Int, maySteal: Bool = true) -> String? {
            let before = scheduler
            let offer = OutputWindow(
                limit: limit, size: window, isBehind: front - written >= window / 2)
            let assignment = scheduler.assign(
                connection, connections: connections, now: 0, maySteal: maySteal,
                window: offer)
            guard let range = assignment?.range else {
                let isIdle = before.segments.isEmpty && front < scheduler.size
                return isIdle && limit - front >= window / 2 ? "nobody gets work" : nil
            }
            if range.end > limit { return "beyond the window" }
            if range.isEmpty { return "no work" }
            if range.count > max(window / 2, SegmentScheduler.shortestShare) * 2 {
                return "more than its share"
            }
            return nil
        }
    }

    private func event(_ model: inout Model, _ random: inout SplitMix64) -> String? {
        let connection = Int.random(in: 0..<model.connections, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4:
            guard let rest = model.scheduler.segments[connection]?.rest else { break }
            model.scheduler.advance(
                connection, to: Int64.random(in: rest.start...rest.end, using: &random))
        case 4..<7:
            let rate =
                [nil, 0, Double(1 << Int.random(in: 8...30, using: &random))]
                .randomElement(using: &random) ?? nil
            model.scheduler.measured(connection, rate: rate, now: 0)
            if model.scheduler.segments[connection] == nil { return model.assign(connection) }
        case 7: model.scheduler.release(connection)
        default:
            model.written = Int64.random(in: model.written...model.readable, using: &random)
        }
        return nil
    }

    @Test func staysWithinTheWindow() {
        forEachSeed(300) { seed, random in
            var model = Model(&random)
            for step in 0..<200 {
                if let mistake = event(&model, &random) {
                    Issue.record("seed \(seed), step \(step): \(mistake)")
                    return
                }
            }
            // From any state, connections and the reader reach the end of the file.
            var rounds = 0
            while !model.scheduler.isComplete, rounds < 10_000 {
                rounds += 1
                model.written = model.readable
                for connection in 0..<model.connections {
                    if let rest = model.scheduler.segments[connection]?.rest {
                        model.scheduler.advance(connection, to: rest.end)
                    } else if let mistake = model.assign(connection, maySteal: false) {
                        Issue.record("seed \(seed), at the end: \(mistake)")
                        return
                    }
                }
            }
            #expect(model.scheduler.isComplete, "seed \(seed): it never completes")
        }
    }

    @Test(
        arguments: [(64 << 20, 8), (64 << 20, 64), (8 << 20, 16), (1 << 20, 8), (256 << 10, 4)]
            as [(Int64, Int)])
    func everyConnectionGetsWork(window: Int64, connections: Int) {
        var scheduler = SegmentScheduler(size: 1 << 40)
        let offer = OutputWindow(limit: window, size: window, isBehind: false)
        for connection in 0..<connections {
            let assignment = scheduler.assign(
                connection, connections: connections, now: 0, window: offer)
            #expect(assignment != nil, "connection \(connection) has nothing to do")
        }
    }

    @Test func stealsInWindowOnlyIfAllowed() {
        var scheduler = SegmentScheduler(size: 1 << 30)
        let offer = OutputWindow(limit: 1 << 20, size: 1 << 20, isBehind: false)
        #expect(scheduler.adopt(ByteRange(0, 1 << 20), by: 0) == true)
        for connection in 0...1 { scheduler.measured(connection, rate: 1e5, now: 0) }
        let idle = scheduler.assign(1, connections: 2, now: 0, maySteal: false, window: offer)
        #expect(idle == nil)
        let stolen = scheduler.assign(1, connections: 2, now: 0, window: offer)
        #expect(stolen == .stolen(ByteRange(1 << 19, 1 << 20), from: 0))
    }

    @Test func continuesFromDoneRanges() {
        var done = RangeSet(ByteRange(0, 1000))
        done.insert(ByteRange(2000, 2500))
        var scheduler = SegmentScheduler(size: 3000, done: done)
        #expect(scheduler.unassigned.ranges == [ByteRange(1000, 2000), ByteRange(2500, 3000)])
        #expect(scheduler.done == done)
        #expect(scheduler.adopt(ByteRange(0, 3000), by: 0) == false)
        #expect(scheduler.adopt(ByteRange(1000, 2000), by: 0) == true)
    }
}
