import ArgumentParser
import SeggetFormats
import SeggetReports
import Segmenter
import Testing

@testable import SeggetCommand

/// Compares the command line of `segget get` with the catalogue of options.
struct CatalogueTests {
    private static let get = Program.segget.tree.commands.first { $0.name == "get" }

    /// The names of the catalogue's options on the command line.
    private static let typed = TransferOption.table.flatMap { option in
        option.names.filter { $0.surfaces.contains(.commandLine) }.map(\.text)
    }

    /// The names of options whose values are numbers in a range.
    private static let ranged = typed.filter { name in
        guard let (option, found) = TransferOption.typed(name) else { return false }
        if case .part = found.meaning { return false }
        return switch found.kind(of: option) {
        case .integer, .seconds, .bytes, .connections: true
        default: false
        }
    }

    private func options(_ arguments: [String]) throws -> DownloadOptions {
        let command = try #require(
            try Segget.parseAsRoot(["get", "http://h/f"] + arguments) as? GetCommand)
        var options = command.options
        options.access = try command.access.read()
        // `get` shares one limit among all files.
        options.limits.rate = command.limits.limitRate.flatMap { $0 > 0 ? $0 : nil }
        return options
    }

    @Test func commandLineHasEachNameOfTheCatalogue() throws {
        let get = try #require(Self.get)
        for name in Self.typed { #expect(get.option(name) != nil, "\(name)") }
    }

    /// Lists the options of `get` that are not options of a download.
    @Test func otherOptionsOfGetAreNotDownloadOptions() throws {
        let names = Set(try #require(Self.get).options.filter(\.isShown).flatMap(\.names))
        #expect(
            names.subtracting(Self.typed) == [
                "output", "name", "directory", "input-file", "plan", "recheck", "delete-extra",
                "exclude", "hf-token-file", "print-path", "trust-cache", "include", "force", "jobs",
                "fail-fast", "refresh-url",
                "max-requests",
                "negotiate", "cookie-jar", "enqueue", "queue", "dry-run", "on-complete",
                "on-error", "config", "no-config", "json", "progress", "quiet", "verbose",
                "help", "version",
            ])
    }

    /// The command line reads the same value as the catalogue from a text.
    ///
    /// `--netrc` is excluded, because it needs a file in the home folder.
    @Test(arguments: typed.filter { $0 != "netrc" })
    func optionReachesTheLibrary(name: String) throws {
        let (option, found) = try #require(TransferOption.typed(name))
        if case .part = found.meaning { return }
        let isFlag = try #require(Self.get?.option(name)).isFlag
        #expect(isFlag == (found.kind(of: option) == .flag))
        let certificate = ["--client-certificate", "/etc/passwd"]
        let base = name == "client-key" ? certificate : []
        let before = try options(base)
        var expected = before
        let value = isFlag ? "true" : try #require(Self.example(name, found.kind(of: option)))
        #expect(found.read(option, &expected, value))
        let others = name == "netrc-file" ? ["access.uses_netrc"] : []
        let after = try options(base + (isFlag ? ["--\(name)"] : ["--\(name)", value]))
        #expect(OptionChanges(from: before, to: after).keys == Set([option.key] + others))
        #expect(option.texts(after) == option.texts(expected))
    }

    private static func example(_ name: String, _ kind: OptionKind) -> String? {
        switch kind {
        case .flag: "true"
        case .integer(let range): "\(range.lowerBound + 3)"
        case .seconds(let range): "\(Int(range.upperBound) - 1)"
        case .bytes(let range): "\(range.lowerBound + 5)"
        case .rate: "12345"
        case .connections: "auto:9"
        case .digest: "sha-1:" + String(repeating: "ab", count: 20)
        case .choice(let words): words.first { !["auto", "1.2", "any"].contains($0) }
        case .headers: "X-Name: value"
        case .path: "/etc/passwd"
        case .credentials: "me:word"
        case .text where name == "pinned-public-key":
            "sha256//" + String(repeating: "A", count: 43) + "="
        case .text where name == "cookie-text": "a=b"
        case .text where name == "interface": "lo"
        case .text where name == "proxy": "http://proxy.example/"
        case .text: "name"
        case .texts where name == "resolve": "h:80:127.0.0.1"
        case .texts: "http://mirror.example/f"
        case .fileMode: nil
        }
    }

    /// A value just outside an option's range is refused with the catalogue's message.
    @Test(arguments: ranged) func refusesValuesOutOfRange(name: String) throws {
        let (option, found) = try #require(TransferOption.typed(name))
        let (inside, outside): ([String], [String]) =
            switch found.kind(of: option) {
            case .integer(let range):
                (
                    ["\(range.lowerBound)", "\(range.upperBound)"],
                    ["\(range.lowerBound - 1)", "\(range.upperBound + 1)"]
                )
            case .seconds(let range):
                (
                    ["\(range.lowerBound)", "\(range.upperBound)"],
                    ["\(range.lowerBound - 0.05)", "\(range.upperBound * 1.01)"]
                )
            case .bytes(let range):
                (["\(range.lowerBound)"], ["\(range.upperBound * 2)"])
            case .connections: (["1", "64"], ["0", "65"])
            default: ([], [])
            }
        for value in inside { _ = try options(["--\(name)=\(value)"]) }
        for value in outside {
            let error = #expect(throws: (any Error).self) {
                try options(["--\(name)=\(value)"])
            }
            let message = error.map { Segget.message(for: $0) } ?? ""
            // The parser adds a prefix to some messages.
            #expect(
                message.hasSuffix(
                    Diagnostic.describe("--\(name)", takes: found.kind(of: option))))
        }
    }
}
