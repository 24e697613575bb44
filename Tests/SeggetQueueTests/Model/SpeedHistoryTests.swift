import Testing

@testable import SeggetQueue

struct SpeedHistoryTests {
    @Test func eachSecondHasAValue() {
        var history = SpeedHistory(at: 1000.4)
        #expect(history.speeds(at: 1000.9) == SpeedReport(start: 1000, bytesPerSecond: []))
        history.note(10, at: 1001.1)
        history.note(11, at: 1001.9)
        history.note(.infinity, at: 1003)
        // The current second has no value yet.
        history.note(7, at: 1005.5)
        #expect(
            history.speeds(at: 1005.6)
                == SpeedReport(start: 1000, bytesPerSecond: [0, 11, 0, 0, 0]))
        #expect(
            history.speeds(at: 1006)
                == SpeedReport(start: 1000, bytesPerSecond: [0, 11, 0, 0, 0, 7]))
    }

    @Test func keepsTenMinutes() {
        var history = SpeedHistory(at: 0)
        for second in 0..<2000 { history.note(Double(second), at: Double(second) + 0.5) }
        let report = history.speeds(at: 2000)
        #expect(report.start == 1400)
        #expect(report.bytesPerSecond == (1400..<2000).map(Int64.init))
    }

    @Test func clockSetBackDiscardsLaterValues() {
        var history = SpeedHistory(at: 1000)
        for second in 1000..<1010 { history.note(5, at: Double(second)) }
        history.note(9, at: 1003)
        #expect(
            history.speeds(at: 1004) == SpeedReport(start: 1000, bytesPerSecond: [5, 5, 5, 9]))
        #expect(history.speeds(at: 900) == SpeedReport(start: 900, bytesPerSecond: []))
    }
}
