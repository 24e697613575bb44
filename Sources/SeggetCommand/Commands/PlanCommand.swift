package import ArgumentParser
import Glibc
import SeggetFormats
import SeggetReports
import Segmenter

/// The command `segget plan`, which writes down the files of a data set.
package struct PlanCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Write down the files of a data set and their versions.",
        discussion: """
            The plan has the path, address, size, validators and digests of each file, one on each \
            line (see docs/plan.md). `segget get --plan PLAN` downloads the same bytes on another \
            day or machine, or says which file is no longer the same. A plan holds no password, \
            cookie or header.
            """)

    @Argument(
        help: ArgumentHelp(
            "The http or https URLs of the files, or one `hf://` address.", valueName: "url"))
    var urls: [String] = []

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Also plan the files of this list, as in `segget get`; `-` is standard input; "
                + "repeatable.", valueName: "file"),
        transform: PathArgument.file)
    var inputFile: [String] = []

    @OptionGroup var chosen: PathFilterOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Write the plan to this file (default: standard output).", valueName: "file"),
        transform: PathArgument.file)
    var output: String?

    @Flag(help: "Send no requests: sizes and versions remain open.")
    var noProbe = false

    @OptionGroup var hub: HubOptions
    @OptionGroup(title: "Network") var requests: RequestLimitOption
    @OptionGroup(title: "Network") var request: RequestOptions
    @OptionGroup var access: AccessArguments
    @OptionGroup(title: "Network") var kerberos: NegotiateOption
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions

    package init() {}

    package func validate() throws {
        guard !urls.isEmpty || !inputFile.isEmpty else {
            throw ValidationError("Missing expected argument: a URL, or `--input-file`")
        }
        guard !urls.contains(""), !inputFile.contains(""), output != "" else {
            throw ValidationError("an empty URL or path cannot be used")
        }
        let hasHub = try HubOptions.address(among: urls, isAlone: inputFile.isEmpty) != nil
        guard !hasHub || !noProbe else {
            throw ValidationError("`--no-probe` is for URLs: the Hub states all sizes")
        }
        guard inputFile.count(where: { $0 == "-" }) <= 1 else {
            throw ValidationError("standard input can be read only once")
        }
        guard !inputFile.contains("-") || !access.readsStandardInput else {
            throw ValidationError("standard input cannot be both a list and a secret")
        }
    }

    /// Asks the servers on other threads while the main thread waits for signals.
    package func run() throws {
        access.hideSecrets(headers: request.header, urls: urls)
        StandardStreams.prepare()
        let items = urls.map { InputFile.Item(urls: [$0]) } + BatchOptions.listed(in: inputFile)
        var options = request.downloadOptions
        options.access = try access.read()
        try kerberos.apply(to: &options.access)
        let interrupts = Interrupts()
        let session = DownloadSession(maxRequests: requests.rate)
        if let address = try HubOptions.address(among: urls, isAlone: inputFile.isEmpty) {
            let access = try hub.access()
            Task { [options] in
                let status = await write(address, access, options, session)
                await session.shutdown()
                Glibc.exit(status.rawValue)
            }
            interrupts.wait { false }
        }
        let list = FileList(count: items.count) { [options] in
            items[$0].batchItem(options: options, folder: ".")
        }
        Task {
            let status = await write(list, session)
            await session.shutdown()
            Glibc.exit(status.rawValue)
        }
        // A signal may end the process immediately: the plan is not written yet.
        interrupts.wait { false }
    }

    private func write(_ list: FileList, _ session: DownloadSession) async -> ExitStatus {
        let filter = chosen.filter
        var listing = Listing(Listing.Source(.urls), files: [])
        var worst = ExitStatus.done
        for await (index, result) in session.listing(
            count: list.count, probes: !noProbe, item: list.item)
        {
            switch result {
            case .success(let file):
                if filter.chooses(file.path) { listing.files.append(file) }
            case .failure(let error):
                let typed = urls.dropFirst(index).first
                worst = worst.worse(ProbeCommand.show(error, json: nil, typed: typed))
            }
        }
        guard worst == .done else {
            Self.say(Message(.note, "no plan was written"))
            return worst
        }
        return write(listing)
    }

    private func write(
        _ address: HubAddress, _ access: HubAccess, _ options: DownloadOptions,
        _ session: DownloadSession
    ) async -> ExitStatus {
        if let note = access.note { Self.say(note) }
        do throws(HubError) {
            var listing = try await session.listing(of: address, from: access, options: options)
            let filter = chosen.filter
            listing.files.removeAll { !filter.chooses($0.path) }
            return write(listing)
        } catch {
            for message in Diagnostic.messages(error) { Self.say(message) }
            return Diagnostic.status(error)
        }
    }

    private func write(_ listing: Listing) -> ExitStatus {
        do throws(PlanError) {
            try listing.check()
            if let output {
                try listing.writePlan(to: output)
            } else {
                var text = ""
                listing.forEachPlanLine { text += String(decoding: $0, as: UTF8.self) }
                guard StandardStreams.write(text, to: STDOUT_FILENO) else { return .disk }
            }
        } catch {
            for message in Diagnostic.messages(error, path: output ?? "the plan") {
                Self.say(message)
            }
            return Diagnostic.status(error)
        }
        StandardStreams.write(PlanSummary(listing).text + "\n", to: STDERR_FILENO)
        return .done
    }

    private static func say(_ message: Message) {
        let line = message.line(colour: Terminal.standardError.colour)
        StandardStreams.write(line + "\n", to: STDERR_FILENO)
    }
}
