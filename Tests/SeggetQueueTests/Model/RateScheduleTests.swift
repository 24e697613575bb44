import Testing

@testable import SeggetQueue

/// Tests limits of the rate by the time of day.
struct RateScheduleTests {
    private static func read(_ text: String) -> RateSchedule? {
        RateSchedule(text) { text in
            text.hasSuffix("M") ? Double(text.dropLast()).map { $0 * 1e6 } : Double(text)
        }
    }

    @Test(arguments: [
        ("08:00-18:00=2M,else=0", 8 * 60, 2e6), ("08:00-18:00=2M,else=0", 18 * 60 - 1, 2e6),
        // The end is exclusive, and 0 is no limit.
        ("08:00-18:00=2M,else=0", 18 * 60, nil), ("08:00-18:00=2M,else=0", 0, nil),
        // Without `else` the queue's limit applies.
        ("08:00-18:00=2M", 0, 500), ("08:00-18:00=0", 9 * 60, nil),
        // Spans that pass midnight, and the first of several matching spans.
        ("22:00-06:00=1M,else=3M", 23 * 60, 1e6), ("22:00-06:00=1M,else=3M", 0, 1e6),
        ("22:00-06:00=1M,else=3M", 6 * 60, 3e6), ("0:00-24:00=7", 1439, 7),
        ("10:00-12:00=1,11:00-13:00=2", 11 * 60, 1), ("10:00-12:00=1,11:00-13:00=2", 12 * 60, 2),
    ])
    func findsRateOfTimeOfDay(text: String, minute: Int, rate: Double?) throws {
        let schedule = try #require(Self.read(text))
        #expect(schedule.rate(atMinute: minute, own: 500) == rate)
    }

    @Test(arguments: [
        "", "else", "8-18=2M", "08:00-18:00", "08:00-18:00=x", "08:00-25:00=1", "24:00-08:00=1",
        "08:60-09:00=1", "08:00-08:00=1", "08:00-09:00=1,", "else=1,else=2", "08:00-09:00=-1",
        "+8:00-09:00=1",
    ])
    func refusesInvalidSchedules(text: String) { #expect(Self.read(text) == nil) }

    @Test func refusesInvalidSettings() throws {
        var settings = QueueSettings()
        #expect(try settings.checked() == settings)
        for change: (inout QueueSettings) -> Void in [
            { $0.maxRunning = 0 }, { $0.maxRunning = 65 }, { $0.rateLimit = -1 },
            { $0.rateLimit = .infinity }, { $0.retryDelays = [-1] },
            { $0.rateSchedule = RateSchedule(spans: [], otherwise: .nan) },
            { $0.rateSchedule = RateSchedule(spans: [.init(start: 0, end: 1441, rate: 0)]) },
            { $0.rateSchedule = RateSchedule(spans: [.init(start: -1, end: 60, rate: 0)]) },
            { $0.rules = [QueueRule(while: .battery, .rate(0))] },
            { $0.rules = [QueueRule(while: .span(DaySpan(start: 0, end: 1441)), .pause)] },
            { $0.rules = [QueueRule(while: .span(DaySpan(start: 5, end: 5)), .pause)] },
            { $0.rules = Array(repeating: QueueRule(while: .metered, .pause), count: 101) },
        ] {
            settings = QueueSettings()
            change(&settings)
            #expect(throws: QueueError.self) { try settings.checked() }
        }
    }
}
