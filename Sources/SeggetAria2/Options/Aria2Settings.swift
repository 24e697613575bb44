import Segmenter

/// The settings of a run of the drop-in for aria2c, from the command line, configuration file and
/// environment.
package struct Aria2Settings: Sendable {
    /// The action that the command line requests.
    package enum Action: Sendable, Hashable {
        case download
        /// Print the options of a tag, or those whose names contain a word; `nil` selects those
        /// that have an effect.
        case help(String?)
        case version
    }

    /// The sources of the settings.
    package struct Surroundings: Sendable {
        /// The environment variables.
        package var environment: [String: String]
        /// The home folder.
        package var home: String
        /// Returns the text of a file; `nil` if it cannot be read.
        package var read: @Sendable (String) -> String?
        /// Returns whether a file exists at a path.
        package var exists: @Sendable (String) -> Bool

        package init(
            environment: [String: String], home: String,
            read: @escaping @Sendable (String) -> String?,
            exists: @escaping @Sendable (String) -> Bool
        ) {
            self.environment = environment
            self.home = home
            self.read = read
            self.exists = exists
        }
    }

    /// The requested action.
    package private(set) var action = Action.download
    /// The arguments that are not options, in order; ignored if there is an input file.
    package private(set) var uris: [String] = []
    /// The options of all downloads.
    package private(set) var options = Aria2Options()
    /// The options of the command line as typed, with all repetitions.
    package private(set) var typed: [(name: String, value: String)] = []
    /// The warnings to print before the run starts.
    package private(set) var warnings: [String] = []
    /// The home folder.
    let home: String

    /// Sets the folder of the files, unless `dir` is given.
    package mutating func useFolder(_ path: String) {
        if options["dir"] == nil { options.set("dir", path) }
    }

    /// Reads the command line, the environment and the configuration file.
    ///
    /// The command line has priority over the environment, and the environment over the
    /// configuration file.
    ///
    /// - Parameters:
    ///   - words: The arguments after the program's name.
    ///   - program: The program's name, for messages.
    ///   - surroundings: The other sources.
    /// - Returns: The settings; only the action if help or the version is requested.
    /// - Throws: `Aria2Refusal`, if an option is unknown, invalid or refused.
    package static func read(
        _ words: [String], program: String = "aria2c", in surroundings: Surroundings
    ) throws(Aria2Refusal) -> Aria2Settings {
        var settings = Aria2Settings(home: surroundings.home)
        let line = try Aria2CommandLine(words, program: program)
        var own = Aria2Options()
        try settings.take(line, into: &own)
        if own["version"] != nil {
            settings.action = .version
        } else if let keyword = own["help"] {
            settings.action = .help(keyword.isEmpty ? nil : keyword)
        }
        guard settings.action == .download else { return settings }
        if own.flag("no-conf") != true {
            try settings.takeFile(own.text("conf-path"), in: surroundings)
        }
        settings.takeEnvironment(surroundings.environment)
        settings.options.inherit()
        try settings.take(line, into: &settings.options)
        settings.uris = line.uris
        settings.typed = line.options.map { ($0.option.name, $0.value) }
        try settings.check(surroundings)
        return settings
    }

    private init(home: String) { self.home = home }

    private func take(
        _ line: Aria2CommandLine, into options: inout Aria2Options
    ) throws(Aria2Refusal) {
        for (option, value) in line.options {
            do throws(Aria2Option.BadValue) {
                try options.take(option, value, home: home)
            } catch {
                throw .value(option, error)
            }
        }
    }

    private mutating func takeFile(
        _ path: String?, in surroundings: Surroundings
    ) throws(Aria2Refusal) {
        let folder = surroundings.environment["XDG_CONFIG_HOME"].flatMap {
            $0.hasPrefix("/") ? $0 : nil
        }
        let usual = [
            "\(home)/.aria2/aria2.conf", "\(folder ?? "\(home)/.config")/aria2/aria2.conf",
        ]
        let paths = path.map { [$0] } ?? usual
        guard let found = paths.first(where: surroundings.exists),
            let text = surroundings.read(found)
        else {
            guard let path else { return }
            throw Aria2Refusal(["Configuration file \(path) is not found."] + Aria2Refusal.usage)
        }
        guard !text.unicodeScalars.contains("\u{fffd}") else {
            throw Aria2Refusal(["Configuration file \(found) is not UTF-8."])
        }
        for row in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let row = String(decoding: row, as: UTF8.self)
            guard let (name, value) = Aria2List.option(in: row), name.first != "#" else { continue }
            guard let option = Aria2Option.named(name) else {
                warnings.append("Unknown option: \(Aria2List.printable(name))")
                continue
            }
            do throws(Aria2Option.BadValue) {
                try options.take(option, value, home: home)
            } catch {
                let refusal = Aria2Refusal.value(option, error)
                throw Aria2Refusal(
                    code: refusal.code, ["Parse error in \(found)"] + refusal.lines)
            }
        }
    }

    private mutating func takeEnvironment(_ environment: [String: String]) {
        for variable in ["http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy"] {
            guard let value = environment[variable],
                let option = Aria2Option.named(variable.replacing("_", with: "-"))
            else { continue }
            do throws(Aria2Option.BadValue) {
                try options.take(option, value, home: home)
            } catch {
                warnings.append(
                    "Caught Error while parsing environment variable '\(variable)': \(error.text)")
            }
        }
    }

    /// Refuses options that restrict access to the service in ways that segget does not support.
    private func checkService() throws(Aria2Refusal) {
        guard isService else { return }
        for (name, reason) in [
            ("rpc-user", "use --rpc-secret"), ("rpc-passwd", "use --rpc-secret"),
            ("rpc-secure", "use a reverse proxy for TLS"),
        ] {
            guard let value = options[name], !value.isEmpty, value != "false" else { continue }
            throw Aria2Refusal(["--\(name): segget's service does not support it; \(reason)"])
        }
    }

    /// Refuses options for unsupported downloads, and warns about options without effect.
    private mutating func check(_ surroundings: Surroundings) throws(Aria2Refusal) {
        for option in Aria2Option.table {
            guard let value = options[option.name], value != "false", !value.isEmpty else {
                continue
            }
            switch option.treatment {
            case .refused(let reason):
                throw Aria2Refusal(["--\(option.name): \(reason)"])
            case .warned(let reason):
                warnings.append("--\(option.name) changes nothing: \(reason)")
            case .honoured, .accepted, .service: break
            }
        }
        try checkService()
        if let file = options.text("load-cookies"), !surroundings.exists(file) {
            warnings.append("Failed to load cookies from \(file)")
            options.removeAll("load-cookies")
        }
        guard !uris.isEmpty || inputFile != nil || isService else {
            throw Aria2Refusal(["Specify at least one URL."] + Aria2Refusal.usage)
        }
    }
}

/// The downloads of a run.
extension Aria2Settings {
    /// Returns the downloads, in order.
    ///
    /// - Parameter list: The content of the input file; `nil` if there is none.
    /// - Returns: The tasks, and the warnings about parts of the list and options without effect.
    /// - Throws: `Aria2Refusal`, if aria2 would not start.
    package func tasks(
        list: [UInt8]? = nil
    ) throws(Aria2Refusal) -> (tasks: [Aria2Task], warnings: [String]) {
        var reader = TaskReader()
        // Without the service, no client could resume a paused download.
        reader.keepsPause = isService
        guard inputFile != nil else {
            guard !uris.isEmpty else { return ([], []) }
            try reader.take(uris, options, isList: false)
            if let problem = reader.tasks.first(where: { $0.problem?.isFatal == true })?.problem {
                throw .exception(problem.text)
            }
            return (reader.tasks, reader.warnings)
        }
        let list = try Aria2List(list ?? [], home: home)
        var common = options
        common.remove("out")
        for item in list.items {
            try reader.take(item.urls, common.replaced(by: item.options), isList: true)
        }
        return (reader.tasks, list.warnings + reader.warnings)
    }
}

/// Creates tasks from URLs and options.
private struct TaskReader {
    private(set) var tasks: [Aria2Task] = []
    /// Whether a task can start paused.
    var keepsPause = false
    private var taken: Set<Download.ID> = []
    /// The number of URLs that were expanded from patterns.
    private var expanded = 0

    /// The distinct warnings of all tasks.
    var warnings: [String] {
        var seen: Set<String> = []
        return tasks.flatMap(\.warnings).filter { seen.insert($0).inserted }
    }

    /// Adds the URLs of a line or of the command line.
    mutating func take(
        _ words: [String], _ options: Aria2Options, isList: Bool
    ) throws(Aria2Refusal) {
        var (words, options) = (words, options)
        if options.flag("parameterized-uri") == true {
            do throws(Aria2Template.PatternError) {
                var expanded: [String] = []
                for word in words { expanded += try Aria2Template.expanded(word) }
                words = expanded
                self.expanded += expanded.count
                guard self.expanded <= Aria2Template.most else {
                    throw .init(text: "Loop range overflow.")
                }
                // A later run must not expand the URLs of the session file again.
                options.replace("parameterized-uri", with: "false")
            } catch {
                throw .exception(error.text)
            }
        }
        guard options.flag("force-sequential") != true else {
            options.removeAll("out")
            for word in words { add([word], options) }
            return
        }
        // All URLs are mirrors of one file, in any order. Each word that is not a URL is a
        // separate file.
        let areURLs = words.map(Aria2Task.isURL)
        let urls = zip(words, areURLs).filter(\.1).map(\.0)
        if !urls.isEmpty { add(urls, options) }
        for (word, isURL) in zip(words, areURLs) where !isURL { add([word], options) }
    }

    private mutating func add(_ words: [String], _ options: Aria2Options) {
        var seen: Set<String> = []
        var options = options
        let given = options["gid"]
        options.removeAll("gid")
        let isPaused = keepsPause && options.flag("pause") ?? false
        options.removeAll("pause")
        var task = Aria2Task(urls: words.filter { seen.insert($0).inserted }, options: options)
        task.isPaused = isPaused
        if let given {
            // aria2 also accepts capital letters, but not a GID of zeros only.
            if let gid = Download.ID(given.lowercased()), given.contains(where: { $0 != "0" }) {
                if taken.contains(gid) {
                    task.gidProblem = "GID \(gid) is not unique."
                } else {
                    task.gid = gid
                }
            } else {
                task.gidProblem = "\(given) is invalid for GID."
            }
        }
        taken.insert(task.gid)
        tasks.append(task)
    }
}

/// The settings of a run as a whole.
extension Aria2Settings {
    /// An event of a download that can run a command (`--on-download-…`).
    package enum Hook: String, Sendable, Hashable, CaseIterable {
        case start, pause, stop, complete, error
    }

    /// The output options.
    package var console: Aria2Console {
        var console = Aria2Console()
        console.isQuiet = options.flag("quiet") ?? console.isQuiet
        console.usesStandardError = options.flag("stderr") ?? console.usesStandardError
        console.showsReadout = options.flag("show-console-readout") ?? console.showsReadout
        console.cutsReadout = options.flag("truncate-console-readout") ?? console.cutsReadout
        console.summaryInterval = number("summary-interval") ?? console.summaryInterval
        console.isHumanReadable = options.flag("human-readable") ?? console.isHumanReadable
        console.hasColour = options.flag("enable-color") ?? console.hasColour
        console.level = choice("console-log-level") ?? console.level
        console.results = choice("download-result") ?? console.results
        console.log = options.text("log")
        console.logLevel = choice("log-level") ?? console.logLevel
        return console
    }

    /// Whether the run serves JSON-RPC and waits for more downloads (`--enable-rpc`).
    package var isService: Bool { options.flag("enable-rpc") ?? false }
    /// Whether the run continues in the background (`--daemon`).
    package var isDaemon: Bool { options.flag("daemon") ?? false }
    /// The port of JSON-RPC.
    package var port: Int { number("rpc-listen-port") ?? 6800 }
    /// Whether JSON-RPC listens on all interfaces.
    package var listensToAll: Bool { options.flag("rpc-listen-all") ?? false }
    /// The secret that clients must send.
    package var secret: String? { options.text("rpc-secret") }
    /// Whether web pages of any origin may use JSON-RPC.
    package var allowsAllOrigins: Bool { options.flag("rpc-allow-origin-all") ?? false }
    /// The maximum size of a JSON-RPC request, in bytes.
    package var mostRequestBytes: Int? { number("rpc-max-request-size") }

    /// The maximum number of active downloads; `nil` if it is not given.
    package var jobs: Int? { number("max-concurrent-downloads") }
    /// The list of files to download; `-` is standard input.
    package var inputFile: String? { options.text("input-file") }
    /// The session file, which records unfinished downloads at the end.
    package var saveSession: String? { options.text("save-session") }
    /// The interval between two writes of the session file, in seconds; `nil` to write only at the
    /// end.
    package var saveSessionInterval: Int? { positive("save-session-interval") }
    /// The time after which the run ends, in seconds.
    package var stopAfter: Int? { positive("stop") }
    /// The ID of the process at whose end the run ends.
    package var stopWithProcess: Int32? {
        number("stop-with-process").flatMap { Int32(exactly: $0) }
    }
    /// The maximum rate of all downloads together, in bytes per second; 0 is no limit.
    package var overallLimit: Int64 { options.number("max-overall-download-limit") ?? 0 }
    /// The commands to run at events of a download.
    package var hooks: [Hook: String] {
        var hooks: [Hook: String] = [:]
        for hook in Hook.allCases { hooks[hook] = options.text("on-download-\(hook.rawValue)") }
        return hooks
    }

    private func number(_ name: String) -> Int? { options.number(name).map { Int(clamping: $0) } }

    private func positive(_ name: String) -> Int? {
        number(name).flatMap { $0 > 0 ? $0 : nil }
    }

    private func choice<Choice: RawRepresentable<String>>(_ name: String) -> Choice? {
        options[name].flatMap { Choice(rawValue: $0) }
    }
}
