import TestSupport
import Testing

@testable import SeggetAria2

struct Aria2CommandLineTests {
    @Test(
        arguments: [
            (["-x16", "u"], ["max-connection-per-server=16"], ["u"]),
            (["-x", "16", "-k1M"], ["max-connection-per-server=16", "min-split-size=1M"], []),
            (["--split=3", "--split", "4"], ["split=3", "split=4"], []),
            (["u", "-c", "v", "--", "-q", "w"], ["continue="], ["u", "v", "-q", "w"]),
            (["--continue", "true"], ["continue="], ["true"]),
            (["--continue=false", "-c=x"], ["continue=false", "continue==x"], []),
            (["-cq", "-vq"], ["continue=q", "version=", "quiet="], []),
            (["--check-cert=false"], ["check-certificate=false"], []),
            (["--conti"], ["continue="], []), (["--dir="], ["dir="], []), (["-"], [], ["-"]),
            (["--out", "-x"], ["out=-x"], []), (["-v"], ["version="], []),
            (["-h#http", "--help"], ["help=#http", "help="], []), (["--vers"], ["version="], []),
            (["-d", "ä/\u{301}"], ["dir=ä/\u{301}"], []), ([], [], []),
        ] as [([String], [String], [String])])
    func argumentsAreParsedAsByGetopt(words: [String], options: [String], uris: [String]) throws {
        let line = try Aria2CommandLine(words, program: "aria2c")
        #expect(line.options.map { "\($0.option.name)=\($0.value)" } == options)
        #expect(line.uris == uris)
    }

    /// The first line is the same as aria2's.
    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            ["--nonsuch"], ["--max"], ["--split"], ["-x"], ["--version=3"], ["-y"], ["-vy"],
            ["u", "--dir"], ["--torrent-file"], ["--ma-x"], ["--http-proxy-"], ["-vY", "u"],
            ["-c", "-%"], ["--all-proxy-user", "--dht-file-path", "--log"],
        ])
    func errorsHaveTheSameText(words: [String]) throws {
        let program = "/usr/bin/aria2c"
        let theirs = try Run(program, words).wait()
        #expect(theirs.exitCode == 28)
        let refusal = try #require(throws: Aria2Refusal.self) {
            try Aria2CommandLine(words, program: program)
        }
        #expect(refusal.code == 28)
        #expect(
            refusal.lines.first == theirs.errorOutput.split(separator: "\n").first.map(String.init))
    }

    @Test func wrongValuesAreNotRepeated() throws {
        let ambiguous = try #require(throws: Aria2Refusal.self) {
            try Aria2CommandLine(["--all-proxy-=secret"], program: "a")
        }
        #expect(
            ambiguous.lines.first
                == "a: option '--all-proxy-' is ambiguous; possibilities: '--all-proxy-user' "
                + "'--all-proxy-passwd'")
        let unknown = try #require(throws: Aria2Refusal.self) {
            try Aria2CommandLine(["--htp-passwd=secret"], program: "a")
        }
        #expect(unknown.lines.first == "a: unrecognized option '--htp-passwd'")
    }

    @Test func severalThreadsParseAtOnce() async {
        await withTaskGroup(of: Bool.self) { group in
            for number in 1...200 {
                group.addTask {
                    let line = try? Aria2CommandLine(
                        ["u", "-s", "\(number)", "-qc", "v"], program: "a")
                    return line?.uris == ["u", "v"] && line?.options.first?.value == "\(number)"
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
