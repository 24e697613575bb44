public import ArgumentParser
import Glibc
import SeggetCommand
import SeggetFormats
public import SeggetQueue
import SeggetReports
import SeggetService
import Segmenter

/// `segget settings`: prints and changes the settings of the queue.
struct SettingsCommand: ParsableCommand {
    static let configuration = QueueCommandName.settings.configuration(
        discussion: "Without options, prints the settings. Changes apply immediately.")

    @Option(help: .setting("max-running", valueName: "n")) var maxRunning: Int?
    @Option(
        help: .setting("limit-rate", valueName: "rate"),
        transform: LimitCommandOptions.rate)
    var limitRate: Double?
    @Option(
        help: .setting("max-requests", valueName: "rate"),
        transform: RequestLimitOption.parse)
    var maxRequests: RequestRate??
    @Option(
        help: .setting(
            "limit-schedule",
            discussion: "Such as `08:00-18:00=2M,else=0`; `none` removes the schedule.",
            valueName: "schedule"))
    var limitSchedule: String?
    @Option(
        help: .setting(
            "rule",
            discussion: """
                Such as `metered=pause`. Conditions are `metered`, `battery` (the machine runs on its battery) and a \
                time span such as `22:00-06:00`; the effect is `pause`, or a rate such as `2M`. The strictest of all \
                rules and limits applies. Replaces all existing rules; `none` removes them.
                """,
            valueName: "rule"))
    var rule: [String] = []
    @Option(
        help: .setting("metered", valueName: "word"))
    var metered: QueueSettings.Metered?
    @Flag(help: "Print one JSON object.") var json: JSONFormat?
    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions

    func validate() throws {
        var settings = QueueSettings()
        if let maxRunning { settings.maxRunning = maxRunning }
        if let option = QueueOption.table.first(where: { !$0.accepts(settings) }) {
            throw Self.refusal(of: option)
        }
        _ = (try schedule, try rules)
    }

    /// The value of `--limit-schedule`; the inner optional is `nil` for `none`.
    private var schedule: RateSchedule?? {
        get throws {
            guard let limitSchedule else { return nil }
            if ["none", ""].contains(limitSchedule) { return .some(nil) }
            let schedule = try RateSchedule(limitSchedule, rate: Self.ratePart)
            guard let schedule else {
                throw Self.refusal(of: QueueOption.typed("limit-schedule"))
            }
            return schedule
        }
    }

    /// The values of `--rule`; `nil` if it is not given.
    private var rules: [QueueRule]? {
        get throws {
            guard !rule.isEmpty else { return nil }
            if rule == ["none"] || rule == [""] { return [] }
            return try rule.map { text in
                guard let rule = try QueueRule(text, rate: Self.ratePart) else {
                    throw Self.refusal(of: QueueOption.typed("rule"))
                }
                return rule
            }
        }
    }

    /// Parses a rate in a longer text; `nil` for an invalid rate.
    ///
    /// - Throws: `ValidationError`, for an ambiguous rate.
    private static func ratePart(_ text: String) throws -> Double? {
        do throws(RateSyntaxError) {
            return try Rate(parsing: text).bytesPerSecond
        } catch .malformed {
            return nil
        } catch {
            throw ValidationError(Diagnostic.describe(error))
        }
    }

    /// Returns the error for an invalid value of a setting.
    private static func refusal(of option: QueueOption?) -> ValidationError {
        guard let option, let name = option.commandLine else {
            preconditionFailure("no such setting")
        }
        return ValidationError(Diagnostic.describe("--\(name)", takes: option.kind))
    }

    func run() throws {
        let (maxRunning, limitRate, schedule, json) = (maxRunning, limitRate, try schedule, json)
        let (rules, metered, maxRequests) = (try rules, metered, maxRequests)
        try queue.run { access in
            var settings = try await access.door.settings()
            let before = settings
            if let maxRunning { settings.maxRunning = maxRunning }
            if let limitRate { settings.rateLimit = limitRate > 0 ? limitRate : nil }
            if let maxRequests { settings.maxRequests = maxRequests }
            if let schedule { settings.rateSchedule = schedule }
            if let rules { settings.rules = rules }
            if let metered { settings.metered = metered }
            if settings != before { try await access.door.change(settings) }
            let text = json.map { JSONText.line(settings, $0) ?? "" } ?? Self.text(settings)
            guard StandardStreams.write(text + "\n", to: STDOUT_FILENO) else { return .disk }
            access.sayWhetherWorked()
            return .done
        }
    }

    private static func text(_ settings: QueueSettings) -> String {
        func rate(_ rate: Double?) -> String {
            rate.flatMap { $0 > 0 ? Units.speed($0) : nil } ?? "none"
        }
        var lines = [
            "max-running     \(settings.maxRunning)", "limit-rate      \(rate(settings.rateLimit))",
        ]
        if let schedule = settings.rateSchedule {
            let spans = schedule.spans.map { "\($0.times.text) \(rate($0.rate))" }
            let rest = schedule.otherwise.map { ["else \(rate($0))"] } ?? []
            lines.append("limit-schedule  \((spans + rest).joined(separator: ", "))")
        }
        if let rate = settings.maxRequests { lines.append("max-requests    \(rate)") }
        if !settings.rules.isEmpty {
            let rules = settings.rules.map { rule in
                switch rule.effect {
                case .pause: "\(rule.condition.text) pause"
                case .rate(let limit): "\(rule.condition.text) \(rate(limit))"
                }
            }
            lines.append("rules           \(rules.joined(separator: ", "))")
        }
        if settings.metered != .auto {
            lines.append("metered         \(settings.metered.rawValue)")
        }
        let delays = settings.retryDelays.compactMap { Units.duration(.seconds($0)) }
        lines.append("retry delays    \(delays.joined(separator: ", "))")
        return lines.joined(separator: "\n")
    }
}

extension QueueSettings.Metered: ExpressibleByArgument {}

extension ArgumentHelp {
    /// Returns the help of a queue's setting.
    fileprivate static func setting(
        _ name: String, discussion: String = "", valueName: String
    ) -> ArgumentHelp {
        guard let option = QueueOption.typed(name) else {
            preconditionFailure("no setting has the name \(name)")
        }
        return ArgumentHelp(option.help, discussion: discussion, valueName: valueName)
    }
}
