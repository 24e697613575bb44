import ArgumentParser
import Assembler
import Glibc
import SeggetCommand
import SeggetFormats
import SeggetQueue
import SeggetReports
import SeggetService
import Segmenter

/// `segget add`: adds downloads to the queue.
struct AddCommand: ParsableCommand {
    static let configuration = QueueCommandName.add.configuration(
        usage: """
            segget add <url>... [<options>]
            segget add hf://<org>/<name> [<options>]
            segget add --plan <file> [<options>]
            segget add --recover <dir> [<options>]
            """,
        discussion: """
            Prints the id of each task, one per line. If the queue already has a task with the URL, for any folder, no \
            second task is added: segget prints that task's id and path, and resumes it if it was paused, has failed \
            or was cancelled. To download a copy, use `--again`, or `-d` or `-o` with another path.
            """)

    @Argument(
        help: ArgumentHelp(
            "The http or https URLs to download, or one `hf://` address.", valueName: "url"))
    var urls: [String] = []

    @OptionGroup var placing: PlaceOptions

    @Option(
        name: [.customLong("input-file"), .customShort("i")],
        help: ArgumentHelp(
            "Also add the files of this list, in the format of `segget get`; repeatable.",
            valueName: "file"),
        completion: .file(), transform: PathArgument.file)
    var inputFile: [String] = []

    @Option(
        help: ArgumentHelp(
            "Add one task that downloads the files of this plan, which `segget plan` has written.",
            discussion: """
                Each file is saved at its path below `--directory`. The queue copies the plan, so the file may be \
                removed. Adding a plan of the same data set for the same folder checks the files again, and downloads \
                what is missing.
                """, valueName: "file"),
        completion: .file(), transform: PathArgument.file)
    var plan: String?

    @Flag(help: "Add the tasks paused; `segget start` or `segget resume` starts them.")
    var paused = false
    @Flag(help: "Add to the front of the queue.") var first = false
    @Option(
        help: ArgumentHelp("Add at this position in the queue, counted from 1.", valueName: "n"))
    var at: Int?
    @Option(
        help: ArgumentHelp("Add this tag to the tasks; repeatable.", valueName: "tag"),
        completion: .custom(Completions.tags))
    var tag: [String] = []
    @Flag(help: "Add a second task for a URL that is already in the queue.") var again = false
    @Option(
        help: ArgumentHelp("Set the id of the task: 16 hexadecimal digits.", valueName: "hex"),
        transform: AddCommand.id)
    var id: QueueTask.ID?
    @Flag(
        help: ArgumentHelp(
            "Do not store passwords, headers and the queries of URLs on disk.",
            discussion: "The worker keeps them in memory; they are lost when it ends."))
    var noStoreSecrets = false
    @Option(
        help: ArgumentHelp(
            "Add paused tasks for the parts in this folder that no task has.",
            discussion: """
                The parts keep their folders and names; the other options apply to each task. If the path is the \
                queue's own file and the file is damaged, segget rebuilds the queue from the readable records and \
                keeps the damaged file beside it.
                """, valueName: "dir"),
        completion: .directory, transform: PathArgument.folder)
    var recover: String?

    @Option(
        name: [.customShort("x", allowingJoined: true), .long],
        help: .row("connections", valueName: "n"))
    var connections = DownloadOptions().connections
    @Option(
        help: .row("checksum", valueName: "algo:hex"),
        transform: GetCommand.digest)
    var checksum: Digest?
    @Flag(help: .row("overwrite"))
    var overwrite = false
    @Flag(help: .row("resume-unverified"))
    var resumeUnverified = false
    @Flag(
        help: .row("single-request")
    )
    var singleRequest = false

    @Flag(
        help: ArgumentHelp(
            "Show the progress of the tasks until all have ended, like `segget attach`.",
            discussion: """
                `segget get --enqueue` does the same. The ids are printed as notes; the options under *Attaching* set \
                how much is shown.
                """))
    var attach = false

    @OptionGroup(title: "Attaching") var display: DisplayOptions
    @Flag(help: "With `--attach`: print a JSON object for each change of a task.") var json:
        JSONFormat?
    @OptionGroup(title: "Resuming") var goingOn: GoingOnOptions
    @OptionGroup(title: "Files") var files: FileOptionsGroup
    @OptionGroup(title: "Files") var laterRuns: LaterRunOptions
    @OptionGroup(title: "Names") var names: NamingOptionGroup
    @OptionGroup(title: "Mirrors") var sources: MirrorOptions
    @OptionGroup(title: "Limits") var limits: LimitCommandOptions
    @OptionGroup(title: "Network") var request: RequestOptions
    @OptionGroup var access: AccessArguments
    @OptionGroup(title: "Data sets") var chosen: PathFilterOptions
    @OptionGroup(title: "Hugging Face Hub") var hub: HubOptions
    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions
    @OptionGroup(visibility: .hidden) var accepted: AcceptedOptions

    func validate() throws {
        guard recover != nil || plan != nil || !urls.isEmpty || !inputFile.isEmpty else {
            throw ValidationError(
                "Missing expected argument: a URL, `--input-file`, `--plan` or `--recover`")
        }
        guard recover == nil || urls.isEmpty && inputFile.isEmpty && plan == nil else {
            throw ValidationError("`--recover` takes a folder and no URLs")
        }
        guard plan == nil || urls.isEmpty && inputFile.isEmpty else {
            throw ValidationError(
                "`--plan` has the URLs: leave out "
                    + (urls.isEmpty ? "`--input-file`" : "those on the command line"))
        }
        if try hubAddress != nil {
            guard output == nil else {
                throw ValidationError(
                    "`--output` names one file; for `hf://`, use `--directory`")
            }
        } else {
            guard chosen.include.isEmpty, chosen.exclude.isEmpty else {
                throw ValidationError(
                    "`--include` and `--exclude` are for `hf://` and `segget plan`")
            }
        }
        for (option, isGiven) in [
            ("directory", directory != nil), ("again", again), ("auto-rename", names.autoRename),
            ("remote-name", names.remoteName),
        ] where isGiven && recover != nil {
            throw ValidationError("`--\(option)` and `--recover` cannot be used together")
        }
        guard json == nil || attach else { throw ValidationError("`--json` goes with `--attach`") }
        let isOne = urls.count == 1 && inputFile.isEmpty
        guard output != "-" else {
            throw ValidationError(
                "the queue cannot write to standard output: use `segget get -o -`")
        }
        for (option, isGiven) in [
            ("output", output != nil), ("id", id != nil && plan == nil),
            ("checksum", checksum != nil), ("mirror", !sources.mirrors.isEmpty),
            ("adopt", goingOn.adopt != nil), ("continue-from", goingOn.continueFrom != nil),
        ] where isGiven && !isOne {
            throw ValidationError("`--\(option)` is for one file")
        }
        guard goingOn.continueFrom == nil || output == nil && directory == nil else {
            throw ValidationError(
                "`--continue-from` already names the file: leave out `--output` and `--directory`")
        }
        guard !urls.contains(""), recover != "", plan != "", goingOn.adopt != "" else {
            throw ValidationError("an empty URL or path cannot be used")
        }
        try PathArgument.checkTilde(recover, "recover")
        guard at == nil || !first else {
            throw ValidationError("only one of `--first` and `--at` can be given")
        }
        if let at, at < 1 {
            throw ValidationError("`--at` takes a number of at least 1, not \(at)")
        }
        for tag in tag { try Tags.check(tag) }
        guard inputFile.count(where: { $0 == "-" }) <= 1,
            !inputFile.contains("-") || !access.readsStandardInput
        else {
            throw ValidationError("standard input can be read only once")
        }
        guard !singleRequest || sources.mirrors.isEmpty else {
            throw ValidationError(
                "`--single-request` and `--mirror` cannot be used together: another request may use up the link"
            )
        }
        guard !overwrite || !names.autoRename else {
            throw ValidationError("`--overwrite` and `--auto-rename` cannot be used together")
        }
        try laterRuns.checkSkipping(
            beside: [
                ("overwrite", overwrite), ("auto-rename", names.autoRename),
                ("adopt", goingOn.adopt != nil),
            ])
        try connections.check()
    }

    func run() throws {
        // Secrets are hidden first, because reading a list or a password may take long.
        access.hideSecrets(headers: request.header, urls: urls + sources.mirrors)
        StandardStreams.prepare()
        if let recover {
            let place = QueueTask.Place(root: Paths.absolute(recover))
            try PartRecovery(like: try task(NewTask("", to: place, options: try given())))
                .run(queue)
        }
        let tasks = try tasks()
        let commands = tasks.map(QueueCommand.add)
        // The queue copies the plan.
        let temporary = try hubAddress == nil ? nil : tasks.first?.plan
        let attachment = attach ? Attachment(display, json: json) : nil
        let isQuiet = attach && display.quiet
        guard !commands.isEmpty else {
            if !isQuiet { Voice.say(.note, BatchOptions.emptyList) }
            return
        }
        try queue.run(atSignal: attachment?.letGo) { access in
            var (status, ids): (ExitStatus?, [QueueTask.ID]) = (nil, [])
            defer { if let temporary { unlink(temporary) } }
            for result in try await access.door.perform(commands).joined() {
                if let id = result.id, result.outcome != .refused {
                    if attachment == nil { StandardStreams.write("\(id)\n", to: STDOUT_FILENO) }
                    let text = Self.text(result, id) ?? (attachment == nil ? nil : "was added")
                    if let text, !isQuiet { Voice.say(.note, "task \(id) \(text)") }
                    if !ids.contains(id) { ids.append(id) }
                } else {
                    let task = result.id.map { "task \($0) " } ?? ""
                    Voice.say(.error, task + (result.message ?? "a task was refused"))
                    if let hint = Self.hint(result) { Voice.say(.hint, hint) }
                    status = status ?? ExitStatus(rawValue: result.code) ?? .usage
                }
            }
            if let attachment, !ids.isEmpty {
                let end = try await attachment.follow(ids, access, areNew: true)
                return end.worse(status ?? .done)
            }
            access.sayWhetherWorked()
            return status ?? .done
        }
    }

    /// Returns the note for an added URL, without the task's id; `nil` for a new task.
    private static func text(_ result: CommandResult, _ id: QueueTask.ID) -> String? {
        guard let known = result.known else { return result.message }
        let path = Diagnostic.quote(known.path)
        guard known.id == id else {
            return "is a copy: task \(known.id) has the same URL and saves to \(path)"
        }
        return "\(result.message ?? "has this URL"), \(path)"
    }

    /// Returns the hint for a URL that the queue has with another checksum, user or header.
    private static func hint(_ result: CommandResult) -> String? {
        guard let known = result.known, !known.differs.isEmpty else {
            guard result.id == nil, result.step == NextStep.place.rawValue else {
                return result.queueHint
            }
            return "choose another name with `--name`, or remove that task"
        }
        let options = ["checksum": "--checksum", "user": "--user", "headers": "--header"]
        let given = known.differs.compactMap { options[$0] }.map { "`\($0)`" }
        return "leave out \(given.joined(separator: " and ")) to use that task, or give `--again` "
            + "to download a copy"
    }

    /// The address on the Hugging Face Hub, if the task is one.
    private var hubAddress: HubAddress? {
        get throws {
            try HubOptions.address(
                among: urls, isAlone: inputFile.isEmpty && plan == nil && recover == nil)
        }
    }

    /// Returns the tasks to add.
    func tasks() throws -> [NewTask] {
        var options = try given()
        let folder = Paths.absolute(directory ?? ".")
        // With a path on the command line, only a task in the same folder counts as a duplicate.
        let isPlaceTyped =
            output != nil || goingOn.part != nil
            || directory != nil && !Program.isConfigured("directory")
        if let address = try hubAddress {
            let style = display.style(terminal: .standardError, json: json != nil)
            let made = HubPlan(address, try hub.access(), options, chosen.filter, style)
            options.hub = try hub.grant()
            var place = QueueTask.Place(root: folder)
            if directory == nil {
                let cache = Paths.absolute(try HubOptions.cache)
                options.hub?.cache = cache
                place.root = HubSnapshot.folder(of: address, in: cache)
            }
            return [try task(NewTask(plan: made.path, to: place, options: options))]
        }
        if let plan {
            let place = QueueTask.Place(root: folder)
            return [try task(NewTask(plan: Paths.absolute(plan), to: place, options: options))]
        }
        var tasks = urls.map { NewTask($0, to: place(in: folder), options: options) }
        let items: [InputFile.Item]
        do throws(InputError) {
            items = try BatchOptions.readLists(inputFile)
        } catch {
            for message in Diagnostic.messages(error) {
                let line = message.line(colour: Terminal.standardError.colour)
                StandardStreams.write(line + "\n", to: STDERR_FILENO)
            }
            Glibc.exit(ExitStatus.usage.rawValue)
        }
        for item in items {
            let item = item.batchItem(options: options, folder: directory ?? ".")
            tasks.append(
                NewTask(
                    item.url, to: Self.place(item.destination, in: folder), options: item.options))
        }
        return try tasks.enumerated().map { index, task in
            var task = try self.task(task)
            let isOwnFolder = task.place.folderPath != folder
            task.isKnownAnywhere = !isPlaceTyped && !isOwnFolder
            // Tasks that are added together keep their order.
            task.position = task.position.moved(by: index)
            return task
        }
    }

    /// Returns a task with the options that apply to all of them.
    private func task(_ task: NewTask) throws -> NewTask {
        let mask = umask(0)
        umask(mask)
        var task = task
        task.id = id
        task.umask = UInt32(mask)
        task.refreshCommand = try ScriptOptions.words(goingOn.refreshURL, "--refresh-url") ?? []
        task.tags = tag
        task.isPaused = paused
        task.isAgain = again
        task.keepsNoSecrets = noStoreSecrets
        task.position = first ? .first : at.map { .at($0) } ?? .last
        task.options.makePathsAbsolute()
        // With `--auto-rename`, the name is only a preference.
        if task.options.naming.numbersTaken { task.place.isNameGiven = false }
        return task
    }

    private func place(in folder: String) -> QueueTask.Place {
        if let path = goingOn.part ?? placing.path { return Self.place(.file(path), in: nil) }
        return QueueTask.Place(root: folder)
    }

    /// The path of `--output`.
    private var output: String? { placing.output }

    /// The folder of `--directory`.
    private var directory: String? { placing.directory }

    /// Returns a destination relative to `root` if it is inside it, otherwise with its own root.
    static func place(_ destination: Destination, in root: String?) -> QueueTask.Place {
        let (folder, name): (String, String?)
        switch destination {
        case .file(let path):
            let target = FileTarget(path: path)
            (folder, name) = (Paths.absolute(target.folder), target.name)
        case .folder(let path): (folder, name) = (Paths.absolute(path), nil)
        default: (folder, name) = (root ?? "/", nil)
        }
        guard let root, folder == root || folder.hasPrefix(root.hasSuffix("/") ? root : root + "/")
        else { return QueueTask.Place(root: folder, name: name) }
        let below = folder.dropFirst(root.count).drop { $0 == "/" }
        return QueueTask.Place(root: root, folder: String(below), name: name)
    }

    /// Returns the library's options with secrets from files and prompts.
    private func given() throws -> DownloadOptions {
        var options = options
        options.access = try access.read()
        return options
    }

    /// The library's options.
    private var options: DownloadOptions {
        var options = request.downloadOptions
        options.connections = connections
        options.checksum = checksum
        options.overwrite = overwrite
        options.continuesExisting = laterRuns.continue && !overwrite
        options.resumeUnverified = resumeUnverified
        options.singleRequest = singleRequest
        goingOn.apply(to: &options)
        options.limits = limits.options
        options.limits.rate = limits.limitRate.flatMap { $0 > 0 ? $0 : nil }
        options.mirrors = sources.mirrors
        files.apply(to: &options.files)
        laterRuns.apply(to: &options.files)
        options.naming = names.naming
        return options
    }

    /// Parses the value of `--id`.
    static func id(_ text: String) throws -> QueueTask.ID {
        guard let id = QueueTask.ID(text) else {
            throw ValidationError("`--id` takes 16 lower-case hexadecimal digits")
        }
        return id
    }
}

extension DownloadOptions {
    /// Makes the paths absolute, because the worker may run in another folder.
    ///
    /// The paths of credentials and certificates keep their symbolic links: a link may later lead
    /// to a renewed file.
    mutating func makePathsAbsolute() {
        adopt = adopt.map(Paths.absolute)
        caCertificate = caCertificate.map(Paths.fromRoot)
        if let file = hub?.file { hub?.file = Paths.fromRoot(file) }
        access.netrcFile = access.netrcFile.map(Paths.fromRoot)
        access.cookieFile = access.cookieFile.map(Paths.fromRoot)
        access.clientCertificate = access.clientCertificate.map(Paths.fromRoot)
        access.clientKey = access.clientKey.map(Paths.fromRoot)
        if !access.pinsHashes {
            access.pinnedPublicKey = access.pinnedPublicKey.map(Paths.fromRoot)
        }
        if case .madeBelow(let folders) = files.missingFolders {
            files.missingFolders = .madeBelow(folders.map(Paths.absolute))
        }
    }
}
