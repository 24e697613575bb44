package import ArgumentParser
package import Assembler
import CLinux
import Glibc
import SeggetFormats
import SeggetReports
import Segmenter

/// The command `segget get`, which downloads one or more files.
package struct GetCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Download files.",
        discussion: """
            Each file is downloaded in segments over several connections into `NAME.part`, with a \
            manifest `NAME.segget` beside it, and renamed to `NAME` when it is complete and \
            verified. If segget is stopped or killed, the same command resumes. Several files are \
            downloaded at the same time (`--jobs`); if two would get the same name, segget numbers \
            them. The exit code is that of the worst failure.
            """)

    @Argument(
        help: ArgumentHelp(
            "The http or https URLs to download, or one `hf://` address.", valueName: "url"))
    var urls: [String] = []

    @OptionGroup var place: PlaceOptions

    @Option(
        name: [.customShort("x", allowingJoined: true), .long],
        help: .row("connections", discussion: "curl's `-x` is `--proxy`.", valueName: "n"))
    var connections = DownloadOptions().connections

    @Option(
        help: .row(
            "checksum",
            discussion: """
                ALGO is sha-256, sha-512, sha-1, md5 or crc32; without it, the number of digits \
                determines the algorithm.
                """,
            valueName: "algo:hex"),
        transform: GetCommand.digest)
    var checksum: Digest?

    @Flag(help: .row("overwrite"))
    var overwrite = false

    @Flag(help: .row("no-resume"))
    private var noResume = false

    @Flag(
        help: .row(
            "resume-unverified",
            discussion: """
                Without a strong ETag, a usable `Last-Modified` or a digest, a later run starts \
                over. With this option, it resumes if up to 256 KiB of the received bytes match \
                the server's; changes elsewhere are not detected.
                """))
    var resumeUnverified = false

    @Flag(
        help: .row(
            "single-request",
            discussion: """
                segget sends no `HEAD` request, and none to verify the end. After an interruption, \
                it requests the remaining bytes.
                """))
    var singleRequest = false

    @OptionGroup(title: "Resuming") var goingOn: GoingOnOptions
    @OptionGroup(title: "Files") var files: FileOptionsGroup
    @OptionGroup(title: "Existing files") var laterRuns: LaterRunOptions
    @OptionGroup(title: "Names") var names: NamingOptionGroup
    @OptionGroup(title: "Several files") var batch: BatchOptions
    @OptionGroup(title: "Data sets") var sets: SetOptions
    @OptionGroup(title: "Hugging Face Hub") var hub: HubOptions
    @OptionGroup(title: "Hugging Face Hub") var cached: HubCacheOptions
    @OptionGroup(title: "Mirrors") var sources: MirrorOptions
    @OptionGroup(title: "Enqueue") var queueing: EnqueueOptions
    @OptionGroup(title: "Standard output") var standardOutput: StandardOutputOptions
    @OptionGroup(title: "Limits") var limits: LimitCommandOptions
    @OptionGroup(title: "Limits") var requests: RequestLimitOption
    @OptionGroup(title: "Network") var request: RequestOptions
    @OptionGroup var access: AccessArguments
    @OptionGroup(title: "Network") var kerberos: NegotiateOption
    @OptionGroup(title: "Network") var cookies: CookieJarOption
    @OptionGroup(title: "Scripts") var scripts: ScriptOptions
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions
    @OptionGroup(visibility: .hidden) var accepted: AcceptedOptions

    @OptionGroup(title: "Display") var display: DisplayOptions

    @Flag(help: "Write one JSON object per event to standard output (see docs/json.md).")
    var json: JSONFormat?

    package init() {}

    package func validate() throws {
        try validateBatch()
        guard goingOn.adopt != "", cookies.cookieJar != "", !urls.contains("") else {
            throw ValidationError("an empty URL or path cannot be used")
        }
        guard output != "-" || json == nil else {
            throw ValidationError(
                "`--json` and `--output -` cannot both write to standard output "
                    + "(`./-` is a file with the name `-`)")
        }
        try connections.check()
        for (name, value) in [("continue-from", goingOn.continueFrom), ("adopt", goingOn.adopt)]
        where value != nil {
            guard !isBatch else { throw ValidationError("`--\(name)` is for one file") }
            guard output != "-", !noResume else {
                throw ValidationError(
                    "`--\(name)` and `--\(noResume ? "no-resume" : "output -")` cannot be used together"
                )
            }
        }
        guard goingOn.adopt == nil || !laterRuns.timestamping else {
            throw ValidationError("`--adopt` and `--timestamping` cannot be used together")
        }
        guard goingOn.continueFrom == nil || output == nil && directory == nil && !names.autoRename
        else {
            throw ValidationError(
                "`--continue-from` already names the file: leave out `--output`, `--directory` and "
                    + "`--auto-rename`")
        }
        guard !overwrite || !names.autoRename else {
            throw ValidationError("`--overwrite` and `--auto-rename` cannot be used together")
        }
        guard cookies.cookieJar == nil || !access.who.noCookies && !scripts.dryRun else {
            let other = scripts.dryRun ? "dry-run" : "no-cookies"
            throw ValidationError("`--cookie-jar` and `--\(other)` cannot be used together")
        }
        guard !singleRequest || sources.mirrors.isEmpty && !scripts.dryRun else {
            let other = sources.mirrors.isEmpty ? "dry-run" : "mirror"
            throw ValidationError(
                "`--single-request` and `--\(other)` cannot be used together: another request may use up the link"
            )
        }
        try laterRuns.checkSkipping(
            beside: [
                ("overwrite", overwrite), ("auto-rename", names.autoRename),
                ("adopt", goingOn.adopt != nil), ("output -", output == "-"),
            ])
        guard !noResume || !resumeUnverified else {
            throw ValidationError(
                "`--no-resume` and `--resume-unverified` cannot be used together")
        }
    }

    /// Downloads on other threads while the main thread waits for signals.
    package func run() throws {
        if queueing.enqueue { Handover.runQueued(Array(CommandLine.arguments.dropFirst())) }
        // Secrets are hidden first, because reading a list or a password may take long.
        access.hideSecrets(headers: request.header, urls: urls + sources.mirrors)
        if output == "-" { try StandardStreams.checkOutput() }
        StandardStreams.prepare()
        // Threads free what others have allocated, and separate heaps would keep it.
        if isBatch { segget_share_heaps() }
        var options = options
        options.access = try access.read()
        try kerberos.apply(to: &options.access)
        // A set is opened only to download it: a dry run writes nothing.
        let plan = scripts.dryRun ? nil : sets.plan
        let address = try hubAddress
        let list = plan == nil && address == nil ? fileList(options) : nil
        let interrupts = Interrupts()
        let session = DownloadSession(
            rateLimit: limits.limitRate, maxRequests: requests.rate, memory: ServerMemory.own)
        let (hooks, refresh) = (try scripts.hooks, try goingOn.refresh)
        let jar = cookies.cookieJar.map {
            CookieJarFile($0, options, url: isBatch ? nil : urls[0])
        }
        if let address {
            if HubOptions.isOffline { try endOffline(address) }
            let access = try hub.access()
            let (listing, tree) = hubListing(address, access, options, session, interrupts)
            guard scripts.dryRun || directory != nil else {
                try runCache(
                    listing, tree, address, access, options, session, interrupts, hooks, refresh,
                    jar)
            }
            let plan = hubPlan(of: listing)
            guard scripts.dryRun else {
                let path = place(of: address, in: directory ?? ".")
                runSet(
                    plan, access, options, session, interrupts, hooks, refresh, jar, listed: tree,
                    printing: cached.printPath ? path : nil)
            }
            let files = self.list(of: plan, access, options)
            DryRun(files: files, json: json, typed: urls).run(session, interrupts)
        }
        if let path = plan {
            let plan = Self.plan(at: path, foldsCase: SetFolder.foldsCase(directory ?? "."))
            let access = plan.source.kind == .hub ? try hub.access() : nil
            runSet(plan, access, options, session, interrupts, hooks, refresh, jar)
        }
        if let list {
            if scripts.dryRun {
                if let path = sets.plan, sets.deleteExtra { showExtras(of: Self.plan(at: path)) }
                DryRun(files: list, json: json, typed: urls).run(session, interrupts)
            }
            runBatch(list, session, interrupts, hooks, refresh, jar)
        }
        let (url, destination) = (urls[0], destination)
        if scripts.dryRun {
            let item = BatchItem(url, to: destination, options: options)
            let list = FileList(count: 1) { _ in item }
            DryRun(files: list, json: json, typed: urls).run(session, interrupts)
        }
        let download = session.start(
            url, to: destination, options: options, refreshURL: refresh?.link, jars: jar?.jars)
        Self.follow(
            download, url, hooks, reportSettings(terminal: .standardError, refresh), session,
            interrupts, jar)
    }

    /// Reports a download until it ends, while the calling thread waits for signals.
    static func follow(
        _ download: Download, _ url: String, _ hooks: Hooks, _ settings: DownloadReport.Settings,
        _ session: DownloadSession, _ interrupts: Interrupts, _ jar: CookieJarFile? = nil
    ) -> Never {
        Task {
            var report = DownloadReport(settings)
            for await event in download.events { report.handle(event) }
            let result = await download.result
            var status = report.finish(result, signal: interrupts.received)
            if let jar { status = jar.save(status) }
            await hooks.run(result, url: url, status: status)
            await session.shutdown()
            Glibc.exit(status.rawValue)
        }
        interrupts.wait(change: session.changeRate) {
            download.cancel()
            return true
        }
    }

    /// The destination of the file.
    var destination: Destination {
        guard output != "-" else { return .descriptor(STDOUT_FILENO) }
        if let path = goingOn.part { return .file(path) }
        return place.path.map { .file($0) } ?? .folder(directory ?? ".")
    }

    /// The value of `--output`; `-` is standard output.
    var output: String? { place.output }

    /// The value of `--directory`.
    var directory: String? { place.directory }

    /// The download options of the command line.
    var options: DownloadOptions {
        var options = request.downloadOptions
        options.connections = connections
        options.checksum = checksum
        options.overwrite = overwrite
        options.resume = !noResume
        options.continuesExisting = laterRuns.continue && !overwrite
        options.resumeUnverified = resumeUnverified
        options.singleRequest = singleRequest
        goingOn.apply(to: &options)
        options.stream = standardOutput.streamOptions
        options.limits = limits.options
        options.mirrors = sources.mirrors
        options.files.attributes = .proof
        if directory != nil || output != nil { options.files.missingFolders = .made }
        files.apply(to: &options.files)
        laterRuns.apply(to: &options.files)
        options.naming = names.naming
        return options
    }

    /// Returns the settings of the report.
    func reportSettings(
        terminal: Terminal, _ refresh: RefreshCommand? = nil
    ) -> DownloadReport.Settings {
        DownloadReport.Settings(
            style: display.style(terminal: terminal, json: json != nil),
            terminal: terminal, detail: display.detail,
            json: json, connections: connections.most, typed: urls,
            refreshProblem: { refresh?.takeProblem() })
    }

    /// Parses the value of `--checksum`.
    package static func digest(_ text: String) throws -> Digest {
        do throws(DigestSyntaxError) {
            return try Digest(parsing: text)
        } catch {
            throw ValidationError(Diagnostic.describe(error))
        }
    }
}
