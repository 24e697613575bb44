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
