import TestSupport
import Testing

@testable import SeggetAria2
import SeggetFormats

/// Compares the table of aria2's options with aria2c.
struct Aria2OptionTests {
    private static let aria2c = "/usr/bin/aria2c"

    private func run(_ words: [String]) throws -> Run.Outcome {
        try Run(Self.aria2c, ["--no-conf"] + words).wait()
    }

    /// An option as aria2's help prints it: ` -s, --split=N` or ` --quiet[=true|false]`.
    private struct Printed: Hashable {
        var name: String
        var letter: Character?
        var arity: Aria2Option.Arity
    }

    private func printed() throws -> [Printed] {
        let lines = try run(["--help=#all"]).output.split(separator: "\n")
        return lines.compactMap { line in
            guard line.hasPrefix(" -"), let start = line.firstRange(of: "--") else { return nil }
            let letter = line.hasPrefix(" --") ? nil : line.dropFirst(2).first
            let rest = line[start.upperBound...].prefix { $0 != " " }
            let name = rest.prefix { $0 != "=" && $0 != "[" }
            let arity: Aria2Option.Arity =
                switch rest.dropFirst(name.count).first {
                case nil: .none
                case "[": .optional
                default: .required
                }
            return Printed(name: String(name), letter: letter, arity: arity)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func tableHasEveryAria2Option() throws {
        let printed = try printed()
        #expect(printed.count >= 190, "help has only \(printed.count) options")
        for option in printed {
            let known = Aria2Option.named(option.name)
            #expect(known != nil, "--\(option.name)")
            #expect(known?.arity == option.arity, "--\(option.name)")
            if let letter = option.letter { #expect(known?.letter == letter, "--\(option.name)") }
        }
        // Apart from hidden options, the table has one option that aria2c's help does not list.
        let names = Set(printed.map(\.name))
        let more = Aria2Option.table.filter { !$0.isHidden && !names.contains($0.name) }
        #expect(more.map(\.name) == ["no-want-digest-header"])
    }

    @Test func namesAndLettersAreUnique() {
        #expect(Set(Aria2Option.table.map(\.name)).count == Aria2Option.table.count)
        let letters = Aria2Option.table.compactMap(\.letter)
        #expect(Set(letters).count == letters.count)
    }

    /// Valid and invalid values of all kinds.
    private static let values: [(String, String)] = [
        ("split", "a"), ("split", "0"), ("split", "1"), ("split", "-1"), ("split", "1x"),
        ("split", ""), ("max-connection-per-server", "16"), ("max-connection-per-server", "17"),
        ("timeout", "600"), ("timeout", "601"), ("timeout", "0"), ("max-tries", "-1"),
        ("min-split-size", "1M"), ("min-split-size", "1"), ("min-split-size", "1024K"),
        ("min-split-size", "1025M"), ("min-split-size", "1Mx"), ("min-split-size", "M"),
        ("lowest-speed-limit", "1G"), ("lowest-speed-limit", "-1K"), ("lowest-speed-limit", "20k"),
        ("lowest-speed-limit", "9223372036854775807K"), ("seed-time", "-1"), ("seed-time", "1.5"),
        ("seed-time", "abc"), ("quiet", "yes"), ("quiet", "TRUE"), ("quiet", "false"),
        ("log-level", "foo"), ("log-level", "warn"), ("file-allocation", "zz"),
        ("checksum", "foo=bar"), ("checksum", "sha-1"), ("checksum", "md5=0123456789abcdef"),
        ("checksum", "MD5=0123456789ABCDEF0123456789abcdef"), ("checksum", "adler32=01234567"),
        ("checksum", "crc32=01234567"), ("ssh-host-key-md", "sha-256=00"),
        ("ssh-host-key-md", "md5=00"), ("all-proxy", ""), ("all-proxy", "h"),
        ("all-proxy", "h:80"), ("all-proxy", "https://u:p@h:80/"), ("all-proxy", ":::"),
        ("listen-port", "1"), ("listen-port", "a"), ("listen-port", "6881-6889,6999"),
        ("listen-port", "6881-"), ("index-out", "1"), ("index-out", "1=a"), ("index-out", "a=b"),
        ("dht-entry-point", ":"), ("dht-entry-point", "h:1"), ("bt-prioritize-piece", "x"),
        ("bt-prioritize-piece", "head=1M,tail"), ("optimize-concurrent-downloads", "1"),
        ("optimize-concurrent-downloads", "1:2"), ("optimize-concurrent-downloads", "1:b"),
        ("rpc-secret", ""), ("user-agent", ""), ("header", ""), ("gid", "12"), ("dir", ""),
        ("min-tls-version", "TLSv1.1"), ("min-tls-version", "SSLv3"), ("stop", "2147483648"),
        ("select-file", "1-3"), ("select-file", "0"), ("retry-wait", "601"), ("dscp", "x"),
    ]

    @Test(.timeLimit(.minutes(1)), arguments: values)
    func acceptsSameValuesAsAria2(name: String, value: String) throws {
        let option = try #require(Aria2Option.named(name))
        let theirs = try run(["--\(name)=\(value)"])
        do throws(Aria2Option.BadValue) {
            _ = try option.value(of: value, home: "/home/me")
            #expect(theirs.exitCode == 1, "aria2 refuses it: \(theirs.errorOutput)")
        } catch {
            #expect(theirs.exitCode == 28, "aria2 takes it")
            let line = theirs.errorOutput.split(separator: "\n").dropFirst().first ?? ""
            let words = line.firstRange(of: "errorCode=1 ").map { line[$0.upperBound...] } ?? ""
            #expect(error.text == words)
        }
    }

    @Test(arguments: [
        ("split", "07", "7"), ("min-split-size", "2M", "2097152"), ("quiet", "", "true"),
        ("all-proxy", "localhost:1", "http://localhost:1/"),
        ("all-proxy", "https://h:1", "http://h:1/"), ("dir", "${HOME}/x", "/home/me/x"),
        ("dir", "~/x", "~/x"), ("header", "A: b ", "A: b "),
    ])
    func normalizesValuesLikeAria2(name: String, value: String, kept: String) throws {
        let option = try #require(Aria2Option.named(name))
        #expect(try option.value(of: value, home: "/home/me") == kept)
    }

    @Test func helpFindsOptionsByPartOfTheirName() {
        #expect(Aria2Help.text("netrc").contains(" -n, --no-netrc[=true|false]\n"))
        #expect(!Aria2Help.text("--netrc-path=x").contains("--no-netrc"))
        #expect(Aria2Help.text("#http").contains("--split=N"))
        #expect(Aria2Help.text(nil).contains("--split=N"))
        #expect(Aria2Help.text("zzz").contains("No option matching with 'zzz'."))
    }

    @Test func guideHasTheTable() throws {
        let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let page = try #require(ConfigurationFile.read("/\(root)/docs/guide/aria2.md"))
        #expect(page.text.contains(Aria2Help.table), "it should be:\n\(Aria2Help.table)")
    }
}
