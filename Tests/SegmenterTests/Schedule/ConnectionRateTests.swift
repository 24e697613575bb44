import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests how a connection's rate follows a measurement every 100 ms.
@Suite struct ConnectionRateTests {
    private static let tick = 0.1

    /// Adds samples from an age on, and returns the rate after each.
    private func follow(
        _ samples: [Double], from age: Double, _ rate: inout ConnectionRate, roundTrip: Double
    ) -> [Double] {
        samples.enumerated().map { number, sample in
            rate.note(sample, age: age + Double(number) * Self.tick, roundTrip: roundTrip)
            return rate.value
        }
    }

    @Test func followsSlowStartImmediately() {
        var rate = ConnectionRate()
        let growing = [1.0, 2.5, 6, 14, 30]
        #expect(follow(growing, from: 0, &rate, roundTrip: 0.08) == growing)
    }

    /// A lost packet delays the data of 150 to 300 ms, which then arrive in one burst.
    ///
    /// The rate never rises above the connection's real one.
    @Test(arguments: [2, 3])
    func delayedBurstDoesNotRaiseRate(ticks: Int) {
        var rate = ConnectionRate()
        _ = follow(Array(repeating: 100, count: 20), from: 0, &rate, roundTrip: 0.08)
        let heldUp = Array(repeating: 0.0, count: ticks) + [100 * Double(ticks + 1)]
        let calm = Array(repeating: 100.0, count: 5)
        let rates = follow(
            (heldUp + calm + heldUp + calm), from: 2, &rate, roundTrip: 0.08)
        #expect(rates.min() ?? 0 > 45)
        #expect(rates.max() ?? .infinity < 155)
    }

    @Test(arguments: [0, 0.02, 0.08, 0.3])
    func followsChangeWithinFewRoundTrips(roundTrip: Double) {
        var rate = ConnectionRate()
        _ = follow(Array(repeating: 100, count: 100), from: 0, &rate, roundTrip: roundTrip)
        let time = 3 * (0.25 + 3 * roundTrip)
        let ticks = Int((time / Self.tick).rounded(.up))
        for new in [400.0, 25] {
            let before = rate.value
            let rates = follow(
                Array(repeating: new, count: ticks), from: 10, &rate, roundTrip: roundTrip)
            #expect(abs(rate.value - new) < 0.06 * abs(before - new) + 1e-9)
            #expect(rates.allSatisfy { min(before, new)...max(before, new) ~= $0 })
        }
    }
}
