import ArgumentParser
import SeggetFormats
import Testing

@testable import SeggetReports
@testable import SeggetCommand

struct HelpTests {
    private static let tree = Program.segget.tree

    @Test func everyGroupFitsTheScreen() throws {
        for command in Self.tree.commands {
            let sections = HelpText.sections(of: command, in: .segget)
            for topic in HelpText.topics(of: command) {
                let text = try #require(sections[topic], "\(command.name) \(topic)")
                #expect(text.split(separator: "\n").count <= 30, "\(command.name) \(topic)")
                let asked = HelpText.topic(in: ["help", command.name, topic], of: .segget)
                #expect(asked == .text(text))
            }
        }
        #expect(HelpText.overview(.segget).split(separator: "\n").count <= 37)
        #expect(HelpText.overview(.segget).split(separator: "\n").allSatisfy { $0.count < 90 })
    }

    @Test func everyOptionIsInOneGroup() throws {
        let command = try #require(Self.tree.commands.first)
        let sections = HelpText.sections(of: command, in: .segget)
        for option in command.options where option.isShown {
            let name = "--" + (option.names.first ?? "")
            let holding = sections.filter { section in
                section.value.split(separator: "\n").contains { line in
                    line.prefix(40).split(whereSeparator: { " ,".contains($0) }).contains {
                        $0 == name
                    }
                        && line.hasPrefix("  -")
                }
            }
            #expect(holding.count == 1, "\(name)")
        }
    }

    @Test func overviewShowsTenOptionsAndAnExample() throws {
        let get = try #require(Self.tree.commands.first)
        let text = HelpText.overview(.segget)
        #expect(HelpText.common.count == 10)
        for option in HelpText.common {
            let known = try #require(get.option(option.name), "\(option.name)")
            #expect(known.isShown && known.isFlag == option.value.isEmpty, "\(option.name)")
            let letter = known.letters.first.map { "-\($0), " } ?? ""
            #expect(text.contains("  \(letter)--\(option.name)"), "\(option.name)")
        }
        #expect(text.contains("EXAMPLE:\n  segget https://"))
    }

    @Test func ownOptionsPrecedeCommonOnes() {
        let help = """
            OVERVIEW: X.

            USAGE: x

            ARGUMENTS:
              <id>  Y

            QUEUE:
              --queue  Z

            OPTIONS:
              --own  Mine.

            """
        #expect(
            HelpText.ownOptionsFirst(help) == """
                OVERVIEW: X.

                USAGE: x

                ARGUMENTS:
                  <id>  Y

                OPTIONS:
                  --own  Mine.

                QUEUE:
                  --queue  Z
                """)
        #expect(HelpText.ownOptionsFirst("OVERVIEW: X.\n") == "OVERVIEW: X.\n")
    }

    @Test(arguments: [["--help"], ["-h"], ["help"]])
    func helpAloneShowsOverview(arguments: [String]) {
        let text = HelpText.overview(.segget)
        #expect(HelpText.topic(in: arguments, of: .segget) == .text(text))
    }

    @Test(arguments: [
        ["help", "get"], ["help", "probe"], ["get", "--help"], ["http://h/", "--help"],
        ["help", "--help"], [], ["--version"], ["http://h/"],
    ])
    func helpFlagIsLeftToTheParser(arguments: [String]) {
        #expect(HelpText.topic(in: arguments, of: .segget) == nil)
    }

    @Test func findsTopics() throws {
        for arguments in [["help", "network"], ["help", "Network"], ["help", "get", "network"]] {
            guard case .text(let text)? = HelpText.topic(in: arguments, of: .segget) else {
                Issue.record("\(arguments)")
                continue
            }
            #expect(text.hasPrefix("NETWORK:\n"))
            #expect(text.contains("--retries") && !text.contains("--output"))
        }
        #expect(
            HelpText.topic(in: ["help", "exit-codes"], of: .segget)
                == .text("EXIT CODES:\n\(ExitStatus.help)\n"))
        guard
            case .unknown("nothing", let hint)? = HelpText.topic(
                in: ["help", "nothing"], of: .segget)
        else {
            Issue.record("`nothing` is a topic")
            return
        }
        #expect(hint.contains("network") && hint.contains("exit-codes"))
    }

    @Test(arguments: [
        ("connections", "conections"), ("connections", "connection"), ("quiet", "quite"),
        ("checksum", "cheksum"), ("no-resume", "noresume"),
    ])
    func typosAreRecognised(name: String, typed: String) throws {
        let names = Self.tree.allNames
        #expect(CommandTree.nearest(to: typed, among: names) == name)
    }

    @Test(arguments: [
        ("", "", 0), ("a", "", 1), ("", "ab", 2), ("kitten", "sitting", 3), ("same", "same", 0),
        ("abc", "acb", 2),
    ])
    func computesEditDistances(first: String, second: String, distance: Int) {
        #expect(CommandTree.distance(first, second) == distance)
        #expect(CommandTree.distance(second, first) == distance)
    }

    @Test(arguments: [
        (["--max-connection-per-server=16"], "--max-connection-per-server", "`--connections`"),
        (["-s16"], "-s", "aria2's is `--connections N`"), (["-O"], "-O", "`--remote-name`"),
        (["-C", "-"], "-C", "resuming is the default"), (["-nc"], "-nc", "`--overwrite`"),
        (["--continue-at", "-"], "--continue-at", "resuming is the default"),
        (["-q", "--tries=3"], "--tries", "`--retries`"), (["--dir=x"], "--dir", "`--directory`"),
        (["--out", "x"], "--out", "`--output`"), (["--conections=3"], "--conections", "did you"),
        (["--wibble"], "--wibble", "segget help"), (["-\u{e9}"], "-\u{e9}", "segget help"),
        (["-fsSL"], "-s", "`--quiet`"), (["-LO"], "-O", "`--remote-name`"),
        (["-vkLo", "x"], "-k", "`--insecure`"), (["-np"], "-np", "does not follow links"),
        (["--create-dirs"], "--create-dirs", "not needed: segget creates the folders"),
        (["--compressed"], "--compressed", "as the server stores it"),
        (["--max-redirect=3"], "--max-redirect", "`--max-redirs`"),
        (["--speed-time", "3"], "--speed-time", "`--min-rate-time`"),
        (["--netrc-path=x"], "--netrc-path", "`--netrc-file`"),
        (["--password=hush"], "--password", "--password-fd"),
    ])
    func foreignOptionsAreTranslated(
        arguments: [String], option: String, text: String
    ) throws {
        let command = try #require(Self.tree.commands.first)
        let hint = try #require(ForeignOptions.hint(for: arguments, in: command))
        #expect(hint.option == option)
        #expect(hint.text.contains(text), "\(hint.text)")
        #expect(!hint.text.contains("hush"))
    }

    @Test func optionOfOtherCommandsHasHint() throws {
        let command = try #require(Self.tree.command(of: ["verify"]))
        let hint = try #require(ForeignOptions.hint(for: ["--max-requests", "9"], in: command))
        #expect(hint.option == "--max-requests" && hint.text.contains("segget settings"))
    }

    @Test(arguments: [
        ["-x8"], ["--header=X: y"], ["--", "--wibble"], ["-"], ["-c", "-L"], ["-qLo-"], ["-Lofsk"],
        ["--retries", "-1"],
    ])
    func ownOptionsHaveNoHint(arguments: [String]) throws {
        let command = try #require(Self.tree.commands.first)
        #expect(ForeignOptions.hint(for: arguments, in: command) == nil)
    }

    @Test func tableNamesOnlyExistingOptions() {
        let known = Self.tree.allNames
        for option in ForeignOptions.table.keys {
            let text = ForeignOptions.text(for: option) ?? ""
            for word in text.split(whereSeparator: { " `,:=.".contains($0) })
            where word.hasPrefix("--") && "--\(word.dropFirst(2))" != option {
                // The text may also name options of the other program.
                let name = String(word.dropFirst(2))
                #expect(
                    known.contains(name) || ForeignOptions.table["--" + name] != nil, "\(option)")
            }
        }
        // Another command may have an option that `get` has not, such as `fleet submit --parallel`.
        let own = Set(Self.tree.commands.first?.options.flatMap(\.names) ?? [])
        #expect(
            ForeignOptions.table.keys.allSatisfy { option in
                !option.hasPrefix("--") || !own.contains(String(option.dropFirst(2)))
            })
    }
}

/// Tests the help of a program with queue commands.
struct QueueHelpTests {
    private struct List: ParsableCommand {
        static let configuration = QueueCommandName.list.configuration(
            discussion: "In their order.")
        @Option(help: "Only these.") var tag: String?
        @Option(help: "The file.") var queue: String?
    }
    private struct SettingsOfAll: ParsableCommand {
        static let configuration = QueueCommandName.settings.configuration()
        @Option(help: "Of all together.") var limitRate: String?
    }
    private struct Root: ParsableCommand {
        static let configuration = Segget.root([GetCommand.self, List.self, SettingsOfAll.self])
    }
    private static let program = Program(Root.self)

    @Test func overviewNamesQueueCommands() {
        let text = HelpText.overview(Self.program)
        #expect(text.contains("\nQUEUE:\n  list, settings\n  segget help queue "))
        #expect(text.contains("  get (default) ") && !text.contains("\n  list  "))
        #expect(!HelpText.overview(.segget).contains("QUEUE"))
    }

    @Test func topicDescribesEachCommand() {
        let text = "QUEUE:\n  list                        \(QueueCommandName.list.abstract)\n"
        guard
            case .text(let found)? = HelpText.topic(in: ["help", "queue"], of: Self.program)
        else {
            Issue.record("there is no such topic")
            return
        }
        #expect(found.hasPrefix(text))
        #expect(found.split(separator: "\n").count == 3)
        // `queue` is not a topic of a program without queue commands.
        guard
            case .unknown(_, let hint)? = HelpText.topic(in: ["help", "queue"], of: .segget)
        else {
            Issue.record("it is a topic of segget")
            return
        }
        #expect(!hint.contains(" queue"), "\(hint)")
    }

    /// Settings for downloads do not apply to queue commands.
    @Test func downloadSettingsDoNotApplyToTheQueue() throws {
        let text = "limit-rate = 2M\ntag = a\nqueue = q"
        let lines = try ConfigurationFile.lines(of: text, home: nil)
        let file = ConfigurationFile(path: "conf", lines: lines)
        for (command, names) in [
            ("get", ["limit-rate", "queue"]), ("list", ["queue"]), ("settings", []),
        ] {
            let settings = try Settings(
                [command], environment: { ["SEGGET_TAG": "b"][$0] }, file: file,
                tree: Self.program.tree)
            #expect(settings.settings.map(\.name) == names, "\(command)")
        }
    }
}
