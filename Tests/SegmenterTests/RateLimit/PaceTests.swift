import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct PaceTests {
    /// Simulates libcurl: after a pause it delivers a buffer again, perhaps longer or in smaller
    /// parts.
    @Test func takesEveryByteOnce() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        for _ in 0..<500 {
            var pace = Pace()
            if Bool.random(using: &random) { pace.start() }
            var shares: Int64 = 0
            let total = Int.random(in: 1...5000, using: &random)
            var (sent, taken, turns) = (0, 0, 0)
            while sent < total {
                let piece = min(total - sent, Int.random(in: 1...1000, using: &random))
                let part = pace.part(of: piece)
                #expect(sent + part.skipped <= taken || part.granted == 0, "seed \(seed)")
                #expect(part.granted == 0 || sent + part.skipped == taken, "seed \(seed)")
                taken += part.granted
                if pace.took(part, of: piece) {
                    sent += piece
                } else {
                    #expect(pace.isWaiting)
                }
                turns += 1
                let isLifted = turns % 50 == 0
                if isLifted { pace.lift() } else if turns % 7 == 0 { pace.start() }
                guard pace.isOn, !isLifted else {
                    _ = pace.wake()
                    continue
                }
                let (used, left) = pace.settle()
                #expect(used >= 0 && left >= 0, "seed \(seed)")
                let share = Int64.random(in: 0...600, using: &random)
                shares += share
                _ = pace.grant(share, now: Double(turns))
            }
            #expect(taken == total, "seed \(seed)")
        }
    }

    @Test func takesAtMostGrantedBytes() {
        var pace = Pace()
        func grant(_ share: Int64, at now: Double, resumes: Bool) {
            let isResumed = pace.grant(share, now: now)
            #expect(isResumed == resumes)
        }
        func take(_ granted: Int, after skipped: Int, isAll: Bool) {
            let part = pace.part(of: 100)
            #expect(part == (skipped, granted))
            let isTaken = pace.took(part, of: 100)
            #expect(isTaken == isAll)
            #expect(pace.isWaiting == !isAll)
        }
        func settle(_ used: Int64, _ left: Int64) {
            let rest = pace.settle()
            #expect(rest == (used, left))
        }
        take(100, after: 0, isAll: true)
        pace.start()
        take(0, after: 0, isAll: false)
        grant(0, at: 1, resumes: false)
        grant(30, at: 2, resumes: true)
        #expect(pace.servedAt == 2)
        take(30, after: 0, isAll: false)
        settle(30, 0)
        grant(1000, at: 3, resumes: true)
        take(70, after: 30, isAll: true)
        settle(70, 930)
        settle(0, 0)
    }

    /// A transfer is held back if its share is empty or too small, and not if it only waits for the
    /// next turn.
    @Test func heldBackOnlyByUsedUpShare() {
        var pace = Pace()
        func take(_ count: Int) { _ = pace.took(pace.part(of: count), of: count) }
        func grant(_ share: Int64) {
            _ = pace.settle()
            _ = pace.grant(share, now: 1)
        }
        var answers: [Bool] = []
        func ask() { answers.append(pace.takeHeldBack()) }
        pace.start()
        take(10)
        ask()
        grant(1000)
        take(10)
        take(500)
        ask()
        grant(0)
        ask()
        take(10)
        ask()
        grant(0)
        ask()
        ask()
        grant(5)
        take(10)
        ask()
        #expect(answers == [false, false, false, false, true, false, true])
    }
}
