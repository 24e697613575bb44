import ArgumentParser
import SeggetReports

/// Help texts that fit on a screen: an overview, and one for each option group.
enum HelpText {
    /// The outcome of a request for help.
    enum Topic: Equatable {
        /// The text to print.
        case text(String)
        /// No command or topic has this name.
        case unknown(String, hint: String)
    }

    /// Returns the topic of `--help`, `help`, `help TOPIC` or `help COMMAND TOPIC`.
    ///
    /// `nil` if the arguments request the parser's own help, or no help.
    static func topic(in arguments: [String], of program: Program) -> Topic? {
        if [["--help"], ["-h"], ["help"]].contains(arguments) {
            return .text(overview(program))
        }
        guard arguments.first == "help", var name = arguments.last, !name.hasPrefix("-") else {
            return nil
        }
        let command = program.tree.command(of: Array(arguments.dropFirst()))
        if arguments.count == 2, command != nil { return nil }
        guard arguments.count == (command == nil ? 2 : 3) else { return nil }
        name = name.lowercased()
        if command == nil, name == queue, let text = queueText(program) { return .text(text) }
        if command == nil, name == exitCodes { return .text("EXIT CODES:\n\(ExitStatus.help)\n") }
        guard let command = command ?? program.tree.commands.first else { return nil }
        let titles = topics(of: command)
        guard let topic = titles.first(where: { $0 == name || $0 == name + "s" }) else {
            let others = queueText(program) == nil ? [exitCodes] : [queue, exitCodes]
            let known = titles + (arguments.count == 2 ? others : [])
            let near =
                arguments.count == 2
                ? CommandTree.nearest(to: name, among: program.commandNames + known) : nil
            return .unknown(
                name,
                hint: (near.map { "did you mean `segget help \($0)`? " } ?? "")
                    + "topics are \(known.joined(separator: ", "))")
        }
        return sections(of: command, in: program)[topic].map { .text($0) }
    }

    private static let exitCodes = "exit-codes"
    private static let queue = "queue"

    /// Returns the queue's commands and their abstracts, or `nil` if the program has none.
    private static func queueText(_ program: Program) -> String? {
        let commands = program.tree.commands.filter { QueueCommandName(rawValue: $0.name) != nil }
        let rows = commands.map { row($0.name, $0.abstract) + "\n" }
        return rows.isEmpty ? nil : "QUEUE:\n" + rows.joined()
    }

    /// Returns the topics of a command's option groups: `several-files` for "Several files".
    static func topics(of command: CommandTree.Command) -> [String] {
        command.titles.map(topic) + ["options"]
    }

    private static func topic(ofTitle title: String) -> String {
        title.lowercased().replacing(" ", with: "-")
    }

    /// Splits the parser's help of a command into its option groups, keyed by topic.
    static func sections(
        of command: CommandTree.Command, in program: Program
    ) -> [String: String] {
        let type = program.root.configuration.subcommands.first { $0._commandName == command.name }
        guard let type else { return [:] }
        var sections: [String: String] = [:]
        var topic: String?
        let lines = program.root.helpMessage(for: type).split(
            separator: "\n", omittingEmptySubsequences: false)
        for line in lines {
            if line.last == ":", line == line.uppercased(), line.first?.isLetter == true {
                topic = self.topic(ofTitle: String(line.dropLast()))
            }
            guard let topic, !line.isEmpty else { continue }
            sections[topic, default: ""] += line + "\n"
        }
        return sections
    }

    /// The most common options of `get`, with the texts of the overview.
    static let common: [(name: String, value: String, text: String)] = [
        ("output", " <file>", "Save as this file; `-` is standard output."),
        ("directory", " <dir>", "Save in this folder."),
        ("input-file", " <file>", "Download the files of this list."),
        ("connections", " <n>", "Connections for all files of a host: 1 to 64, or auto."),
        ("checksum", " <hex>", "Expected digest of the file."),
        ("limit-rate", " <rate>", "Limit the rate, such as 500K, 1.5M or 8Mbit."),
        ("continue", "", "Continue a file that curl, wget or a browser started."),
        ("overwrite", "", "Replace an existing file."),
        ("header", " <K: V>", "Send this request header; repeatable."),
        ("user", " <user:pass>", "User and password."),
    ]

    /// Returns the row of an option in the overview, with its short name.
    private static func commonRow(
        _ option: (name: String, value: String, text: String), in command: CommandTree.Command?
    ) -> String {
        let letter = command?.option(option.name)?.letters.first.map { "-\($0), " } ?? "    "
        return row("\(letter)--\(option.name)\(option.value)", option.text)
    }

    /// Moves a command's own options in front of those that it shares with other commands.
    static func ownOptionsFirst(_ help: String) -> String {
        var blocks: [(title: String, lines: [Substring])] = [("", [])]
        for line in help.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.last == ":", line == line.uppercased(), line.first?.isLetter == true {
                blocks.append((String(line.dropLast()), []))
            }
            blocks[blocks.count - 1].lines.append(line)
        }
        guard let own = blocks.firstIndex(where: { $0.title == "OPTIONS" }),
            let first = blocks.dropFirst().firstIndex(where: { $0.title != "ARGUMENTS" }),
            first < own
        else { return help }
        var block = blocks.remove(at: own)
        // The last block of the text ends without an empty line.
        if block.lines.last?.isEmpty == false { block.lines.append("") }
        blocks.insert(block, at: first)
        var lines = blocks.flatMap(\.lines)
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines.joined(separator: "\n")
    }

    /// Returns the overview of the whole program.
    static func overview(_ program: Program) -> String {
        let queued = program.tree.commands.map(\.name).filter {
            QueueCommandName(rawValue: $0) != nil
        }
        let commands = program.tree.commands.filter { !queued.contains($0.name) }.enumerated().map {
            row($1.name + ($0 == 0 ? " (default)" : ""), $1.abstract)
        }
        let queue =
            queued.isEmpty
            ? []
            : ["", "QUEUE:"] + wrapped(queued.joined(separator: ", "), indent: 2)
                + [row("segget help queue", "Describe these commands.")]
        let topics = (program.tree.commands.first.map(topics) ?? []) + [exitCodes]
        let lines =
            [
                "OVERVIEW: \(program.root.configuration.abstract)", "",
                "USAGE: segget [get] <url> [<options>]",
                "       segget <command> <arguments> [<options>]", "", "EXAMPLE:",
                "  segget https://example.org/disk.iso -d ~/Downloads -x 8", "", "OPTIONS:",
            ] + common.map { commonRow($0, in: program.tree.commands.first) }
            + [row("segget help get", "All options."), "", "COMMANDS:"] + commands + queue + [
                "", "HELP:", row("segget help COMMAND", "All options of a command."),
                row(
                    "segget help [COMMAND] TOPIC",
                    "One group of them; without COMMAND, of `get`:"),
            ] + wrapped(topics.joined(separator: ", "), indent: 30)
            + [
                row("--version", "Show the version."), "",
                "If a download is stopped or killed, the same command resumes it. See also "
                    + "`man segget`.",
            ]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func row(_ name: String, _ text: String) -> String {
        "  \(name)\(String(repeating: " ", count: max(1, 28 - name.count)))\(text)"
    }

    private static func wrapped(_ text: String, indent: Int, columns: Int = 79) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ") {
            let last = lines[lines.count - 1]
            if indent + last.count + 1 + word.count > columns, !last.isEmpty {
                lines.append(String(word))
            } else {
                lines[lines.count - 1] = last.isEmpty ? String(word) : "\(last) \(word)"
            }
        }
        return lines.map { String(repeating: " ", count: indent) + $0 }
    }
}
