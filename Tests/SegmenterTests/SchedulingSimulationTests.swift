import Assembler
import TestSupport
import Testing

@testable import Segmenter

/// A discrete-event simulation: connections of constant speed, no latency.
private struct Simulation {
    /// Seconds between two looks at who is free.
    private static let tick = 0.1

    let speeds: [Double]
    var scheduler: SegmentScheduler
    private var position: [Int: Double] = [:]
    private var known: [Int: Double] = [:]
    /// Seconds that each connection has been at work.
    private var worked: [Int: Double] = [:]
    private(set) var now = 0.0
    /// When each connection ran out of work.
    private(set) var finished: [Int: Double] = [:]
    private(set) var steals = 0
    private(set) var requests = 0

    /// Makes a simulation; speeds may be known from the first byte on.
    init(size: Int64, speeds: [Double], knowsSpeeds: Bool, verifying: [ByteRange] = []) {
        self.speeds = speeds
        scheduler = SegmentScheduler(size: size, verifying: verifying)
        if knowsSpeeds {
            known = Dictionary(uniqueKeysWithValues: speeds.enumerated().map { ($0, $1) })
        }
    }

    /// Runs until nothing is left to do.
    ///
    /// - Returns: Whether the file is complete.
    mutating func run() -> Bool {
        for connection in speeds.indices { feed(connection) }
        var steps = 0
        while let next = nextEnd(), steps < 100_000 {
            steps += 1
            let tick = now + Self.tick
            let ended = next.time <= tick ? next.connection : nil
            let passed = min(next.time, tick) - now
            now += passed
            for (connection, segment) in scheduler.segments {
                let reached = (position[connection] ?? 0) + passed * speeds[connection]
                position[connection] = reached
                let isOver = connection == ended
                scheduler.advance(connection, to: isOver ? segment.end : Int64(reached))
                worked[connection, default: 0] += passed
                // A measurement needs two ticks.
                if worked[connection, default: 0] > 2 * Self.tick {
                    known[connection] = speeds[connection]
                }
            }
            for connection in speeds.indices where scheduler.segments[connection] == nil {
                feed(connection)
            }
        }
        return scheduler.isComplete
    }

    private mutating func feed(_ connection: Int) {
        let assignment = scheduler.assign(connection, rates: known, connections: speeds.count)
        guard let assignment else {
            finished[connection] = finished[connection] ?? now
            return
        }
        finished[connection] = nil
        requests += 1
        if case .stolen = assignment { steals += 1 }
        position[connection] = Double(assignment.range.start)
    }

    private func nextEnd() -> (connection: Int, time: Double)? {
        scheduler.segments.map { connection, segment in
            let rest = Double(segment.end) - (position[connection] ?? 0)
            return (connection, now + max(0, rest) / speeds[connection])
        }.min { ($0.1, $0.0) < ($1.1, $1.0) }
    }
}

@Suite struct SchedulingSimulationTests {
    @Test(arguments: 2...16, [false, true])
    func allConnectionsFinishTogether(connections: Int, knowsSpeeds: Bool) {
        let size: Int64 = 1 << 30
        forEachSeed(12) { seed, random in
            // Up to forty times as fast as one another.
            let speeds = (0..<connections).map { _ in
                Double.random(in: 0.5e6...20e6, using: &random)
            }
            var simulation = Simulation(size: size, speeds: speeds, knowsSpeeds: knowsSpeeds)
            let isComplete = simulation.run()
            let context: Comment = "seed \(seed), \(connections) connections"
            #expect(isComplete, context)
            let ideal = Double(size) / speeds.reduce(0, +)
            #expect(simulation.now <= 1.1 * ideal, context)
            #expect(simulation.now >= 0.999 * ideal, context)
            let first = simulation.finished.values.min() ?? 0
            #expect(simulation.now - first <= 0.1 * ideal, context)
            #expect(simulation.requests < 40 * connections, context)
        }
    }

    @Test func finishesTogetherWithWhatAnEarlierRunLeft() {
        forEachSeed(40) { seed, random in
            let size: Int64 = 1 << 30
            var left = RangeSet()
            for _ in 0..<10 {
                let start = Int64.random(in: 0..<size, using: &random)
                left.insert(ByteRange(start, min(size, start + (16 << 20))))
            }
            let speeds = (0..<8).map { _ in Double.random(in: 1e6...20e6, using: &random) }
            var simulation = Simulation(
                size: size, speeds: speeds, knowsSpeeds: false, verifying: left.ranges)
            for range in left.ranges { simulation.scheduler.verified(range, isIntact: true) }
            #expect(simulation.run() == true, "seed \(seed)")
            let ideal = Double(size - left.count) / speeds.reduce(0, +)
            #expect(simulation.now <= 1.1 * ideal, "seed \(seed)")
        }
    }

    @Test func takesFromAConnectionThatIsFarSlower() {
        // One of eight has a hundredth of the speed: without stealing it would finish last by far.
        let slow = 0.1e6
        let speeds = Array(repeating: 10e6, count: 7) + [slow]
        let size: Int64 = 256 << 20
        var simulation = Simulation(size: size, speeds: speeds, knowsSpeeds: false)
        #expect(simulation.run() == true)
        #expect(simulation.steals > 0)
        // What is too short to be stolen stays with the slow one.
        let crumb = 1.05 * Double(SegmentScheduler.shortestSteal) / slow
        #expect(simulation.now <= 1.05 * Double(size) / speeds.reduce(0, +) + crumb)
    }
}
