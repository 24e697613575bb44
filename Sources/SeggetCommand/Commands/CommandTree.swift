import ArgumentParser
import FoundationEssentials

/// The commands and their options, as the parser describes them.
package struct CommandTree: Sendable {
    /// An option or flag of a command.
    struct Option: Sendable {
        /// The long names, without dashes.
        var names: [String] = []
        /// The short names.
        var letters: [Character] = []
        /// Whether the option takes no value.
        var isFlag = false
        /// Whether the option may be repeated, and all of its values count.
        var isRepeating = false
        /// Whether the help shows the option.
        var isShown = true
    }

    /// A command with its options.
    struct Command: Sendable {
        var name: String
        var abstract: String
        var options: [Option]
        /// The titles of the option groups, in order.
        var titles: [String]

        /// Returns the option with this long name.
        func option(_ name: String) -> Option? { options.first { $0.names.contains(name) } }
    }

    /// The commands that the help shows, the default command first.
    let commands: [Command]

    /// Reads the parser's own description of the commands (`--experimental-dump-help`).
    ///
    /// - Parameter root: The root command.
    init(of root: any ParsableCommand.Type) {
        let first = root.configuration.defaultSubcommand?.configuration.commandName
        commands = Self.read(root).sorted { $0.name == first && $1.name != $0.name }
    }

    /// Returns the command that the arguments begin with, or `nil` if they name none.
    func command(of arguments: [String]) -> Command? {
        commands.first { $0.name == arguments.first }
    }

    /// The long names of all options that the help shows.
    var allNames: Set<String> {
        Set(commands.flatMap { $0.options.filter(\.isShown).flatMap(\.names) })
    }

    /// Returns the known name that is most similar to a mistyped one, or `nil` if none is similar.
    static func nearest(to name: String, among names: some Collection<String>) -> String? {
        // Among equally similar names, the one with the longest common prefix wins.
        let near = names.map {
            (Self.distance($0, name), -zip($0, name).prefix { $0 == $1 }.count, $0)
        }
        .min { $0 < $1 }
        guard let near, near.0 <= (name.count < 4 ? 1 : name.count < 9 ? 2 : 3) else { return nil }
        return near.2
    }

    /// Returns the Levenshtein distance: the letters to insert, delete or replace.
    static func distance(_ first: String, _ second: String) -> Int {
        let second = Array(second)
        var row = Array(0...second.count)
        for (index, letter) in first.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in second.indices {
                let change = diagonal + (second[column] == letter ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(change, diagonal + 1, row[column] + 1)
            }
        }
        return row[second.count]
    }

    // MARK: The parser's description

    private struct Dump: Decodable {
        struct Command: Decodable {
            var commandName: String
            var abstract: String?
            var shouldDisplay: Bool
            var subcommands: [Command]?
            var arguments: [Argument]?
        }
        struct Argument: Decodable {
            struct Name: Decodable {
                var kind: String
                var name: String
            }
            var kind: String
            var names: [Name]?
            var shouldDisplay: Bool
            var isRepeating: Bool
            var sectionTitle: String?
        }
        var command: Command
    }

    private static func read(_ root: any ParsableCommand.Type) -> [Command] {
        var text = ""
        do {
            _ = try root.parseAsRoot(["--experimental-dump-help"])
        } catch {
            text = root.fullMessage(for: error)
        }
        guard let dump = try? JSONDecoder().decode(Dump.self, from: Data(text.utf8)) else {
            preconditionFailure("the parser describes itself otherwise than expected")
        }
        return (dump.command.subcommands ?? []).filter {
            $0.shouldDisplay && $0.commandName != "help"
        }.map { command in
            let arguments = command.arguments ?? []
            var titles: [String] = []
            for title in arguments.filter(\.shouldDisplay).compactMap(\.sectionTitle)
            where !titles.contains(title) {
                titles.append(title)
            }
            return Command(
                name: command.commandName, abstract: command.abstract ?? "",
                options: arguments.filter { $0.kind != "positional" }.map(option), titles: titles)
        }
    }

    private static func option(_ argument: Dump.Argument) -> Option {
        let names = argument.names ?? []
        return Option(
            names: names.filter { $0.kind == "long" }.map(\.name),
            letters: names.filter { $0.kind == "short" }.compactMap(\.name.first),
            isFlag: argument.kind == "flag", isRepeating: argument.isRepeating,
            isShown: argument.shouldDisplay)
    }
}
