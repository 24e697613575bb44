import ArgumentParser
import Segmenter
import Testing

@testable import SeggetFormats
@testable import SeggetCommand

struct SettingsTests {
    private static let tree = Program.segget.tree

    private func settings(
        _ typed: [String], _ environment: [String: String] = [:], file: String = ""
    ) throws -> Settings {
        let lines = try ConfigurationFile.lines(of: file, home: nil)
        return try Settings(
            typed, environment: { environment[$0] },
            file: ConfigurationFile(path: "conf", lines: lines), tree: Self.tree)
    }

    /// Returns the resulting command.
    private func get(
        _ typed: [String], _ environment: [String: String] = [:], file: String = ""
    ) throws -> GetCommand {
        let settings = try settings(typed, environment, file: file)
        return try #require(try Segget.parseAsRoot(settings.arguments) as? GetCommand)
    }

    @Test(
        arguments: [
            ([], [:], "", .automatic), ([], [:], "connections = 2", 2),
            ([], ["SEGGET_CONNECTIONS": "3"], "connections = 2", 3),
            (["-x", "4"], ["SEGGET_CONNECTIONS": "3"], "connections = 2", 4),
            (["-x4"], ["SEGGET_CONNECTIONS": "many"], "connections = many", 4),
            (["--connections=4"], [:], "connections = many", 4),
            ([], ["SEGGET_CONNECTIONS": ""], "connections = 2", 2),
            ([], [:], "connections = 2\nconnections = 5", 5),
            (["-qx", "4"], [:], "connections = many", 4),
            (["-Hx:y", "-x", "5"], [:], "connections = 2", 5),
        ] as [([String], [String: String], String, ConnectionCount)])
    func laterSourcesOverrideEarlierOnes(
        typed: [String], environment: [String: String], file: String, connections: ConnectionCount
    ) throws {
        #expect(try get(["http://h/"] + typed, environment, file: file).connections == connections)
        #expect(
            try get(["get"] + typed + ["http://h/"], environment, file: file).connections
                == connections)
    }

    /// The name of a queue alone does not enqueue a download.
    @Test func queueNameAloneEnqueuesNothing() throws {
        let command = try get(["http://h/"], ["SEGGET_QUEUE": "/q"], file: "queue = /p")
        #expect(!command.queueing.enqueue && command.queueing.file.queue == "/q")
        #expect(try get(["--enqueue", "http://h/"], ["SEGGET_QUEUE": "/q"]).queueing.enqueue)
        #expect(try get(["http://h/"], file: "enqueue").queueing.enqueue)
    }

    @Test(
        arguments: [
            ([], [:], "quiet", true), ([], [:], "quiet = true", true),
            ([], [:], "quiet = no", false),
            ([], [:], "quiet\nquiet = false", false), ([], ["SEGGET_QUIET": "1"], "", true),
            ([], ["SEGGET_QUIET": "false"], "quiet", false),
            (["--quiet=false"], [:], "quiet", false),
            (["--quiet=false"], ["SEGGET_QUIET": "1"], "", false),
            (["--quiet=true"], [:], "", true),
            (["-q"], ["SEGGET_QUIET": "0"], "", true),
            // A contradicting flag of lower priority is ignored.
            (["-v"], [:], "quiet", false), ([], ["SEGGET_VERBOSE": "1"], "quiet", false),
            (["-v"], ["SEGGET_QUIET": "1"], "", false),
        ] as [([String], [String: String], String, Bool)])
    func flagsCanBeNegated(
        typed: [String], environment: [String: String], file: String, isQuiet: Bool
    ) throws {
        #expect(try get(typed + ["http://h/"], environment, file: file).display.quiet == isQuiet)
    }

    @Test func repeatableOptionsAccumulate() throws {
        let command = try get(
            ["-H", "D: 4", "http://h/"], ["SEGGET_HEADER": "C: 3\nC: 4"],
            file: "header = A: 1\nheader = \"B:  2\"")
        #expect(command.request.header == ["A: 1", "B:  2", "C: 3", "C: 4", "D: 4"])
    }

    @Test func typedNameOverridesConfiguredFolder() throws {
        let file = "directory = /tmp"
        #expect(try get(["http://h/"], file: file).destination == .folder("/tmp"))
        #expect(try get(["-o", "f", "http://h/"], file: file).destination == .file("f"))
        #expect(try get(["-of", "http://h/"], file: file).destination == .file("f"))
        #expect(
            try get(["http://h/"], ["SEGGET_OUTPUT": "f"], file: file).destination == .file("f"))
    }

    @Test func valuesAreLiteral() throws {
        let command = try get(["http://h/"], file: "output = -x = \"5\" --quiet")
        #expect(command.destination == .file("-x = \"5\" --quiet"))
        #expect(!command.display.quiet)
        let typed = try settings(["http://h/", "--", "--quiet=false", "-q"], file: "json")
        #expect(typed.arguments == ["--json", "http://h/", "--", "--quiet=false", "-q"])
    }

    @Test func commandTakesOnlyItsOwnOptions() throws {
        let settings = try settings(["probe", "http://h/"], file: "retries = 1\nconnections = 3")
        #expect(settings.arguments == ["probe", "--retries=1", "http://h/"])
    }

    @Test(arguments: [
        ("conections = 3", "`conf`, line 1: there is no option `conections`", "`connections`"),
        ("\nx = 3", "`conf`, line 2: there is no option `x`", "segget help get"),
        ("resume", "line 1: there is no option `resume`", ""),
        ("location", "line 1: there is no option `location`", ""),
        ("connections", "line 1: `connections` needs a value", "connections = VALUE"),
        ("queue", "line 1: `queue` needs a value", "`--enqueue`"),
        ("config = f", "can only be given on the command line", ""),
        ("no-config", "can only be given on the command line", ""),
        ("help", "can only be given on the command line", ""),
    ])
    func errorsHaveTheLine(file: String, message: String, hint: String) {
        let error = #expect(throws: Settings.LoadError.self) {
            try settings(["http://h/"], file: file)
        }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        #expect(hint.isEmpty || error?.hint.contains(hint) == true, "\(error?.hint ?? "")")
    }

    @Test func secretsReadableByOthersAreReported() throws {
        for (text, isOpen, count) in [
            ("header = A: b", true, 1), ("header = A: b", false, 0), ("quiet", true, 0),
        ] {
            let lines = try ConfigurationFile.lines(of: text, home: nil)
            let file = ConfigurationFile(path: "conf", lines: lines, isReadableByOthers: isOpen)
            let settings = try Settings(
                ["http://h/"], environment: { _ in nil }, file: file, tree: Self.tree)
            #expect(settings.warnings.count == count)
        }
    }

    @Test(
        arguments: [
            (["XDG_CONFIG_HOME": "/c", "HOME": "/h"], "/c/segget/config"),
            (["XDG_CONFIG_HOME": "c", "HOME": "/h"], "/h/.config/segget/config"),
            (["XDG_CONFIG_HOME": "", "HOME": "/h"], "/h/.config/segget/config"),
            (["HOME": ""], nil), ([:], nil),
        ] as [([String: String], String?)])
    func fileFollowsXDG(environment: [String: String], path: String?) {
        #expect(Invocation.defaultPath { environment[$0] } == path)
    }

    @Test func everyOptionHasAnEnvironmentVariable() throws {
        let command = try #require(Self.tree.commands.first)
        for option in command.options where option.isShown {
            for name in option.names {
                let variable = Settings.variable(for: name)
                #expect(variable.hasPrefix("SEGGET_") && !variable.contains("-"))
                #expect(!variable.hasPrefix(Hooks.prefix))
            }
        }
    }
}
