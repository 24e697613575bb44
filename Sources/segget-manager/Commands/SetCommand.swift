import ArgumentParser
import Glibc
import SeggetCommand
import SeggetFormats
import SeggetQueue
import SeggetReports
import SeggetService
import Segmenter

/// `segget set`: changes the options of tasks.
struct SetCommand: ParsableCommand {
    static let configuration = QueueCommandName.set.configuration(
        usage: "segget set <id>... [--url <url>]... [<options>]",
        discussion: """
            The given options replace those of the task; all others stay unchanged. An active task continues with \
            them immediately, and keeps its bytes.
            """)

    @OptionGroup var tasks: TaskArguments
    @Option(
        help: ArgumentHelp(
            "Replace the URLs of the task; the first is the primary, the others are mirrors.",
            discussion: "For example, to replace an expired link; received bytes are kept.",
            valueName: "url"))
    var url: [String] = []
    @Option(
        name: [.customShort("x", allowingJoined: true), .long],
        help: ArgumentHelp(
            "Number of connections: 1 to 64, `auto`, or `auto:N` for at most N.", valueName: "n"))
    var connections: ConnectionCount?
    @Option(
        help: ArgumentHelp(
            "Limit the rate, in bytes per second, such as `500K`; 0 removes the limit.",
            valueName: "rate"),
        transform: LimitCommandOptions.rate)
    var limitRate: Double?
    @Option(
        name: [.customShort("H", allowingJoined: true), .long],
        help: ArgumentHelp(
            "Replace the request headers of the task; repeatable.", valueName: "K: V"))
    var header: [String] = []
    @Option(
        name: [.customShort("u", allowingJoined: true), .long],
        help: ArgumentHelp("Set the user and the password.", valueName: "user:pass"))
    var user: String?
    @Option(help: .row("retries", valueName: "n"))
    var retries: Int?
    @Option(
        help: ArgumentHelp(
            "Set any option of a download; repeatable.",
            discussion: """
                NAME is an option of `segget add`, without dashes, or of a list; a flag takes `true` or `false`. An \
                empty value, `NAME=`, restores the default.
                """, valueName: "name=value"))
    var option: [String] = []
    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions

    func validate() throws {
        guard
            !url.isEmpty || connections != nil || limitRate != nil || !header.isEmpty || user != nil
                || retries != nil || !option.isEmpty
        else { throw ValidationError("Missing expected argument: what to set, such as `--url`") }
        try connections?.check()
        for header in header {
            do throws(HeaderSyntaxError) {
                try DownloadOptions.check(header: header)
            } catch {
                throw ValidationError(Diagnostic.describe(error))
            }
        }
        try TransferOption.check("retries", retries)
        guard !url.contains("") else { throw ValidationError("an empty URL cannot be used") }
        _ = try options
    }

    func run() throws {
        CommandLineSecrets.hideValues(of: ["-u", "--user", "--option"])
        CommandLineSecrets.hide(headers: header)
        CommandLineSecrets.hide(urls: url)
        var changes = TaskChanges()
        if !url.isEmpty { changes.urls = url }
        changes.options = try options
        let command = QueueCommand.set(tasks.selection, changes)
        try queue.run { access in try await access.carryOut(command, done: "changed") }
    }

    /// The changes of options.
    private var options: OptionChanges {
        get throws {
            var changes = OptionChanges()
            if let connections { changes.set("connections") { $0.connections = connections } }
            if let limitRate {
                changes.set("limits.rate") { $0.limits.rate = limitRate > 0 ? limitRate : nil }
            }
            if !header.isEmpty { changes.set("headers") { $0.headers = header } }
            if let user { try changes.take("user", user) }
            if let retries { changes.set("retries") { $0.retries = retries } }
            for option in option {
                let name = option.prefix { $0 != "=" }
                guard name.endIndex < option.endIndex else {
                    throw ValidationError("`--option` takes NAME=VALUE")
                }
                try changes.take(String(name), String(option[name.endIndex...].dropFirst()))
            }
            return changes
        }
    }
}

extension OptionChanges {
    /// Adds the value of an option on the command line; an empty value restores the default.
    ///
    /// - Throws: `ValidationError`.
    fileprivate mutating func take(_ text: String, _ value: String) throws {
        guard
            let (option, name) = TransferOption.typed(text)
                ?? TransferOption.named(text, on: .list),
            option.effect != .never, option.places.contains(.socket)
        else {
            throw ValidationError("`segget set` cannot change the option \(Diagnostic.quote(text))")
        }
        let isFirst = !keys.contains(option.key)
        var isTaken = true
        set(option.key) { values in
            if isFirst || value.isEmpty { values.apply(OptionChanges(reset: [option.key])) }
            if !value.isEmpty { isTaken = name.read(option, &values, value) }
        }
        guard isTaken else {
            throw ValidationError(Diagnostic.describe(text, takes: name.kind(of: option)))
        }
    }
}
