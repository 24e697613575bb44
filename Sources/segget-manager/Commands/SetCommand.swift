import ArgumentParser
import Glibc
import SeggetCommand
import SeggetFormats
import SeggetQueue
import SeggetReports
import SeggetService
import Segmenter

/// `segget set`: changes how tasks are fetched.
struct SetCommand: ParsableCommand {
    static let configuration = QueueCommandName.set.configuration(
        usage: "segget set <id>... [--url <url>]... [<options>]",
        discussion: """
            What is given takes the place of what the task had; all else stays. A task that is being fetched goes on \
            with it at once, and keeps its bytes.
            """)

    @OptionGroup var tasks: TaskArguments
    @Option(
        help: ArgumentHelp(
            "Fetch from this URL, in place of those that it has; the others are mirrors.",
            discussion: "An expired link is replaced so; the bytes are kept.", valueName: "url"))
    var url: [String] = []
    @Option(
        name: [.customShort("x", allowingJoined: true), .long],
        help: ArgumentHelp("Connections, 1 to 64, `auto` or `auto:N`.", valueName: "n"))
    var connections: ConnectionCount?
    @Option(
        help: ArgumentHelp(
            "Highest rate in bytes per second, such as `500K`; 0 for none.", valueName: "rate"),
        transform: SettingsCommand.rate)
    var limitRate: Double?
    @Option(
        name: [.customShort("H", allowingJoined: true), .long],
        help: ArgumentHelp(
            "Send these headers, in place of those that it has; repeatable.", valueName: "K: V"))
    var header: [String] = []
    @Option(
        name: [.customShort("u", allowingJoined: true), .long],
        help: ArgumentHelp("User and password.", valueName: "user:pass"))
    var user: String?
    @Option(help: ArgumentHelp("Further attempts without progress.", valueName: "n"))
    var retries: Int?
    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions

    func validate() throws {
        guard
            !url.isEmpty || connections != nil || limitRate != nil || !header.isEmpty || user != nil
                || retries != nil
        else { throw ValidationError("Missing expected argument: what to set, such as `--url`") }
        try connections?.check()
        for header in header {
            do throws(HeaderSyntaxError) {
                try DownloadOptions.check(header: header)
            } catch {
                throw ValidationError(Diagnostic.describe(error))
            }
        }
        if let retries, !(0...1000).contains(retries) {
            throw ValidationError("`--retries` takes 0 to 1000, not \(retries)")
        }
        guard !url.contains("") else { throw ValidationError("an empty URL cannot be used") }
    }

    func run() throws {
        CommandLineSecrets.hideValues(of: ["-u", "--user"])
        CommandLineSecrets.hide(headers: header)
        CommandLineSecrets.hide(urls: url)
        var changes = TaskChanges()
        if !url.isEmpty { changes.urls = url }
        changes.connections = connections
        changes.rateLimit = limitRate
        if !header.isEmpty { changes.headers = header }
        changes.user = user
        changes.retries = retries
        let command = QueueCommand.set(tasks.selection, changes)
        try queue.run { access in try await access.carryOut(command, done: "changed") }
    }
}

/// `segget settings`: what holds for the queue as a whole.
struct SettingsCommand: ParsableCommand {
    static let configuration = QueueCommandName.settings.configuration(
        discussion: "Without options it shows them. What is changed is in force at once.")

    @Option(help: ArgumentHelp("Tasks at a time, 1 to 64.", valueName: "n")) var maxRunning: Int?
    @Option(
        help: ArgumentHelp(
            "Highest rate of all tasks together, in bytes per second, such as `2M`; 0 for none.",
            valueName: "rate"),
        transform: SettingsCommand.rate)
    var limitRate: Double?
    @Option(
        help: ArgumentHelp(
            "The same by the time of day: `08:00-18:00=2M,else=0`; `none` for no schedule.",
            valueName: "schedule"))
    var limitSchedule: String?
    @Flag(help: "Print one JSON object.") var json = false
    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions

    func validate() throws {
        if let maxRunning, !(1...64).contains(maxRunning) {
            throw ValidationError("`--max-running` takes 1 to 64, not \(maxRunning)")
        }
        _ = try schedule
    }

    /// What `--limit-schedule` says; the inner one is `nil` for no schedule.
    private var schedule: RateSchedule?? {
        get throws {
            guard let limitSchedule else { return nil }
            if ["none", ""].contains(limitSchedule) { return .some(nil) }
            let schedule = RateSchedule(limitSchedule) { Rate($0)?.bytesPerSecond }
            guard let schedule else {
                throw ValidationError(
                    "`--limit-schedule` takes spans and rates such as `08:00-18:00=2M,else=0`")
            }
            return schedule
        }
    }

    /// Reads a rate.
    static func rate(_ text: String) throws -> Double {
        guard let rate = Rate(text) else {
            throw ValidationError(
                "a rate is in bytes per second, such as `500K`, `1.5M` or `8Mbit`")
        }
        return rate.bytesPerSecond
    }

    func run() throws {
        let (maxRunning, limitRate, schedule, json) = (maxRunning, limitRate, try schedule, json)
        try queue.run { access in
            var settings = try await access.door.settings()
            let before = settings
            if let maxRunning { settings.maxRunning = maxRunning }
            if let limitRate { settings.rateLimit = limitRate > 0 ? limitRate : nil }
            if let schedule { settings.rateSchedule = schedule }
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
        func time(_ minute: Int) -> String {
            let digits = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
            return "\(digits(minute / 60)):\(digits(minute % 60))"
        }
        var lines = [
            "max-running     \(settings.maxRunning)", "limit-rate      \(rate(settings.rateLimit))",
        ]
        if let schedule = settings.rateSchedule {
            let spans = schedule.spans.map { "\(time($0.start))-\(time($0.end)) \(rate($0.rate))" }
            let rest = schedule.otherwise.map { ["else \(rate($0))"] } ?? []
            lines.append("limit-schedule  \((spans + rest).joined(separator: ", "))")
        }
        let delays = settings.retryDelays.compactMap { Units.duration(.seconds($0)) }
        lines.append("tried again     after \(delays.joined(separator: ", "))")
        return lines.joined(separator: "\n")
    }
}
