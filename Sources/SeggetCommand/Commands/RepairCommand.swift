package import ArgumentParser
import Assembler
import Glibc
import SeggetReports
import Segmenter

/// The command `segget repair`, which downloads the damaged bytes of a file again.
package struct RepairCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Download the damaged bytes of a file again.",
        discussion: """
            The manifest `FILE.segget` that `--keep-manifest` saved shows which bytes are damaged. \
            They are downloaded into a copy, `FILE.part`, which replaces FILE when it is complete \
            and verified; until then, FILE is only read. The manifest is kept. The server must \
            still offer the same version. If segget is stopped, the same command continues.
            """)

    @Argument(help: "The file to repair.")
    var file: String

    @Argument(help: "The http or https URL of the file.")
    var url: String

    @Option(
        name: [.customShort("x"), .long],
        help: ArgumentHelp(
            "Number of connections: 1 to 64, `auto`, or `auto:N` for at most N.", valueName: "n"))
    var connections = DownloadOptions().connections

    @Option(
        help: ArgumentHelp(
            "Expected digest of the repaired file, as for `get`.", valueName: "algo:hex"),
        transform: GetCommand.digest)
    var checksum: Digest?

    @OptionGroup(title: "Files") var files: FileOptionsGroup
    @OptionGroup(title: "Limits") var limits: LimitCommandOptions
    @OptionGroup(title: "Limits") var requests: RequestLimitOption
    @OptionGroup(title: "Network") var request: RequestOptions
    @OptionGroup var access: AccessArguments
    @OptionGroup(title: "Network") var kerberos: NegotiateOption
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions

    @OptionGroup var display: DisplayOptions

    @Flag(help: "Write one JSON object per event to standard output (see docs/json.md).")
    var json: JSONFormat?

    package init() {}

    package func validate() throws {
        guard !file.isEmpty, !url.isEmpty else {
            throw ValidationError("an empty URL or path cannot be used")
        }
        guard !file.hasSuffix("/") else { throw ValidationError("the file to repair is a folder") }
        guard !file.contains("://") else {
            throw ValidationError("the file comes first, then the URL")
        }
        try connections.check()
    }

    /// Repairs on other threads while the main thread waits for signals.
    package func run() throws {
        access.hideSecrets(headers: request.header, urls: [url])
        StandardStreams.prepare()
        var options = request.downloadOptions
        options.connections = connections
        options.checksum = checksum
        options.limits = limits.options
        files.apply(to: &options.files)
        options.access = try access.read()
        try kerberos.apply(to: &options.access)
        let interrupts = Interrupts()
        let session = DownloadSession(
            rateLimit: limits.limitRate, maxRequests: requests.rate, memory: ServerMemory.own)
        let download = session.repair(file, from: url, options: options)
        GetCommand.follow(
            download, url, Hooks(), reportSettings(terminal: .standardError), session, interrupts)
    }

    private func reportSettings(terminal: Terminal) -> DownloadReport.Settings {
        DownloadReport.Settings(
            style: display.style(terminal: terminal, json: json != nil),
            terminal: terminal, detail: display.detail, json: json,
            connections: connections.most)
    }
}
