import ArgumentParser
import Glibc
import SeggetFormats
import SeggetReports

/// A command line, from its arguments to the running command.
package struct Invocation {
    private let program: Program
    private let typed: [String]

    /// Creates the invocation of a program.
    ///
    /// - Parameters:
    ///   - arguments: The command line without the program's name.
    ///   - program: The program that runs the command line.
    init(_ arguments: [String], of program: Program) {
        self.program = program
        typed = Self.commandFirst(arguments, of: program)
    }

    /// Moves a command in front of the options that precede it.
    ///
    /// For example, in `segget --no-config verify FILE`.
    static func commandFirst(_ arguments: [String], of program: Program) -> [String] {
        let commands = program.root.configuration.subcommands.map { $0._commandName }
        guard arguments.first?.hasPrefix("-") == true,
            let place = arguments.firstIndex(where: commands.contains)
        else { return arguments }
        guard case .options = judge(arguments[..<place], by: program.tree) else { return arguments }
        return [arguments[place]] + arguments[..<place] + arguments[(place + 1)...]
    }

    /// The kind of the arguments that precede a word that may be a command.
    enum Before {
        /// Options, with all of their values.
        case options
        /// An option that no command has.
        case unknownOption
        /// A possible URL, or an option whose value may be the word.
        case others
    }

    /// Classifies the arguments that precede a word that may be a command.
    static func judge(_ arguments: ArraySlice<String>, by tree: CommandTree) -> Before {
        var before = arguments
        while let argument = before.popFirst() {
            let name = argument.prefix { $0 != "=" }
            let options = tree.commands.lazy.flatMap(\.options).filter { option in
                option.names.contains { "--\($0)" == name }
                    || option.letters.contains { "-\($0)" == argument }
            }
            guard !options.isEmpty else {
                return argument.hasPrefix("-") && argument != "--" ? .unknownOption : .others
            }
            // A flag of one command may take a value in another.
            guard options.contains(where: { !$0.isFlag }), !argument.contains("=") else { continue }
            guard before.popFirst() != nil else { return .others }
        }
        return .options
    }

    /// Runs the command line, and ends the process.
    func run() -> Never {
        if let topic = HelpText.topic(in: typed, of: program) { Self.end(topic) }
        if let word = typed.first, !program.commandNames.contains(word) {
            Self.refuse(word, program)
        }
        let settings: Settings
        do throws(Settings.LoadError) {
            settings = try read()
        } catch {
            Self.refuse(error.message, hint: error.hint)
        }
        do {
            Program.note(configured: settings.settings.map(\.name))
            var command = try program.root.parseAsRoot(settings.arguments)
            if let get = command as? GetCommand { check(get) }
            for warning in settings.warnings { Self.say(Message(.note, warning)) }
            if let bench = command as? BenchCommand {
                try bench.run(arguments: settings.arguments)
            } else {
                try command.run()
            }
            program.root.exit()
        } catch {
            end(error, settings)
        }
    }

    /// Parses the command line with the settings of the environment and the configuration file.
    ///
    /// - Returns: The command.
    /// - Throws: `Settings.LoadError`, or the parser's error.
    func command() throws -> any ParsableCommand {
        try program.root.parseAsRoot(try read().arguments)
    }

    /// Ends the process on a mistyped command, or on `--queue` without `--enqueue`.
    private func check(_ command: GetCommand) {
        if typed.first != "get", let word = command.urls.first { Self.refuse(word, program) }
        // `--queue` was once a flag: a URL after it would be read as the queue's file.
        guard !command.queueing.enqueue, QueueFileOption.isTyped(in: typed) else { return }
        Self.refuse(
            "`--queue` names the queue's file, and `get` uses no queue without `--enqueue`",
            hint: QueueFileOption.instead)
    }

    /// Ends the process if a word is neither a command nor a URL.
    private static func refuse(_ word: String, _ program: Program) {
        guard let unknown = UnknownCommand(word, among: program.commandNames) else { return }
        refuse(unknown.message, hint: unknown.hint)
    }

    /// Reads the environment and the configuration file, unless only help is requested.
    private func read() throws(Settings.LoadError) -> Settings {
        let isAside =
            typed.isEmpty || typed.first == "help"
            || typed.contains { argument in
                ["--help", "-h", "--version", "---completion"].contains(argument)
                    || argument.hasPrefix("--generate-completion-script")
                    || argument.hasPrefix("--experimental-dump-help")
            }
        guard !isAside else { return Settings(typed) }
        let variable = EnvironmentText.value
        let file = try Self.file(typed, variable)
        let isPlain =
            file?.lines.isEmpty != false && !Self.environmentHasOptions
            && !typed.contains { $0.hasSuffix("=true") || $0.hasSuffix("=false") }
        guard !isPlain else { return Settings(typed) }
        return try Settings(typed, environment: variable, file: file, tree: program.tree)
    }

    private static var environmentHasOptions: Bool {
        var next = environ
        while let variable = next.pointee {
            if strncmp(variable, "SEGGET_", 7) == 0 { return true }
            next += 1
        }
        return false
    }

    /// Returns the configuration file to use, or `nil` if there is none.
    private static func file(
        _ typed: [String], _ variable: (String) -> String?
    ) throws(Settings.LoadError) -> ConfigurationFile? {
        let typed = typed.prefix { $0 != "--" }
        var named = variable("SEGGET_CONFIG").flatMap { $0.isEmpty ? nil : $0 }
        let isUnwanted = ["1", "true", "yes"].contains(variable("SEGGET_NO_CONFIG") ?? "")
        guard !typed.contains("--no-config"), !isUnwanted else { return nil }
        for (index, argument) in typed.enumerated() {
            if argument == "--config", index + 1 < typed.count { named = typed[index + 1] }
            if argument.hasPrefix("--config=") { named = String(argument.dropFirst(9)) }
        }
        let home = variable("HOME").flatMap { $0.isEmpty ? nil : $0 }
        if named == nil, let name = configurationHome, EnvironmentText.isUnreadable(name) {
            say(
                Message(
                    .note,
                    "the environment variable \(Diagnostic.quote(name)) is not UTF-8: no "
                        + "configuration file is read"))
            return nil
        }
        if let named, PathText.isURL(named) {
            throw Settings.LoadError(
                message: "`--config` takes the path of a file, not a URL",
                hint: "so does the environment variable `SEGGET_CONFIG`")
        }
        guard let path = named ?? defaultPath(variable) else { return nil }
        guard let (text, isReadableByOthers) = ConfigurationFile.read(path) else {
            let code = errno
            guard named != nil || ![ENOENT, ENOTDIR].contains(code) else { return nil }
            throw Settings.LoadError(
                message: "the configuration file \(Diagnostic.quote(path)) cannot be read: "
                    + Diagnostic.describe(errno: code),
                hint: "check the file, or use `--no-config`")
        }
        do throws(ConfigurationFile.LineError) {
            return ConfigurationFile(
                path: path, lines: try ConfigurationFile.lines(of: text, home: home),
                isReadableByOthers: isReadableByOthers)
        } catch {
            throw Settings.LoadError(
                message: "\(Settings.Source.line(error.number, path: path).text): \(error.text)",
                hint: "a line is `name = value`, with an option's long name")
        }
    }

    /// Returns `$XDG_CONFIG_HOME/segget/config` or `~/.config/segget/config`.
    ///
    /// The XDG Base Directory Specification requires that a relative `XDG_CONFIG_HOME` is ignored.
    static func defaultPath(_ variable: (String) -> String?) -> String? {
        if let folder = variable("XDG_CONFIG_HOME"), folder.hasPrefix("/") {
            return folder + "/segget/config"
        }
        guard let home = variable("HOME"), !home.isEmpty else { return nil }
        return home + "/.config/segget/config"
    }

    /// The environment variable that determines the folder of the configuration file.
    private static var configurationHome: String? {
        ["XDG_CONFIG_HOME", "HOME"].first { getenv($0).map { $0.pointee != 0 } ?? false }
    }

    // MARK: Errors

    /// Ends the process with the parser's message about the command line or the settings.
    private func end(_ error: any Error, _ settings: Settings) -> Never {
        guard program.root.exitCode(for: error).rawValue == ExitStatus.usage.rawValue else {
            if program.root.message(for: error) == program.root.configuration.version {
                Self.end(.text(VersionText.full))
            }
            let text = program.root.fullMessage(for: error)
            if text.hasPrefix("OVERVIEW:") {
                Self.end(.text(HelpText.ownOptionsFirst(text) + "\n"))
            }
            program.root.exit(withError: error)
        }
        if let (culprit, problem) = culprit(settings) {
            Self.refuse(
                "\(culprit.source.text): \(text(of: problem, settings))",
                hint: "correct the setting, or use `--no-config`")
        }
        if QueueFileOption.lacksValue(in: typed) {
            Self.refuse(QueueFileOption.withoutValue, hint: QueueFileOption.instead)
        }
        let tree = program.tree
        if let command = tree.command(of: typed) ?? tree.commands.first,
            let (option, hint) = ForeignOptions.hint(for: typed, in: command)
        {
            Self.refuse("there is no option `\(option)`", hint: hint)
        }
        let full = hide(program.root.fullMessage(for: error), typed)
        StandardStreams.write(full + "\n", to: STDERR_FILENO)
        Glibc.exit(ExitStatus.usage.rawValue)
    }

    /// Returns the first setting that makes a valid command line invalid, and the parser's error.
    private func culprit(_ settings: Settings) -> (Settings.Setting, any Error)? {
        guard !settings.settings.isEmpty else { return nil }
        for count in 0...settings.settings.count {
            do {
                _ = try program.root.parseAsRoot(settings.arguments(first: count))
            } catch {
                return count == 0 ? nil : (settings.settings[count - 1], error)
            }
        }
        return nil
    }

    private func text(of error: any Error, _ settings: Settings) -> String {
        hide(program.root.message(for: error), settings.arguments)
    }

    /// Removes possible secrets from the parser's message.
    ///
    /// A quoted value that is more than a word or a number counts as a possible secret.
    private func hide(_ message: String, _ arguments: [String]) -> String {
        arguments.reduce(message) { message, argument in
            var values = [argument[...]]
            if argument.hasPrefix("-") {
                values = [argument.drop { $0 != "=" }.dropFirst()]
                // The value may follow the letter directly, as in `-oFILE`.
                if !argument.hasPrefix("--") { values.append(argument.dropFirst(2)) }
            }
            return values.reduce(message) { Self.hide($1, in: $0) }
        }
    }

    private static func hide(_ value: Substring, in message: String) -> String {
        let isPlain = value.utf8.allSatisfy { byte in
            let character = Character(Unicode.Scalar(byte))
            return character.isLetter || character.isNumber || ".+-_".contains(character)
        }
        if isPlain || isDigest(value, in: message) { return message }
        return message.replacing("'\(value)'", with: "(not shown)")
    }

    /// Whether a value was given to `--checksum` and looks like a digest, which is public.
    private static func isDigest(_ value: Substring, in message: String) -> Bool {
        let parts = value.split(maxSplits: 1, omittingEmptySubsequences: false) {
            $0 == ":" || $0 == "="
        }
        let isWord =
            parts.count == 2
            && parts.allSatisfy {
                $0.utf8.allSatisfy { byte in
                    let character = Character(Unicode.Scalar(byte))
                    return byte < 0x80
                        && (character.isLetter || character.isNumber || "-_".contains(character))
                }
            }
        return isWord && message.contains("The value '\(value)' is invalid for '--checksum ")
    }

    /// Prints an error and a hint, and ends the process with the exit code for wrong usage.
    package static func refuse(_ message: String, hint: String) -> Never {
        say(Message(.error, message))
        say(Message(.hint, hint))
        Glibc.exit(ExitStatus.usage.rawValue)
    }

    private static func end(_ topic: HelpText.Topic) -> Never {
        switch topic {
        case .text(let text):
            Glibc.exit(
                StandardStreams.write(text, to: STDOUT_FILENO) ? 0 : ExitStatus.disk.rawValue)
        case .unknown(let name, let hint):
            refuse("there is no command or topic `\(name)`", hint: hint)
        }
    }

    private static func say(_ message: Message) {
        let line = message.line(colour: Terminal.standardError.colour)
        StandardStreams.write(line + "\n", to: STDERR_FILENO)
    }
}
