import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct NetworkWaitTests {
    /// A lost network, a machine that may be suspended, and the times of canaries.
    private struct Story {
        var boot = 100.0
        var asleep = 0.0
        /// The seconds until a canary fails.
        var patience = 0.0
        var wait: NetworkWait
        /// The times of the canaries, on the boot clock.
        var canaries: [Double] = []
        /// The times at which the machine woke, on the boot clock.
        var wakes: [Double] = []

        init() { wait = NetworkWait(.init(boot: 100, monotonic: 100)) }

        var now: NetworkWait.Moment { .init(boot: boot, monotonic: boot - asleep) }

        /// Runs until `end`; `changes` are the times at which the watch reports a change.
        mutating func run(to end: Double, changes: [Double] = []) {
            var next = 0
            func pass(_ time: Double) {
                while next < changes.count, changes[next] <= time { next += 1 }
            }
            func first(from start: Double, before end: Double) -> Double? {
                // The socket keeps changes until the next call reads them.
                guard start < .infinity, next < changes.count else { return nil }
                let reported = max(changes[next], start)
                return reported < end ? reported : nil
            }
            while boot < end {
                switch wait.next(now) {
                case .rest(let due, let listensFrom):
                    #expect(due > boot)
                    if let change = first(from: max(boot, listensFrom), before: min(due, end)) {
                        boot = change
                        pass(change)
                        wait.changed(now)
                    } else {
                        boot = min(due, end)
                    }
                    wakes.append(boot)
                case .canary(let listensFrom):
                    canaries.append(boot)
                    pass(boot)
                    let failed = boot + patience
                    if let change = first(from: max(boot, listensFrom), before: failed) {
                        boot = change
                        pass(change)
                        wait.changed(now)
                    } else {
                        boot = failed
                        wait.failed(now)
                    }
                }
            }
        }
    }

    @Test func doublesItsIntervalsUpToAMinute() {
        var story = Story()
        story.run(to: 100 + 10_000)
        let gaps = zip(story.canaries, story.canaries.dropFirst()).map { $1 - $0 }
        #expect(story.canaries.first == 101)
        #expect(Array(gaps.prefix(8)) == [1, 2, 4, 8, 16, 32, 60, 60])
        // The wait never ends, and each canary costs one wake.
        #expect(gaps.last == 60)
        #expect(story.wakes.count <= story.canaries.count + 1)
    }

    @Test func slowCanaryDoesNotExtendInterval() {
        var story = Story()
        story.patience = 10
        story.run(to: 1000)
        let gaps = zip(story.canaries, story.canaries.dropFirst()).map { $1 - $0 }
        #expect(Array(gaps.prefix(4)) == [11, 12, 14, 18])
    }

    @Test func changeTriggersCanary() {
        var story = Story()
        // Far into the backoff, the next canary is up to a minute away.
        story.run(to: 1000, changes: [950])
        let next = story.canaries.first { $0 >= 950 }
        #expect(next == 950 + NetworkWait.settling)
        // The intervals start from the beginning.
        let later = story.canaries.filter { $0 > 951 }
        #expect(Array(later.prefix(2)) == [951.1, 953.1])
    }

    @Test func successiveChangesCountAsOne() {
        var story = Story()
        story.run(to: 1000, changes: [950, 950.01, 950.02, 950.05])
        #expect(story.canaries.filter { (950..<951).contains($0) }.count == 1)
        #expect(story.wakes.filter { (950..<951).contains($0) }.count <= 2)
    }

    /// The network returns while a canary is in flight that will not reach it any more.
    @Test func changeReplacesActiveCanary() {
        var story = Story()
        story.patience = 10
        story.run(to: 130, changes: [103.5])
        #expect(Array(story.canaries.prefix(2)) == [101, 103.5 + NetworkWait.settling])
    }

    /// A canary that is younger than a second will arrive, because the kernel repeats its SYN then.
    @Test func recentCanarySurvivesChange() {
        var story = Story()
        story.patience = 10
        story.run(to: 130, changes: [101.3])
        #expect(Array(story.canaries.prefix(2)) == [101, 102 + NetworkWait.settling])
    }

    @Test func suspendTriggersCanary() {
        var story = Story()
        story.run(to: 400)
        let (before, count) = (story.boot, story.canaries.count)
        story.boot += 8 * 3600
        story.asleep += 8 * 3600
        story.run(to: story.boot + 4)
        let after = Array(story.canaries[count...])
        #expect(after == [0, 1, 3].map { before + 8 * 3600 + $0 })
    }

    /// The time between reading two clocks does not count as a suspend.
    @Test func lateWakeIsNoSuspend() {
        var story = Story()
        story.run(to: 400)
        let count = story.canaries.count
        story.asleep += 0.02
        story.run(to: 401)
        #expect(story.canaries.count == count)
    }

    @Test func continuesWithLastInterval() {
        var story = Story()
        story.run(to: 400)
        let count = story.canaries.count
        story.wait.goOn(story.now)
        story.run(to: 800)
        #expect(story.canaries[count] - 400 > 30)
    }

    /// With any changes and suspends, there is at most one canary a second, at least one a minute,
    /// and at most three wakes a second.
    @Test(arguments: 0..<40 as Range<UInt64>)
    func boundsHoldForRandomChanges(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var story = Story()
        story.patience = Double.random(in: 0..<12, using: &random)
        for _ in 0..<30 {
            let start = story.boot
            let length = Double.random(in: 1..<200, using: &random)
            let isFlapping = Bool.random(using: &random)
            let count = isFlapping ? Int(length * 20) : Int.random(in: 0..<4, using: &random)
            let changes = (0..<count).map { _ in
                start + Double.random(in: 0..<length, using: &random)
            }.sorted()
            story.run(to: start + length, changes: changes)
            if Bool.random(using: &random) {
                let slept = Double.random(in: 2..<40_000, using: &random)
                story.boot += slept
                story.asleep += slept
                let count = story.canaries.count
                story.run(to: story.boot + 0.001)
                #expect(story.canaries.count == count + 1, "seed \(seed)")
            }
        }
        for (one, next) in zip(story.canaries, story.canaries.dropFirst()) {
            #expect(next - one >= 1 - 1e-6, "seed \(seed): \(one), \(next)")
        }
        for (one, three) in zip(story.wakes, story.wakes.dropFirst(3)) {
            #expect(three - one >= 0.9, "seed \(seed): \(one), \(three)")
        }
    }
}
