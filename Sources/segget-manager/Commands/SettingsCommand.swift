public import ArgumentParser
import Glibc
import SeggetCommand
import SeggetFormats
public import SeggetQueue
import SeggetReports
import SeggetService
import Segmenter

/// `segget settings`: what holds for the queue as a whole.
struct SettingsCommand: ParsableCommand {
    static let configuration = QueueCommandName.settings.configuration(
        discussion: "Without options it shows them. What is changed is in force at once.")

    @Option(help: ArgumentHelp("Tasks at a time, 1 to 64.", valueName: "n")) var maxRunning: Int?
    @Option(
        help: ArgumentHelp(
            "Highest rate of all tasks together, in bytes per second, such as `2M`; 0 for none.",
            valueName: "rate"),
        transform: LimitCommandOptions.rate)
    var limitRate: Double?
    @Option(
        help: ArgumentHelp(
            "The same by the time of day: `08:00-18:00=2M,else=0`; `none` for no schedule.",
            valueName: "schedule"))
    var limitSchedule: String?
    @Option(
        help: ArgumentHelp(
            "What holds while something is so: `metered=pause`; repeatable.",
            discussion: """
                Conditions are `metered` (the network costs by the byte), `battery` (the machine runs on it) and a span \
                such as `22:00-06:00`; `pause` fetches nothing meanwhile, a rate such as `2M` limits it. The strictest \
                of all rules and limits counts. Those given take the place of all that there were; `none` for no rule.
                """,
            valueName: "rule"))
    var rule: [String] = []
    @Option(
        help: ArgumentHelp(
            "Whether the network is metered: yes, no, or auto to ask NetworkManager.",
            valueName: "word"))
    var metered: QueueSettings.Metered?
    @Flag(help: "Print one JSON object.") var json = false
    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions

    func validate() throws {
        if let maxRunning, !(1...64).contains(maxRunning) {
            throw ValidationError("`--max-running` takes 1 to 64, not \(maxRunning)")
        }
        _ = (try schedule, try rules)
    }

    /// What `--limit-schedule` says; the inner one is `nil` for no schedule.
    private var schedule: RateSchedule?? {
        get throws {
            guard let limitSchedule else { return nil }
            if ["none", ""].contains(limitSchedule) { return .some(nil) }
            let schedule = try RateSchedule(limitSchedule, rate: Self.ratePart)
            guard let schedule else {
                throw ValidationError(
                    "`--limit-schedule` takes spans and rates such as `08:00-18:00=2M,else=0`")
            }
            return schedule
        }
    }

    /// What `--rule` says; `nil` where it was not given.
    private var rules: [QueueRule]? {
        get throws {
            guard !rule.isEmpty else { return nil }
            if rule == ["none"] || rule == [""] { return [] }
            return try rule.map { text in
                guard let rule = try QueueRule(text, rate: Self.ratePart) else {
                    throw ValidationError(
                        "`--rule` takes `metered`, `battery` or a span such as `22:00-06:00`, then `=pause` or a rate above 0 such as `=2M`"
                    )
                }
                return rule
            }
        }
    }

    /// Reads a rate in a longer text; `nil` for a text that is none.
    ///
    /// - Throws: what the parser prints, for an ambiguous rate.
    private static func ratePart(_ text: String) throws -> Double? {
        do throws(RateSyntaxError) {
            return try Rate(parsing: text).bytesPerSecond
        } catch .malformed {
            return nil
        } catch {
            throw ValidationError(Diagnostic.describe(error))
        }
    }

    func run() throws {
        let (maxRunning, limitRate, schedule, json) = (maxRunning, limitRate, try schedule, json)
        let (rules, metered) = (try rules, metered)
        try queue.run { access in
            var settings = try await access.door.settings()
            let before = settings
            if let maxRunning { settings.maxRunning = maxRunning }
            if let limitRate { settings.rateLimit = limitRate > 0 ? limitRate : nil }
            if let schedule { settings.rateSchedule = schedule }
            if let rules { settings.rules = rules }
            if let metered { settings.metered = metered }
            if settings != before { try await access.door.change(settings) }
            let text = json ? JSONText.line(settings) ?? "" : Self.text(settings)
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
        lines.append("tried again     after \(delays.joined(separator: ", "))")
        return lines.joined(separator: "\n")
    }
}

extension QueueSettings.Metered: ExpressibleByArgument {}
