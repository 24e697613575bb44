import SeggetReports
import Segmenter

/// The effect of a queue's settings at a moment: whether tasks run, and how fast.
///
/// Pure.
struct QueueLimits: Sendable, Hashable {
    /// Whether no task may run.
    var isPaused = false
    /// The condition of the rule that pauses it; `nil` while that is unknown.
    var reason: PauseReason?
    /// Rate limit of all tasks together, in bytes per second; `nil` for none.
    var rate: Double?
    /// Most requests of all tasks together to each server; `nil` for no limit.
    var requests: RequestRate?
}

/// A question of the rules to the machine.
enum MachineQuestion: Sendable, Hashable, CaseIterable {
    /// Whether its network is metered.
    case metered
    /// Whether it runs on battery.
    case battery
}

/// The answers of the machine; `nil` for what is unknown or was not requested.
struct MachineFacts: Sendable, Hashable {
    var isMetered: Bool?
    var isOnBattery: Bool?
}

extension QueueSettings {
    /// The questions of the rules to the machine.
    var questions: Set<MachineQuestion> {
        var questions: Set<MachineQuestion> = []
        for rule in rules {
            switch rule.condition {
            case .metered: if metered == .auto { questions.insert(.metered) }
            case .battery: questions.insert(.battery)
            case .span: break
            }
        }
        return questions
    }

    /// Whether the limits depend on the time of day.
    var dependsOnTime: Bool {
        rateSchedule != nil
            || rules.contains { if case .span = $0.condition { true } else { false } }
    }

    /// Returns the strictest of all limits and rules that apply.
    ///
    /// - Parameters:
    ///   - minute: Minutes from midnight, 0..<1440.
    ///   - facts: The answers of the machine; `nil` before its first answer, until which a rule
    ///     with a question pauses the
    ///     queue.
    /// - Returns: The limits.
    func limits(atMinute minute: Int, _ facts: MachineFacts?) -> QueueLimits {
        var limits = QueueLimits(rate: rate(atMinute: minute), requests: maxRequests)
        limits.isPaused = facts == nil && !questions.isEmpty
        for rule in rules where holds(rule.condition, minute, facts) {
            switch rule.effect {
            case .pause:
                limits.isPaused = true
                limits.reason = limits.reason ?? rule.condition.reason
            case .rate(let rate): limits.rate = min(rate, limits.rate ?? rate)
            }
        }
        return limits
    }

    /// Returns whether a condition is true; an unknown one is not.
    private func holds(
        _ condition: QueueRule.Condition, _ minute: Int, _ facts: MachineFacts?
    ) -> Bool {
        switch condition {
        case .span(let span): span.contains(minute)
        case .battery: facts?.isOnBattery ?? false
        case .metered:
            switch metered {
            case .yes: true
            case .no: false
            case .auto: facts?.isMetered ?? false
            }
        }
    }
}

extension QueueRule.Condition {
    /// The condition as the reason of a pause.
    fileprivate var reason: PauseReason {
        switch self {
        case .metered: .metered
        case .battery: .battery
        case .span(let span):
            .hours(from: DaySpan.text(ofMinute: span.start), to: DaySpan.text(ofMinute: span.end))
        }
    }
}
