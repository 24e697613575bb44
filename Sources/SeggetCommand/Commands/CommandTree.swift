import ArgumentParser
import FoundationEssentials

/// The commands and their options, as the parser describes them.
package struct CommandTree: Sendable {
    /// An option or flag of a command.
    struct Option: Sendable {
        /// Its long names, without dashes.
        var names: [String] = []
        /// Its short names.
        var letters: [Character] = []
        /// Whether it takes no value.
        var isFlag = false
        /// Whether it may be given several times, each time adding to the others.
        var isRepeating = false
        /// Whether the help shows it.
        var isShown = true
    }

    /// A command with its options.
    struct Command: Sendable {
        var name: String
        var abstract: String
        var options: [Option]
        /// The titles of its groups of options, in order.
        var titles: [String]

        /// The option of a long name.
        func option(_ name: String) -> Option? { options.first { $0.names.contains(name) } }
    }

    /// The commands that are shown, the default one first.
    let commands: [Command]

    /// Reads what the parser says about itself.
    ///
    /// - Parameter root: What the commands stand below.
    init(of root: any ParsableCommand.Type) {
        let first = root.configuration.defaultSubcommand?.configuration.commandName
        commands = Self.read(root).sorted { $0.name == first && $1.name != $0.name }
    }

    /// The command that the arguments begin with; `nil` where the default one is meant.
    func command(of arguments: [String]) -> Command? {
        commands.first { $0.name == arguments.first }
    }

    /// Every long name that some command shows.
    var allNames: Set<String> {
        Set(commands.flatMap { $0.options.filter(\.isShown).flatMap(\.names) })
    }

    /// The known name that a wrong one may have been meant as.
    static func nearest(to name: String, among names: some Collection<String>) -> String? {
        // Of two that are as near, the one that begins alike.
        let near = names.map {
            (Self.distance($0, name), -zip($0, name).prefix { $0 == $1 }.count, $0)
        }
        .min { $0 < $1 }
        guard let near, near.0 <= (name.count < 4 ? 1 : name.count < 9 ? 2 : 3) else { return nil }
        return near.2
    }

    /// How many letters have to be added, taken away or replaced (Levenshtein).
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

    // MARK: What the parser says

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
