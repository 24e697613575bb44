import TestSupport
import Testing

@testable import Segmenter

/// A `StallDetector` that an expectation may change.
private final class Watch {
    private var detector = StallDetector()

    var noticed: Double? { detector.noticed }
    var caution: Double { detector.caution }

    func step(_ connections: [Int: StallDetector.Connection], now: Double) -> StallDetector.Action {
        detector.step(connections, now: now)
    }

    func canaryEnded(_ end: StallDetector.CanaryEnd, received: Int64) -> Bool {
        detector.canaryEnded(end, received: received)
    }
}

@Suite struct StallDetectorTests {
    typealias Connection = StallDetector.Connection

    /// Numbers them from 0.
    private func all(_ connections: Connection...) -> [Int: Connection] {
        Dictionary(uniqueKeysWithValues: connections.enumerated().map { ($0, $1) })
    }

    @Test func allStallForASecond() {
        let detector = Watch()
        #expect(detector.step(all(.init(quiet: 0.9), .init(quiet: 5)), now: 0) == .nothing)
        #expect(detector.step(all(.init(quiet: 1), .init(quiet: 5)), now: 0.1) == .sendCanary)
        // One at a time.
        #expect(detector.step(all(.init(quiet: 9), .init(quiet: 9)), now: 8) == .nothing)
        #expect(detector.canaryEnded(.answered, received: 1))
        #expect(detector.noticed == nil)
    }

    @Test func aServerThatIsAlwaysSlowDoesNotStall() {
        let detector = Watch()
        let slow = Connection(quiet: 5.9, isAnswered: false, longestTimeToFirstByte: 1.5)
        #expect(detector.step(all(slow), now: 0) == .nothing)
        var late = slow
        late.quiet = 6
        #expect(detector.step(all(late), now: 0.1) == .sendCanary)
    }

    @Test func nobodyToWaitFor() {
        let detector = Watch()
        #expect(detector.step([:], now: 0) == .nothing)
        // What was refused is no detector.
        let waiting = Connection(quiet: .infinity, isAnswered: false, isConnected: false)
        #expect(detector.step(all(waiting, waiting), now: 1) == .nothing)
        #expect(detector.noticed == nil)
    }

    /// Half a second apart at first; seldom in the end, whoever does not answer.
    @Test(arguments: [(StallDetector.CanaryEnd.lost, 24), (.refused, 10)])
    func canariesBecomeRare(end: StallDetector.CanaryEnd, most: Int) {
        let detector = Watch()
        var sent: [Double] = []
        for tick in 0..<600 {
            let now = Double(tick) / 10
            if detector.step(all(.init(quiet: 1 + now)), now: now) == .sendCanary {
                sent.append(now)
                #expect(!detector.canaryEnded(end, received: 0))
            }
        }
        #expect(sent[0] == 0)
        #expect((0.4...0.7).contains(sent[1] - sent[0]))
        #expect((0.4...0.7).contains(sent[3] - sent[2]) == (end == .lost))
        #expect(sent.count <= most + 6)
        #expect(sent.count >= 9)
        #expect(zip(sent.dropFirst(), sent).allSatisfy { $0 - $1 <= 8.2 })
    }

    /// What comes by itself ends the stall, and the canary with it; a request that has only just
    /// gone out does not.
    @Test func endsByItself() {
        let detector = Watch()
        #expect(detector.step(all(.init(quiet: 1)), now: 0) == .sendCanary)
        let fresh = Connection(quiet: 0, isAnswered: false)
        #expect(detector.step(all(.init(quiet: 2), fresh), now: 1) == .nothing)
        #expect(detector.noticed != nil)
        #expect(detector.step(all(.init(quiet: 3), .init(quiet: 0.1)), now: 2) == .endCanary)
        #expect(detector.noticed == nil)
        #expect(!detector.canaryEnded(.answered, received: 0))
    }

    /// All that had stalled have failed: the stall goes on while they wait to try again.
    @Test func goesOnWhileAllWait() {
        let detector = Watch()
        #expect(detector.step(all(.init(quiet: 1)), now: 0) == .sendCanary)
        #expect(!detector.canaryEnded(.lost, received: 0))
        let waiting = Connection(quiet: .infinity, isAnswered: false, isConnected: false)
        #expect(detector.step(all(waiting), now: 1) == .sendCanary)
        #expect(!detector.canaryEnded(.lost, received: 0))
        // They have got other answers meanwhile.
        #expect(detector.step([:], now: 2) == .nothing)
        #expect(detector.noticed == nil)
    }

    @Test func theStalledOneAmongOthersIsRescued() {
        let detector = Watch()
        let flowing = Connection(quiet: 0.1)
        let connecting = Connection(quiet: 3, isAnswered: false, isConnected: false)
        #expect(detector.step(all(flowing, .init(quiet: 0.9)), now: 0) == .nothing)
        #expect(
            detector.step(all(flowing, .init(quiet: 1), connecting, .init(quiet: 7)), now: 1)
                == .rescue([1, 3]))
        // Nobody knows whether that was needed: the next one has to stall for longer.
        #expect(detector.step(all(flowing, .init(quiet: 1.9)), now: 3) == .nothing)
        #expect(detector.step(all(flowing, .init(quiet: 2)), now: 3.1) == .rescue([1]))
        #expect(detector.caution == 4)
        for tick in 0..<310 { _ = detector.step(all(flowing), now: 4 + Double(tick) / 10) }
        #expect(detector.caution == 2)
    }

    /// Those that have only begun show nothing.
    @Test func nobodyIsRescuedWhereNothingFlows() {
        let detector = Watch()
        let fresh = Connection(quiet: 0, isAnswered: false)
        #expect(detector.step(all(.init(quiet: 5), fresh), now: 0) == .nothing)
    }

    /// A server that pauses for a second and a half again and again, and answers whoever asks anew.
    @Test func aServerThatSendsInBurstsKeepsItsConnections() {
        let detector = Watch()
        var replaced = 0
        for tick in 0..<3000 {
            let now = Double(tick) / 10
            let phase = Double(tick % 30) / 10
            let quiet = max(0, phase - 1.5)
            switch detector.step(all(.init(quiet: quiet), .init(quiet: quiet)), now: now) {
            case .sendCanary:
                if detector.canaryEnded(.answered, received: Int64(tick)) { replaced += 1 }
            case .rescue: Issue.record("nothing flows past the stalled ones")
            default: break
            }
        }
        #expect((1...8).contains(replaced))
    }

    /// Canaries are answered, and nothing else is: the stall timeout must have its turn.
    @Test func answersWithoutProgressAreNotBelievedForLong() {
        let detector = Watch()
        var replaced = 0
        var sent = 0
        var quietSince = 0.0
        for tick in 0..<20_000 {
            let now = Double(tick) / 10
            let waiting = Connection(quiet: now - quietSince, isAnswered: false)
            // Half of them are lost on the way, to look like an outage.
            if detector.step(all(waiting), now: now) == .sendCanary {
                sent += 1
                if detector.canaryEnded(sent % 2 == 0 ? .answered : .lost, received: 0) {
                    replaced += 1
                    quietSince = now
                }
            }
            if now - quietSince > 15 { quietSince = now }
        }
        #expect(replaced <= 5)
        #expect(detector.caution >= 16)
    }

    /// Links that go down and come back at random, connections that die: at most one canary at a
    /// time, none without a stall, nobody gives up what flows, and whoever can be reached again is.
    @Test func randomOutages() {
        forEachSeed(300) { seed, random in
            let detector = Watch()
            let count = Int.random(in: 1...8, using: &random)
            var heard = Array(repeating: 0.0, count: count)
            var isDead = Array(repeating: false, count: count)
            var downUntil = 0.0
            var upSince = 0.0
            var canarySince: Double?
            for tick in 1..<1200 {
                let now = Double(tick) / 10
                let isUp = now >= downUntil
                if isUp, upSince < downUntil { upSince = now }
                if isUp, Int.random(in: 0..<200, using: &random) == 0 {
                    downUntil = now + Double.random(in: 0.1...9, using: &random)
                    let all = Bool.random(using: &random)
                    for index in heard.indices where all || Bool.random(using: &random) {
                        isDead[index] = true
                    }
                }
                for index in heard.indices where isUp && !isDead[index] { heard[index] = now }
                let connections = heard.map { Connection(quiet: now - $0) }
                let numbered = Dictionary(uniqueKeysWithValues: zip(0..., connections))
                switch detector.step(numbered, now: now) {
                case .nothing: break
                case .endCanary:
                    #expect(canarySince != nil)
                    canarySince = nil
                case .sendCanary:
                    #expect(canarySince == nil)
                    #expect(connections.allSatisfy { $0.quiet >= 1 })
                    canarySince = now
                case .rescue(let indices):
                    #expect(connections.contains { $0.quiet < 0.5 })
                    for index in indices {
                        #expect(connections[index].quiet >= 1)
                        (heard[index], isDead[index]) = (now, false)
                    }
                }
                guard let sent = canarySince else { continue }
                if isUp, sent >= downUntil {
                    canarySince = nil
                    #expect(detector.canaryEnded(.answered, received: Int64(tick)))
                    for index in heard.indices { (heard[index], isDead[index]) = (now, false) }
                } else if now - sent >= 1 {
                    canarySince = nil
                    #expect(!detector.canaryEnded(.lost, received: Int64(tick)))
                }
                // StallDetector that is noticed while the wire is whole ends with the next canary.
                if detector.noticed != nil, isUp {
                    #expect(now - max(upSince, detector.noticed ?? 0) <= 2, "seed \(seed)")
                }
            }
        }
    }
}
