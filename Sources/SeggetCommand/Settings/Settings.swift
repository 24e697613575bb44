// Settings: the configuration file, the environment, and secrets in files. The code here knows
// where they are and which of them wins, but not what an option does.

import Glibc
import SeggetFormats
import SeggetReports

/// The options from the command line, the environment and the configuration file.
///
/// The command line overrides the environment, which overrides the configuration file. Options from
/// the environment and the file are inserted before the typed ones, so that one parser checks all.
struct Settings {
    /// The source of a setting.
    enum Source: Equatable {
        case line(Int, path: String)
        case variable(String)

        /// The source as text for messages.
        var text: String {
            switch self {
            case .line(let number, let path): "\(Diagnostic.quote(path)), line \(number)"
            case .variable(let name): "the environment variable `\(name)`"
            }
        }
    }

    /// An option that was set outside the command line.
    struct Setting: Equatable {
        var name: String
        /// The option as command line arguments.
        var arguments: [String]
        var source: Source
    }

    /// The reason why the command cannot run.
    struct LoadError: Error, Equatable {
        var message: String
        var hint: String
    }

    /// Groups of options that exclude each other.
    ///
    /// An option of a group hides the others of the group in sources of lower rank.
    private static let alternatives: [Set<String>] = [
        ["output", "name", "directory", "continue-from"], ["quiet", "verbose"],
        ["overwrite", "auto-rename", "skip-existing"], ["skip-existing", "timestamping"],
        ["ipv4", "ipv6"], ["user", "bearer-fd"], ["recover", "directory"], ["recover", "output"],
        ["recover", "name"],
        ["recover", "auto-rename"], ["recover", "remote-name"],
    ]
    /// Options that are accepted on the command line only.
    private static let typedOnly: Set<String> = [
        "config", "no-config", "cookie-jar", "help", "version", "name",
    ]
    /// Options that the environment cannot set.
    private static let notInEnvironment: Set<String> = ["negotiate"]
    /// Options that have another meaning in a command than elsewhere, by command.
    private static let ownMeaning: [String: Set<String>] = [
        "bench": ["connections", "max-time", "overwrite"],
        // For `add`, `json` applies to the output of `--attach` only.
        "add": ["json"],
    ]
    /// Options whose values may be secret.
    private static let secret = Set(
        TransferOption.table.filter(\.isSecret).flatMap(\.names).filter { name in
            // The number of a descriptor is not secret.
            if case .part = name.meaning { return false }
            return name.surfaces.contains(.commandLine)
        }.map(\.text))

    /// The name of the command, if it was typed.
    private(set) var command: [String] = []
    /// The settings that apply, in order.
    private(set) var settings: [Setting] = []
    /// The arguments that were typed after the command.
    private(set) var typed: [String] = []
    /// The warnings to print.
    private(set) var warnings: [String] = []

    /// All arguments for the parser.
    var arguments: [String] { arguments(first: settings.count) }

    /// Returns the arguments for the parser with only the first settings.
    func arguments(first count: Int) -> [String] {
        command + settings.prefix(count).flatMap(\.arguments) + typed
    }

    /// Creates settings that consist of the command line only.
    init(_ arguments: [String]) { typed = arguments }

    /// Combines the command line with the environment and the configuration file.
    ///
    /// Pure: the result depends on the arguments only.
    ///
    /// - Parameters:
    ///   - arguments: The command line without the program's name.
    ///   - environment: Returns the value of an environment variable.
    ///   - file: The configuration file.
    ///   - tree: The commands and their options.
    /// - Throws: `LoadError`, for an invalid line of the file.
    init(
        _ arguments: [String], environment: (String) -> String?, file: ConfigurationFile?,
        tree: CommandTree
    ) throws(LoadError) {
        let named = tree.command(of: arguments)
        command = named.map { [$0.name] } ?? []
        guard let options = named ?? tree.commands.first else { return }
        var silenced = take(Array(arguments.dropFirst(command.count)), options)
        let variables = Self.settings(in: environment, options)
        let fromVariables = keep(variables, options, &silenced)
        let fromFile = keep(try Self.settings(in: file, options, tree), options, &silenced)
        settings = fromFile + fromVariables
        if let file, file.isReadableByOthers,
            let secret = file.lines.first(where: { Self.secret.contains($0.name) })
        {
            warnings = [
                "other users can read \(Diagnostic.quote(file.path)), which sets "
                    + "`\(secret.name)`: restrict access with `chmod 600`"
            ]
        }
    }

    /// Adds the typed arguments, in which a flag may have `=true` or `=false`.
    ///
    /// - Returns: The names of options that the environment and the file can no longer set.
    private mutating func take(
        _ arguments: [String], _ command: CommandTree.Command
    ) -> Set<String> {
        var given: Set<String> = []
        for (index, argument) in arguments.enumerated() {
            guard argument != "--" else {
                typed += arguments[index...]
                break
            }
            guard argument.hasPrefix("-") else {
                typed.append(argument)
                continue
            }
            guard argument.hasPrefix("--") else {
                given.formUnion(Self.names(inLetters: argument.dropFirst(), command))
                typed.append(argument)
                continue
            }
            let name = String(argument.dropFirst(2).prefix { $0 != "=" })
            given.insert(name)
            let isFlag = command.option(name)?.isFlag == true
            switch isFlag ? argument.dropFirst(2 + name.count) : "" {
            case "=true": typed.append("--\(name)")
            case "=false": break
            case let value:
                typed.append(Self.flag(name, String(value.dropFirst())) ?? argument)
            }
        }
        return Self.silenced(by: given, command)
    }

    private static func names(
        inLetters letters: Substring, _ command: CommandTree.Command
    ) -> Set<String> {
        var names: Set<String> = []
        for letter in letters {
            guard let option = command.options.first(where: { $0.letters.contains(letter) })
            else { break }
            names.formUnion(option.names)
            // The rest of the word is the value of this option.
            if !option.isFlag { break }
        }
        return names
    }

    private static func silenced(
        by names: Set<String>, _ command: CommandTree.Command
    ) -> Set<String> {
        let single = names.filter { command.option($0)?.isRepeating == false }
        return alternatives.filter { !$0.isDisjoint(with: names) }.reduce(single) { $0.union($1) }
    }

    /// Returns a source's settings that no source of higher rank hides, and extends `silenced`.
    private func keep(
        _ settings: [(Setting, isOn: Bool)], _ command: CommandTree.Command,
        _ silenced: inout Set<String>
    ) -> [Setting] {
        let kept = settings.filter { !silenced.contains($0.0.name) }
        silenced.formUnion(Self.silenced(by: Set(kept.map(\.0.name)), command))
        // Within a source, a later line overrides an earlier one.
        return kept.enumerated().filter { index, setting in
            setting.isOn
                && (command.option(setting.0.name)?.isRepeating == true
                    || !kept[(index + 1)...].contains { $0.0.name == setting.0.name })
        }.map(\.element.0)
    }

    /// Whether the environment or the configuration file can set an option of a command.
    private static func isSettable(_ name: String, _ command: CommandTree.Command) -> Bool {
        if let queued = QueueCommandName(rawValue: command.name), let names = queued.settable {
            return names.contains(name)
        }
        return !typedOnly.contains(name) && ownMeaning[command.name]?.contains(name) != true
            && TransferOption.typed(name)?.option.places.contains(.configuration) != false
    }

    private static func settings(
        in environment: (String) -> String?, _ command: CommandTree.Command
    ) -> [(Setting, isOn: Bool)] {
        var result: [(Setting, isOn: Bool)] = []
        for option in command.options where option.isShown {
            for name in option.names
            where isSettable(name, command) && !notInEnvironment.contains(name) {
                let variable = variable(for: name)
                guard let text = environment(variable), !text.isEmpty else { continue }
                // A variable may have several values, separated by line breaks, which no value
                // contains.
                let values =
                    option.isRepeating ? text.split(separator: "\n").map(String.init) : [text]
                result += values.map {
                    setting(name, $0, option, .variable(variable))
                }
            }
        }
        return result
    }

    private static func settings(
        in file: ConfigurationFile?, _ command: CommandTree.Command, _ tree: CommandTree
    ) throws(LoadError) -> [(Setting, isOn: Bool)] {
        var result: [(Setting, isOn: Bool)] = []
        for line in file?.lines ?? [] {
            let source = Source.line(line.number, path: file?.path ?? "")
            guard !typedOnly.contains(line.name) else {
                throw LoadError(
                    message: "\(source.text): `\(line.name)` can only be given on the command line",
                    hint: "remove it from the file")
            }
            // The option belongs to `segget-manager`.
            if !tree.allNames.contains(line.name), QueueCommandName.options.contains(line.name) {
                continue
            }
            guard tree.allNames.contains(line.name) else {
                let near = CommandTree.nearest(
                    to: line.name, among: tree.allNames.subtracting(typedOnly))
                throw LoadError(
                    message: "\(source.text): there is no option `\(line.name)`",
                    hint: ForeignOptions.text(for: "--\(line.name)")
                        ?? near.map { "did you mean `\($0)`?" }
                        ?? "`segget help get` lists the options")
            }
            // The option belongs to another command.
            guard let option = command.option(line.name), isSettable(line.name, command)
            else { continue }
            guard option.isFlag || line.value != nil else {
                throw LoadError(
                    message: "\(source.text): `\(line.name)` needs a value",
                    hint: line.name == "queue"
                        ? "give it as `queue = FILE`; \(QueueFileOption.instead)"
                        : "give it as `\(line.name) = VALUE`")
            }
            result.append(setting(line.name, line.value, option, source))
        }
        return result
    }

    private static func setting(
        _ name: String, _ value: String?, _ option: CommandTree.Option, _ source: Source
    ) -> (Setting, isOn: Bool) {
        let value = value ?? ""
        guard option.isFlag else {
            // The parser treats an empty value after `=` as missing.
            let arguments = value.isEmpty ? ["--\(name)", ""] : ["--\(name)=\(value)"]
            return (Setting(name: name, arguments: arguments, source: source), true)
        }
        // The parser refuses any other value.
        let isOff = ["false", "no", "0"].contains(value)
        let isOn = ["", "true", "yes", "1"].contains(value)
        let argument =
            flag(name, value) ?? (isOn || isOff ? "--\(name)" : "--\(name)=\(value)")
        return (Setting(name: name, arguments: [argument], source: source), !isOff)
    }

    /// Returns the argument for a flag whose value names one of several; `nil` for any other flag or value.
    ///
    /// `--json=1` is the only one: format 1 of `--json`, beside format 2.
    private static func flag(_ name: String, _ value: String) -> String? {
        switch (name, value) {
        case ("json", "1"): "--json-1"
        case ("json", "2"): "--json"
        default: nil
        }
    }

    /// Returns the name of an option's environment variable.
    static func variable(for name: String) -> String {
        "SEGGET_" + name.uppercased().replacing("-", with: "_")
    }
}
