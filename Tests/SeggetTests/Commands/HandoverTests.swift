import Testing

@testable import SeggetCommand

/// Tests which of the two programs runs a command line.
struct HandoverTests {
    @Test(
        arguments: [
            // `segget` itself runs the most frequent commands.
            ([], .segget), (["http://h/f"], .segget), (["get", "http://h/f"], .segget),
            (["get", "list"], .segget), (["get", "--help"], .segget), (["--version"], .segget),
            (["verify", "add"], .segget), (["-q", "http://h/f"], .segget),
            // Queue commands, also after options.
            (["add", "http://h/f"], .manager(.add)), (["run"], .manager(.run)),
            (["--no-config", "list"], .manager(.list)),
            (["-q", "--connections", "4", "--header=a: b", "show", "3"], .manager(.show)),
            (["help", "pause"], .manager(.pause)),
            // A word that is a value, a URL or another command's argument.
            (["-o", "list", "http://h/f"], .segget), (["--output", "list"], .segget),
            (["-q", "http://h/", "list"], .segget), (["-q", "verify", "list"], .segget),
            (["--", "list"], .segget),
            // Only the manager knows whether this is an option that takes a value.
            (["--wibble", "list"], .managerIfThere), (["--queue", "q", "list"], .manager(.list)),
            // Requests about the program as a whole.
            (["--help"], .managerIfThere), (["-h"], .managerIfThere), (["help"], .managerIfThere),
            (["help", "network"], .managerIfThere),
            (["--generate-completion-script", "bash"], .managerIfThere),
            (["--generate-completion-script=zsh"], .managerIfThere),
            (["---completion", "get", "--", "1"], .managerIfThere),
            (["--experimental-dump-help"], .managerIfThere),
        ] as [([String], Handover.Reader)])
    func isForTheManager(arguments: [String], reader: Handover.Reader) {
        #expect(Handover.reader(of: arguments, program: .segget) == reader)
    }

    @Test(
        arguments: [
            (["get", "--enqueue", "u"], ["u"]), (["--enqueue", "u", "-q"], ["u", "-q"]),
            (["-x", "4", "get", "u", "--enqueue=true"], ["-x", "4", "u"]),
            (["--enqueue", "--queue", "q", "u"], ["--queue", "q", "u"]),
            (["get", "--enqueue", "--", "--enqueue"], ["--", "--enqueue"]),
        ])
    func getWithEnqueueIsAdd(typed: [String], rest: [String]) {
        #expect(Handover.queued(typed) == ["add", "--attach"] + rest)
    }

    @Test(
        arguments: [
            ("/usr/bin/segget", ["/usr/bin", "/usr/libexec/segget"]),
            ("/work/.build/debug/segget", ["/work/.build/debug", "/work/.build/libexec/segget"]),
            ("/segget", ["", "/libexec/segget"]),
        ])
    func managerIsFoundBesideTheProgramOrInstalled(own: String, folders: [String]) {
        let places = Handover.places(Array(own.utf8)).map {
            String(decoding: $0.path, as: UTF8.self)
        }
        #expect(places == folders.map { $0 + "/segget-manager" })
    }

    @Test func commandsAreUnique() {
        for command in QueueCommandName.allCases {
            #expect(Program.segget.tree.command(of: [command.rawValue]) == nil)
            #expect(HelpText.topic(in: ["help", command.rawValue], of: .segget)?.isText != true)
        }
    }

    @Test func everyCommandHasAOneLineAbstract() {
        for command in QueueCommandName.allCases {
            #expect(command.abstract.last == "." && command.abstract.count <= 50)
        }
    }
}

extension HelpText.Topic {
    fileprivate var isText: Bool { if case .text = self { true } else { false } }
}
