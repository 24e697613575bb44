import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests that the number of connections follows the goodput.
struct ConnectionGovernorTests {
    /// A network in which the goodput depends on the number of connections.
    private struct Network {
        var governor: ConnectionGovernor
        var sample = ConnectionGovernor.Sample(received: 0)
        /// The bytes per second by number of connections.
        var rate: (Int) -> Double
        var now = 0.0
        /// The target at each tick.
        var numbers: [Int] = []

        init(
            most: Int = 64, isGiven: Bool = false, roundTrip: Double? = nil,
            rate: @escaping (Int) -> Double
        ) {
            governor = ConnectionGovernor(most: most, isGiven: isGiven, roundTrip: roundTrip)
            sample.roundTrip = roundTrip
            self.rate = rate
        }

        mutating func run(seconds: Double) {
            let end = now + seconds
            while now < end {
                numbers.append(governor.step(sample, now: now))
                now += 0.1
                sample.received += Int64(rate(governor.target) * 0.1)
            }
        }
    }

    /// A server that sends the bytes of a second at once to each connection, and then nothing until
    /// the next second, as nginx does with `limit_rate`.
    ///
    /// A surplus connection finishes its request, which takes 10 s.
    private struct Bursts {
        var governor: ConnectionGovernor
        /// The times at which the active requests started.
        var requests: [Double] = []
        var now = 0.0
        var received: Int64 = 0
        /// The bytes in a burst.
        var burst: Int64 = 200_000
        /// The maximum number of bytes per second, over all connections.
        var capacity = Double.infinity
        /// The bytes of the capacity that have not been used yet.
        var credit = 0.0

        init(most: Int = 64, isGiven: Bool = false) {
            governor = ConnectionGovernor(most: most, isGiven: isGiven, roundTrip: 0.000_1)
        }

        /// Returns the seconds until the target reaches a number; `nil` if that takes more than a
        /// minute.
        mutating func seconds(to target: Int) -> Double? {
            while governor.target < target, now < 60 { tick() }
            return governor.target < target ? nil : now
        }

        mutating func run(seconds: Double) {
            let end = now + seconds
            while now < end { tick() }
        }

        private mutating func tick() {
            requests.removeAll { now - $0 > 10 }
            while requests.count < governor.target { requests.append(now) }
            credit = min(capacity, credit + capacity * 0.1)
            // A burst is sent at the start of the request, and at each second of the server's
            // clock.
            for begun in requests
            where begun == now || now.rounded(.down) > (now - 0.1).rounded(.down) {
                guard capacity == .infinity || credit >= Double(burst) else { continue }
                received += burst
                credit -= Double(burst)
            }
            now += 0.1
            // On loopback the round trip varies between checks, which does not show a queue.
            _ = governor.step(
                .init(
                    received: received, roundTrip: 0.000_1, presentRoundTrip: 0.000_3,
                    used: requests.count), now: now)
        }
    }

    private static let mebibyte = 1_048_576.0

    /// An earlier governor took 9 s and more: 1, 2, 1, 2 connections.
    @Test(arguments: [5, 16, 17, 32, 64])
    func climbsQuicklyWithBurstyServer(most: Int) {
        var network = Bursts(most: most)
        let seconds = network.seconds(to: most)
        #expect(seconds ?? .infinity <= 1)
        network.run(seconds: 60)
        #expect(network.governor.target == most)
    }

    @Test func simultaneousBurstsAddNoConnections() {
        var network = Bursts()
        network.capacity = Double(network.burst)
        network.run(seconds: 60)
        #expect(network.governor.target <= 4)
    }

    /// The effect of one more connection cannot be measured, because surplus connections have work.
    @Test func surplusConnectionsPreventTrials() {
        var network = Network(roundTrip: 0.000_1) { _ in Self.mebibyte }
        network.run(seconds: 1)
        let before = network.numbers.count
        network.sample.used = 2
        network.run(seconds: 60)
        #expect(network.numbers[before...].allSatisfy { $0 == 1 })
        network.sample.used = 1
        network.run(seconds: 60)
        #expect(network.numbers.last == 1)
        #expect(network.numbers[before...].contains(2))
    }

    @Test func oneSampleWithoutGainDoesNotEndClimb() {
        var network = Network(roundTrip: 0.000_1) { Double($0) * Self.mebibyte }
        var looks = 0
        network.rate = { number in
            // The second number that is tried yields nothing at first.
            if number > 1 { looks += 1 }
            return (1...2).contains(looks) ? Self.mebibyte : Double(number) * Self.mebibyte
        }
        network.run(seconds: 2)
        #expect(network.governor.target == 64)
    }

    @Test(arguments: [(4, 4), (16, 16), (17, 17), (31, 31), (32, 16), (64, 16)])
    func startsWithGivenNumber(most: Int, first: Int) {
        #expect(
            ConnectionGovernor(most: most, isGiven: true, roundTrip: 0.000_1).target == first)
        #expect(ConnectionGovernor(most: most, isGiven: true, roundTrip: 0.08).target == first)
    }

    @Test func staysAtOneIfMoreAddNothing() {
        var network = Network(roundTrip: 0.000_1) { _ in 1000 * Self.mebibyte }
        network.run(seconds: 120)
        #expect(network.governor.target == 1)
        let more = network.numbers.count { $0 > 1 }
        #expect(more < network.numbers.count / 20, "\(more) of \(network.numbers.count)")
        #expect(network.numbers.max() == 2)
    }

    @Test(arguments: [0.000_1, 0.02, 0.08])
    func climbsQuicklyIfEachAddsAsMuch(roundTrip: Double) {
        var network = Network(roundTrip: roundTrip) { Double($0) * 2 * Self.mebibyte }
        network.run(seconds: 2.5)
        #expect(network.governor.target == 64)
        network.run(seconds: 60)
        #expect(network.governor.target == 64)
    }

    @Test(arguments: [1, 3, 10, 20, 40])
    func stopsAtFullPath(enough: Int) {
        var network = Network(roundTrip: 0.001) { Double(min($0, enough)) * Self.mebibyte }
        network.run(seconds: 30)
        #expect(network.governor.target >= min(64, enough))
        #expect(network.governor.target < 4 * enough)
    }

    @Test func startsWithSeveralForLongRoundTrip() {
        #expect(ConnectionGovernor(most: 64, roundTrip: 0.08).target == 16)
        #expect(ConnectionGovernor(most: 64, roundTrip: 0.005).target == 4)
        #expect(ConnectionGovernor(most: 64, roundTrip: 0.000_2).target == 1)
        #expect(ConnectionGovernor(most: 4, roundTrip: 0.08).target == 4)
    }

    @Test func climbsAgainAfterPathChange() {
        var network = Network(roundTrip: 0.001) { _ in 100 * Self.mebibyte }
        network.run(seconds: 200)
        #expect(network.governor.target == 1)
        // From now on, each connection has its own limit.
        network.rate = { Double($0) * Self.mebibyte }
        network.run(seconds: 10)
        #expect(network.governor.target == 64)
    }

    @Test func rateLimitPreventsTrials() {
        var network = Network(roundTrip: 0.001) { Double($0) * Self.mebibyte }
        network.sample.isHeldBack = true
        network.run(seconds: 60)
        #expect(network.numbers.max() == 1)
    }

    /// Losses on a path that is not full: only more connections help.
    @Test func climbsAfterLossesOnUnfilledPath() {
        var network = Network(roundTrip: 0.08) { Double($0) * Self.mebibyte }
        network.sample.presentRoundTrip = 0.081
        for _ in 0..<6 {
            network.run(seconds: 0.1)
            network.sample.segments += 1000
            network.sample.disordered += 20
        }
        #expect(network.governor.target == 64)
    }

    /// Losses on a full path are no reason for more connections.
    @Test func doesNotClimbAfterLossesOnFullPath() {
        var network = Network(roundTrip: 0.08) { _ in 20 * Self.mebibyte }
        network.sample.presentRoundTrip = 0.16
        for _ in 0..<60 {
            network.run(seconds: 0.1)
            network.sample.segments += 1000
            network.sample.disordered += 20
        }
        #expect(network.governor.target == 16)
        #expect(network.numbers.max() ?? 0 <= 32)
    }

    /// A queue that has overflowed counts, even if it is empty when it is checked.
    @Test func doesNotClimbAfterQueueOverflow() {
        var network = Network(roundTrip: 0.08) { _ in 20 * Self.mebibyte }
        network.sample.presentRoundTrip = 0.081
        for _ in 0..<60 {
            network.run(seconds: 0.1)
            network.sample.segments += 1000
            network.sample.disordered += 400
        }
        #expect(network.numbers.max() == 16)
    }

    @Test func staysAtServersLimit() {
        var network = Network(roundTrip: 0.08) { Double($0) * Self.mebibyte }
        network.sample.cap = 5
        network.run(seconds: 60)
        #expect(network.numbers.dropFirst().max() == 5)
    }

    @Test func smallRestAddsNoConnections() {
        var network = Network(roundTrip: 0.001) { Double($0) * Self.mebibyte }
        network.sample.remaining = 300_000
        network.run(seconds: 10)
        #expect(network.numbers.max() == 1)
    }

    @Test func stallIsNotMeasured() {
        var network = Network(roundTrip: 0.001) { Double($0) * Self.mebibyte }
        network.run(seconds: 0.5)
        let before = network.governor.target
        network.rate = { _ in 0 }
        network.run(seconds: 30)
        network.rate = { Double($0) * Self.mebibyte }
        network.run(seconds: 10)
        #expect(network.governor.target > before)
    }
}
