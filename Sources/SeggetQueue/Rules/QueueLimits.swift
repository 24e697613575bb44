import SeggetReports

/// What the settings of a queue come to at a moment: whether anything is fetched, and how fast.
///
/// Pure.
struct QueueLimits: Sendable, Hashable {
    /// Whether nothing is fetched.
    var isPaused = false
    /// The condition of the rule that pauses it; `nil` while that is unknown.
    var reason: PauseReason?
    /// Limit of rate of all tasks together, in bytes per second; `nil` for none.
    var rate: Double?
}

/// What rules ask of the machine.
enum MachineQuestion: Sendable, Hashable, CaseIterable {
    /// Whether its network costs by the byte.
    case metered
    /// Whether it runs on its battery.
    case battery
}

/// What the machine says; `nil` for what it does not know, or was not asked.
struct MachineFacts: Sendable, Hashable {
    var isMetered: Bool?
    var isOnBattery: Bool?
}

extension QueueSettings {
    /// What the rules ask of the machine.
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

    /// Whether anything depends on the time of day.
    var dependsOnTime: Bool {
        rateSchedule != nil
            || rules.contains { if case .span = $0.condition { true } else { false } }
    }

    /// What holds: of all limits and of all rules that hold the strictest.
    ///
    /// - Parameters:
    ///   - minute: Minutes from midnight, 0..<1440.
    ///   - facts: What the machine says; `nil` where it has not answered yet. Then nothing is fetched that a rule may
    ///     forbid.
    /// - Returns: What is in force.
    func limits(atMinute minute: Int, _ facts: MachineFacts?) -> QueueLimits {
        var limits = QueueLimits(rate: rate(atMinute: minute))
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

    /// What is not known is not so.
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
    /// The condition, as the reason of a pause.
    fileprivate var reason: PauseReason {
        switch self {
        case .metered: .metered
        case .battery: .battery
        case .span(let span):
            .hours(from: DaySpan.text(of: span.start), to: DaySpan.text(of: span.end))
        }
    }
}
