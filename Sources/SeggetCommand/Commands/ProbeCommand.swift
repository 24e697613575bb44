package import ArgumentParser
import Glibc
import SeggetReports
import Segmenter

/// The command `segget probe`, which shows what a server offers.
package struct ProbeCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "probe",
        abstract: "Show what a server offers and how segget would use it.",
        discussion: "Nothing is saved. The report goes to standard output.")

    @Argument(help: "The http or https URL to probe, or an `hf://` address.")
    var url: String

    @OptionGroup(title: "Network") var request: RequestOptions

    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions

    @OptionGroup var hub: HubOptions
    @OptionGroup var access: AccessArguments
    @OptionGroup(title: "Network") var kerberos: NegotiateOption

    /// Further URLs, which are accepted only to be refused.
    ///
    /// The parser's own message would print a URL with its credentials.
    @Argument(help: .hidden)
    var excess: [String] = []

    @Flag(help: "Write the report as one JSON object (see docs/json.md).")
    var json: JSONFormat?

    package init() {}

    package func validate() throws {
        guard excess.isEmpty else {
            throw ValidationError("one URL at a time; \(excess.count + 1) were given")
        }
        guard !url.isEmpty else { throw ValidationError("an empty URL cannot be used") }
        guard try HubOptions.address(among: [url], isAlone: true) == nil || json == nil else {
            throw ValidationError("for `hf://`, `segget plan` writes what a program can read")
        }
    }

    /// Probes on other threads while the main thread waits for signals.
    package func run() throws {
        access.hideSecrets(headers: request.header, urls: [url])
        StandardStreams.prepare()
        var options = request.downloadOptions
        options.access = try access.read()
        try kerberos.apply(to: &options.access)
        if options.access.isInsecure {
            let message = Message(.note, DownloadNotice.certificatesUnchecked.text)
            let line = message.line(colour: Terminal.standardError.colour)
            StandardStreams.write(line + "\n", to: STDERR_FILENO)
        }
        let interrupts = Interrupts()
        let session = DownloadSession()
        let (url, settings, json) = (url, options, json)
        if let address = try HubOptions.address(among: [url], isAlone: true) {
            let access = try hub.access()
            Task {
                let status = await Self.probe(address, access, settings, session)
                await session.shutdown()
                Glibc.exit(status.rawValue)
            }
            interrupts.wait { false }
        }
        Task {
            let status: ExitStatus
            do throws(DownloadError) {
                let file = try await session.probe(url, options: settings)
                status = Self.show(ProbeReport(file), options: settings, json: json)
            } catch {
                status = Self.show(error, json: json, typed: url)
            }
            await session.shutdown()
            Glibc.exit(status.rawValue)
        }
        // A signal may end the process immediately: there is nothing to clean up.
        interrupts.wait { false }
    }

    /// Shows the commit and the figures of a repository.
    private static func probe(
        _ address: HubAddress, _ access: HubAccess, _ options: DownloadOptions,
        _ session: DownloadSession
    ) async -> ExitStatus {
        do throws(HubError) {
            let listing = try await session.listing(of: address, from: access, options: options)
            let text =
                "\(address.text)\ncommit: \(listing.source.pin ?? "")\n"
                + PlanSummary(listing).text + "\n"
            return StandardStreams.write(text, to: STDOUT_FILENO) ? .done : .disk
        } catch {
            let colour = Terminal.standardError.colour
            for message in ([access.note].compactMap { $0 } + Diagnostic.messages(error)) {
                StandardStreams.write(message.line(colour: colour) + "\n", to: STDERR_FILENO)
            }
            return Diagnostic.status(error)
        }
    }

    private static func show(
        _ report: ProbeReport, options: DownloadOptions, json: JSONFormat?
    ) -> ExitStatus {
        let lines =
            json.map { [JSONText.line(report, $0) ?? ""] }
            ?? report.lines(connections: options.connections.most)
        let text = lines.joined(separator: "\n") + "\n"
        // The report is the only result, so a failure to write it is an error.
        return StandardStreams.write(text, to: STDOUT_FILENO) ? .done : .disk
    }

    static func show(_ error: DownloadError, json: JSONFormat?, typed: String?) -> ExitStatus {
        let diagnostic = Diagnostic(error, typed: typed)
        if let json, let line = JSONText.line(JSONEvents.Failure(error, diagnostic), json) {
            StandardStreams.write(line + "\n", to: STDOUT_FILENO)
        }
        for message in diagnostic.messages {
            let line = message.line(colour: Terminal.standardError.colour)
            StandardStreams.write(line + "\n", to: STDERR_FILENO)
        }
        return diagnostic.status
    }
}
