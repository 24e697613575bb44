import ArgumentParser
import Glibc
import SeggetCommand
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
        transform: LimitCommandOptions.rate)
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
