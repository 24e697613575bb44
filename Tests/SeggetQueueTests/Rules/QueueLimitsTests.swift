import Foundation
import SeggetReports
import Testing

@testable import SeggetQueue

/// Tests the limits that follow from the rules of the settings.
struct QueueLimitsTests {
    private static let night = 23 * 60
    private static let noon = 12 * 60

    private static func settings(_ rules: String) throws -> QueueSettings {
        var settings = QueueSettings()
        settings.rules = try rules.split(separator: " ").map { text in
            try #require(QueueRule(String(text)) { Double($0) }, "\(text)")
        }
        return settings
    }

    private static let cells: [(String, QueueSettings.Metered, Bool?, Bool)] = [
        ("metered", .auto, true, true),
        ("metered", .auto, false, false), ("metered", .auto, nil, false),
        ("metered", .yes, false, true), ("metered", .yes, nil, true),
        ("metered", .no, true, false), ("metered", .no, nil, false),
        ("battery", .yes, true, true), ("battery", .yes, false, false),
        ("battery", .yes, nil, false),
    ]

    /// Tests each condition as true, false and unknown, with each effect.
    @Test(arguments: cells)
    func appliesRulesToMachineFacts(
        condition: String, metered: QueueSettings.Metered, fact: Bool?, holds: Bool
    ) throws {
        let isMetered = condition == "metered"
        // The other fact has the opposite value, and must not matter.
        let other = fact.map { !$0 } ?? true
        let facts = MachineFacts(
            isMetered: isMetered ? fact : other, isOnBattery: isMetered ? other : fact)
        let reason: PauseReason = isMetered ? .metered : .battery
        for (effect, limits) in [
            ("pause", QueueLimits(isPaused: true, reason: reason)), ("5", QueueLimits(rate: 5)),
        ] {
            var settings = try Self.settings("\(condition)=\(effect)")
            settings.metered = metered
            let now = settings.limits(atMinute: Self.noon, facts)
            #expect(now == (holds ? limits : QueueLimits()), "\(effect)")
        }
    }

    @Test(arguments: [
        (
            "22:00-06:00=pause", night,
            QueueLimits(isPaused: true, reason: .hours(from: "22:00", to: "06:00"))
        ),
        (
            "22:00-06:00=pause", 6 * 60 - 1,
            .init(isPaused: true, reason: .hours(from: "22:00", to: "06:00"))
        ),
        ("22:00-06:00=pause", 6 * 60, QueueLimits()), ("22:00-06:00=pause", noon, QueueLimits()),
        ("8:00-18:00=7", noon, QueueLimits(rate: 7)), ("8:00-18:00=7", night, QueueLimits()),
    ])
    func appliesRulesToTimesOfDay(rule: String, minute: Int, limits: QueueLimits) throws {
        #expect(try Self.settings(rule).limits(atMinute: minute, MachineFacts()) == limits)
        // Rules about the time need no facts of the machine.
        #expect(try Self.settings(rule).limits(atMinute: minute, nil) == limits)
    }

    @Test(arguments: [
        // The lowest of all rates, and the reason of the first rule that pauses.
        ("metered=7 battery=5 0:00-24:00=6", nil, QueueLimits(rate: 5)),
        ("metered=7", 6.0, QueueLimits(rate: 6)), ("metered=7", 8, QueueLimits(rate: 7)),
        (
            "metered=7 battery=pause 0:00-24:00=pause", nil,
            QueueLimits(isPaused: true, reason: .battery, rate: 7)
        ),
        (
            "0:00-24:00=pause battery=pause", nil,
            QueueLimits(isPaused: true, reason: .hours(from: "00:00", to: "24:00"))
        ),
        ("", 6, QueueLimits(rate: 6)), ("", nil, QueueLimits()),
    ])
    func strictestLimitsApply(rules: String, rate: Double?, limits: QueueLimits) throws {
        var settings = try Self.settings(rules)
        settings.rateLimit = rate
        let facts = MachineFacts(isMetered: true, isOnBattery: true)
        #expect(settings.limits(atMinute: Self.noon, facts) == limits)
        // A schedule has the same effect as its limit.
        settings.rateSchedule = RateSchedule(spans: [], otherwise: rate ?? 0)
        settings.rateLimit = 1
        #expect(settings.limits(atMinute: Self.noon, facts) == limits)
    }

    /// The queue is paused until the machine has answered the questions of its rules.
    @Test(arguments: [
        ("metered=pause", QueueSettings.Metered.auto, true), ("metered=5", .auto, true),
        ("battery=5", .no, true), ("metered=5", .no, false), ("", .auto, false),
    ])
    func pausesUntilMachineFactsAreKnown(
        rules: String, metered: QueueSettings.Metered, isPaused: Bool
    ) throws {
        var settings = try Self.settings(rules)
        settings.metered = metered
        #expect(settings.limits(atMinute: Self.noon, nil) == QueueLimits(isPaused: isPaused))
        #expect(settings.questions.isEmpty != isPaused)
    }

    @Test(arguments: [
        "", "metered", "metered=", "metered=0", "battery=-1", "battery=x", "else=pause",
        "wifi=pause", "22:00=pause", "22:00-22:00=pause", "22:00-25:00=pause", "metered=Pause",
        "metered=pause=5",
    ])
    func refusesInvalidRules(text: String) { #expect(QueueRule(text) { Double($0) } == nil) }

    @Test func codesRulesAsJSON() throws {
        let rules = try Self.settings("metered=pause battery=5 22:00-06:00=pause").rules
        let json = try JSONEncoder().encode(rules)
        #expect(try JSONDecoder().decode([QueueRule].self, from: json) == rules)
        let text = #"""
            [{"while":"metered","pause":true},{"while":"battery","rate":5},
            {"while":"22:00-06:00","pause":true}]
            """#
        #expect(try JSONDecoder().decode([QueueRule].self, from: Data(text.utf8)) == rules)
    }

    @Test(arguments: [
        #"{"pause":true}"#, #"{"while":"metered"}"#, #"{"while":"metered","pause":false}"#,
        #"{"while":"metered","pause":true,"rate":5}"#, #"{"while":"wifi","pause":true}"#,
        #"{"while":"metered","pause":true,"else":1}"#,
    ])
    func refusesInvalidRulesInJSON(text: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(QueueRule.self, from: Data(text.utf8))
        }
    }
}
