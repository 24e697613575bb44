import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// A `StallDetector` behind a reference, so that mutating calls can be made inside expectations.
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

    /// Numbers the connections from 0.
    private func all(_ connections: Connection...) -> [Int: Connection] {
        Dictionary(uniqueKeysWithValues: connections.enumerated().map { ($0, $1) })
    }

    @Test func sendsCanaryAfterOneSecondStall() {
        let detector = Watch()
        #expect(detector.step(all(.init(quiet: 0.9), .init(quiet: 5)), now: 0) == .nothing)
        #expect(detector.step(all(.init(quiet: 1), .init(quiet: 5)), now: 0.1) == .sendCanary)
        // Only one canary at a time.
        #expect(detector.step(all(.init(quiet: 9), .init(quiet: 9)), now: 8) == .nothing)
        #expect(detector.canaryEnded(.answered, received: 1))
        #expect(detector.noticed == nil)
    }

    @Test func slowServerIsNoStall() {
        let detector = Watch()
        let slow = Connection(quiet: 5.9, isAnswered: false, longestTimeToFirstByte: 1.5)
        #expect(detector.step(all(slow), now: 0) == .nothing)
        var late = slow
        late.quiet = 6
        #expect(detector.step(all(late), now: 0.1) == .sendCanary)
    }

    @Test func failedConnectionsAloneAreNoStall() {
        let detector = Watch()
        #expect(detector.step([:], now: 0) == .nothing)
        // Failed connections alone are not a stall.
        let waiting = Connection(quiet: .infinity, isAnswered: false, isConnected: false)
        #expect(detector.step(all(waiting, waiting), now: 1) == .nothing)
        #expect(detector.noticed == nil)
    }

    /// Canaries are half a second apart at first, and become rare after any failure.
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

    /// A received byte ends the stall and its canary; a new request does not.
    @Test func receivedByteEndsStall() {
        let detector = Watch()
        #expect(detector.step(all(.init(quiet: 1)), now: 0) == .sendCanary)
        let fresh = Connection(quiet: 0, isAnswered: false)
        #expect(detector.step(all(.init(quiet: 2), fresh), now: 1) == .nothing)
        #expect(detector.noticed != nil)
        #expect(detector.step(all(.init(quiet: 3), .init(quiet: 0.1)), now: 2) == .endCanary)
        #expect(detector.noticed == nil)
        #expect(!detector.canaryEnded(.answered, received: 0))
    }

    /// The stall continues while all of its connections have failed and wait to retry.
    @Test func stallContinuesWhileAllWaitToRetry() {
        let detector = Watch()
        #expect(detector.step(all(.init(quiet: 1)), now: 0) == .sendCanary)
        #expect(!detector.canaryEnded(.lost, received: 0))
        let waiting = Connection(quiet: .infinity, isAnswered: false, isConnected: false)
        #expect(detector.step(all(waiting), now: 1) == .sendCanary)
        #expect(!detector.canaryEnded(.lost, received: 0))
        // They have received other responses in the meantime.
        #expect(detector.step([:], now: 2) == .nothing)
        #expect(detector.noticed == nil)
    }

    @Test func stalledConnectionAmongOthersIsRescued() {
        let detector = Watch()
        let flowing = Connection(quiet: 0.1)
        let connecting = Connection(quiet: 3, isAnswered: false, isConnected: false)
        #expect(detector.step(all(flowing, .init(quiet: 0.9)), now: 0) == .nothing)
        #expect(
            detector.step(all(flowing, .init(quiet: 1), connecting, .init(quiet: 7)), now: 1)
                == .rescue([1, 3]))
        // It is unknown whether that was needed, so the next stall must last longer.
        #expect(detector.step(all(flowing, .init(quiet: 1.9)), now: 3) == .nothing)
        #expect(detector.step(all(flowing, .init(quiet: 2)), now: 3.1) == .rescue([1]))
        #expect(detector.caution == 4)
        for tick in 0..<310 { _ = detector.step(all(flowing), now: 4 + Double(tick) / 10) }
        #expect(detector.caution == 2)
    }

    /// Connections that have just started do not show a flow.
    @Test func noRescueWithoutFlow() {
        let detector = Watch()
        let fresh = Connection(quiet: 0, isAnswered: false)
        #expect(detector.step(all(.init(quiet: 5), fresh), now: 0) == .nothing)
    }

    /// A server pauses for a second and a half again and again, and answers every new request.
    @Test func burstyServerKeepsConnections() {
        let detector = Watch()
        var replaced = 0
        for tick in 0..<3000 {
            let now = Double(tick) / 10
            let phase = Double(tick % 30) / 10
            let quiet = max(0, phase - 1.5)
            switch detector.step(all(.init(quiet: quiet), .init(quiet: quiet)), now: now) {
            case .sendCanary:
                if detector.canaryEnded(.answered, received: Int64(tick)) { replaced += 1 }
            case .rescue: Issue.record("no connection receives bytes")
            default: break
            }
        }
        #expect((1...8).contains(replaced))
    }

    /// If canaries are answered and nothing else is, the stall timeout must be reached.
    @Test func canariesWithoutProgressAreIgnoredEventually() {
        let detector = Watch()
        var replaced = 0
        var sent = 0
        var quietSince = 0.0
        for tick in 0..<20_000 {
            let now = Double(tick) / 10
            let waiting = Connection(quiet: now - quietSince, isAnswered: false)
            // Half of the canaries are lost, as in an outage.
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

    /// Links go down and return at random, and connections die.
    ///
    /// There is at most one canary at a time, and none without a stall. No connection that receives
    /// bytes is given up, and every reachable server is found again.
    @Test func rulesHoldInRandomOutages() {
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
                // A stall that is noticed while the network works ends with the next canary.
                if detector.noticed != nil, isUp {
                    #expect(now - max(upSince, detector.noticed ?? 0) <= 2, "seed \(seed)")
                }
            }
        }
    }
}
