import Testing

@testable import SeggetCommand

/// Tests unknown words in the command's position.
struct UnknownCommandTests {
    private static func judge(_ word: String) -> UnknownCommand? {
        UnknownCommand(word, among: Program.segget.commandNames)
    }

    @Test(arguments: [
        ("pasue", "pause"), ("lsit", "list"), ("ls", "list"), ("Status", "status"), ("gte", ""),
        ("veriffy", "verify"), ("rm", "remove"), ("addd", "add"), ("hepl", "help"),
        ("unpause", "resume"), ("localhost", ""), ("my-host", ""), ("käse", ""),
    ])
    func suggestsTheNearestCommandAndTheURL(word: String, command: String) throws {
        let unknown = try #require(Self.judge(word))
        #expect(unknown.message == "there is no command `\(word)`")
        #expect(unknown.hint.contains("`http://\(word)/`"), "\(unknown.hint)")
        #expect(
            unknown.hint.contains(command.isEmpty ? "`segget help`" : "`segget \(command)`"),
            "\(unknown.hint)")
    }

    @Test(arguments: ["a?token=hush", "hush@host", "hush word", "-"])
    func doesNotRepeatPossibleSecrets(word: String) throws {
        let unknown = try #require(Self.judge(word))
        #expect(!(unknown.message + unknown.hint).contains("hush"))
    }

    @Test(arguments: [
        "", "-q", "--wibble", "host.example", "localhost:8080", "host/file", "http://h/", "//",
        "[::1]", "/path", "magnet:?xt=1",
    ])
    func acceptsPossibleURLs(word: String) { #expect(Self.judge(word) == nil) }

    @Test func foreignNamesSuggestExistingCommands() {
        let names = Set(Program.segget.commandNames)
        for name in UnknownCommand.foreign.values { #expect(names.contains(name), "\(name)") }
        for name in UnknownCommand.foreign.keys { #expect(!names.contains(name), "\(name)") }
    }
}
