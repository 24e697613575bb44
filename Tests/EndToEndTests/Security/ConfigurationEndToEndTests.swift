import Foundation
import TestSupport
import Testing

/// Options in the configuration file, the environment and the command line.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ConfigurationEndToEndTests {
    /// Creates a folder for `XDG_CONFIG_HOME` with a configuration file in it.
    private func makeHome(_ text: String, mode: mode_t = 0o600) throws -> Sandbox {
        let home = try Sandbox()
        mkdir(home.path("segget"), 0o700)
        chmod(try home.write("segget/config", text), mode)
        return home
    }

    private func run(
        _ stage: Stage, _ home: Sandbox, _ arguments: [String] = [],
        _ environment: [String: String] = [:]
    ) throws -> Run.Outcome {
        try Run(
            arguments + [stage.origin.url("/file")], in: stage.folder,
            environment: ["XDG_CONFIG_HOME": home.path, "SEGGET_CONNECTIONS": ""]
                .merging(environment) { $1 }
        ).wait()
    }

    @Test func commandLineOverridesEnvironmentAndFile() throws {
        let stage = try Stage(size: 10_000)
        let home = try makeHome(
            "# mine\noutput = one\nheader = X-File: 1\nquiet\nretries = 0 # at once\n")
        let first = try run(stage, home)
        #expect(first.exitCode == 0 && first.errorOutput.isEmpty, "\(first.errorOutput)")
        let second = try run(
            stage, home, [], ["SEGGET_OUTPUT": "two", "SEGGET_HEADER": "X-Variable: 2"])
        #expect(second.exitCode == 0, "\(second.errorOutput)")
        let third = try run(
            stage, home, ["-o", "three", "-H", "X-Typed: 3", "--quiet=false"],
            ["SEGGET_OUTPUT": "two", "SEGGET_HEADER": "X-Variable: 2"])
        #expect(third.exitCode == 0 && third.errorOutput.contains("`three`"))
        let last = try #require(stage.origin.requests.last)
        #expect(last.header("X-File") == "1")
        #expect(last.header("X-Variable") == "2")
        #expect(last.header("X-Typed") == "3")
        let without = try run(stage, home, ["--no-config", "-o", "four"])
        #expect(without.exitCode == 0)
        #expect(stage.origin.requests.last?.header("X-File") == nil)
        #expect(try stage.names() == ["four", "one", "three", "two"])
    }

    @Test func configOptionAndVariableNameTheFile() throws {
        let stage = try Stage(size: 10_000)
        let home = try makeHome("output = one\n")
        let file = try home.write("mine", "output = mine\n")
        for (name, arguments) in [("mine", ["--config", file]), ("one", [])] {
            #expect(try run(stage, home, arguments).exitCode == 0)
            #expect(try stage.isRight(name))
        }
        let variable = ["SEGGET_CONFIG": file, "SEGGET_AUTO_RENAME": "1"]
        #expect(try run(stage, home, [], variable).exitCode == 0)
        #expect(try stage.isRight("mine.1"))
        let none = ["SEGGET_CONFIG": file, "SEGGET_NO_CONFIG": "true"]
        #expect(try run(stage, home, [], none).exitCode == 0)
        #expect(try stage.isRight("file"))
        let missing = try run(stage, home, ["--config=/nonexistent/file"])
        #expect(missing.exitCode == 64)
        #expect(missing.errorOutput.contains("`/nonexistent/file` cannot be read"))
    }

    @Test(arguments: [
        ("conections = 3", "line 1: there is no option `conections`", "did you mean `connections`"),
        ("\n\nconnections = many", "line 3: ", "--no-config"),
        ("retries = 1\nconnections = 99", "line 2: `--connections` takes 1 to 64", "--no-config"),
        ("header = Secret hush", "line 1: a header needs a colon: `Name: value`", "--no-config"),
        ("quiet = perhaps hush", "line 1: ", "--no-config"),
        ("checksum = http://u:hush@h/", "line 1: ", "--no-config"),
        ("output = \"a", "line 1: a quote is not closed", "name = value"),
    ])
    func mistakesAreReportedWithTheirLine(text: String, message: String, hint: String) throws {
        let stage = try Stage(size: 1000)
        let home = try makeHome(text)
        let outcome = try run(stage, home)
        #expect(outcome.exitCode == 64)
        #expect(
            outcome.errorOutput.contains("error: `\(home.path)/segget/config`, \(message)"),
            "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("hint: "))
        #expect(outcome.errorOutput.contains(hint), "\(outcome.errorOutput)")
        #expect(!outcome.errorOutput.contains("hush"), "\(outcome.errorOutput)")
        #expect(stage.origin.requests.isEmpty)
        // `--help` works despite the mistake.
        #expect(try run(stage, home, ["--help"]).exitCode == 0)
    }

    @Test func mistakesInVariablesAreReported() throws {
        let stage = try Stage(size: 1000)
        let outcome = try run(stage, try makeHome(""), [], ["SEGGET_RETRIES": "hu@sh"])
        #expect(outcome.exitCode == 64)
        #expect(outcome.errorOutput.contains("the environment variable `SEGGET_RETRIES`: "))
        #expect(!outcome.errorOutput.contains("hu@sh"))
    }

    @Test func notesSecretsThatOtherUsersCanRead() throws {
        let stage = try Stage(size: 1000)
        let open = try run(stage, try makeHome("header = Cookie: hush", mode: 0o644))
        #expect(open.exitCode == 0)
        #expect(open.errorOutput.contains("note: other users can read"))
        #expect(!open.errorOutput.contains("hush"))
        let closed = try run(stage, try makeHome("header = Cookie: hush"), ["-o", "second"])
        #expect(!closed.errorOutput.contains("other users can read"))
    }

    /// The parser's messages would repeat these values, which may be secrets.
    @Test(arguments: [
        ["-x", "http://u:hush@proxy:3128"], ["--quiet=u:hush"], ["--retries=hush:1"],
        ["--proxy-header=hush"], ["--wibble", "u:hush"], ["-x=u:hush"],
    ])
    func messagesDoNotRepeatValues(options: [String]) throws {
        let stage = try Stage(size: 1000)
        let outcome = try stage.run(options)
        #expect(outcome.exitCode == 64)
        #expect(!outcome.errorOutput.contains("hush"), "\(outcome.errorOutput)")
    }

    @Test(arguments: [
        (["--max-connection-per-server", "16"], "segget calls it `--connections`"),
        (["--conections=3"], "did you mean `--connections`?"), (["-C", "-"], "not needed"),
        (["-O"], "`--remote-name`"),
    ])
    func unknownOptionsGetAHint(options: [String], hint: String) throws {
        let stage = try Stage(size: 1000)
        let outcome = try stage.run(options)
        #expect(outcome.exitCode == 64)
        #expect(outcome.errorOutput.contains("hint: "), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains(hint), "\(outcome.errorOutput)")
    }

    @Test func acceptsCommonOptionsOfOtherTools() throws {
        let stage = try Stage(size: 1000)
        #expect(try stage.run(["-cLfJ", "--continue", "--location", "--fail"]).exitCode == 0)
    }
}
