import Assembler
import Segmenter
import Testing

@testable import SeggetFormats

/// Tests each row of the catalogue of options, and compares it with the library and aria2.
struct TransferOptionTests {
    /// Returns a text of a value other than the default.
    static func example(_ kind: OptionKind, besides used: [String] = []) -> String {
        let words: [String] =
            switch kind {
            case .flag: ["true", "false"]
            case .integer(let range): ["\(range.lowerBound + 3)"]
            case .seconds(let range): ["\(Int(range.upperBound) - 1)"]
            case .bytes(let range): ["\(range.lowerBound + 5)"]
            case .rate: ["12345"]
            case .connections: ["auto:9"]
            case .digest: ["sha-1:" + String(repeating: "ab", count: 20)]
            case .choice(let words): words.reversed()
            case .headers: ["X-Name: value"]
            case .text("`sha256//BASE64`, or the path of a PEM file"):
                ["sha256//" + String(repeating: "A", count: 43) + "="]
            case .text("cookies, as `NAME=VALUE; NAME=VALUE`"): ["a=b"]
            case .text, .path: ["http-like-name", "other-name"]
            case .texts("HOST:PORT:ADDRESS[,ADDRESS]"): ["h:80:127.0.0.1"]
            case .texts: ["http://mirror.example/f"]
            case .credentials: ["me:word"]
            case .fileMode: ["27"]
            }
        return words.first { !used.contains($0) } ?? ""
    }

    /// The options that users set.
    static let rows = TransferOption.table.filter { !$0.names.isEmpty }

    @Test func eachStoredKeyHasOneRow() {
        #expect(TransferOption.table.map(\.key).sorted() == DownloadOptions.storedKeys.sorted())
    }

    @Test func namesAreUniqueOnEachSurface() {
        for surface in [OptionName.Surfaces.commandLine, .list, .aria2] {
            let names = TransferOption.table.flatMap(\.names).filter {
                !$0.surfaces.isDisjoint(with: surface)
            }.map(\.text)
            #expect(Set(names).count == names.count)
        }
    }

    /// Each name sets the value, which is then read back and stored.
    @Test(arguments: rows.map(\.key)) func setsAndReadsBackUnderEachName(key: String) throws {
        let option = try #require(TransferOption[key])
        let standard = option.texts(DownloadOptions())
        #expect(option.accepts(DownloadOptions()))
        for name in option.names {
            guard name.text != "use-head" else { continue }
            if case .part = name.meaning { continue }
            var value = Self.example(
                name.kind(of: option), besides: name.texts(option, DownloadOptions()))
            if key == "checksum", name.surfaces == .aria2 {
                value = value.replacing(":", with: "=")
            }
            var options = DownloadOptions()
            #expect(name.read(option, &options, value), "\(name.text)=\(value)")
            #expect(options.changedKeys == [key], "\(name.text)")
            #expect(name.texts(option, options) == [value], "\(name.text)")
            #expect(option.texts(options) != standard && option.accepts(options), "\(name.text)")
            var copy = DownloadOptions()
            for text in option.texts(options) { #expect(option.read(&copy, text)) }
            #expect(copy.changedKeys == options.changedKeys, "\(name.text)")
            #expect(OptionChanges(from: options, to: copy).isEmpty, "\(name.text)")
        }
    }

    @Test(arguments: rows.map(\.key)) func acceptsOnlyValuesInItsRange(key: String) throws {
        let option = try #require(TransferOption[key])
        // The command makes this value from a path.
        guard key != "continues_other_url" else { return }
        let (inside, outside): ([String], [String]) =
            switch option.kind {
            case .integer(let range):
                (
                    ["\(range.lowerBound)", "\(range.upperBound)"],
                    ["\(range.lowerBound - 1)", "\(range.upperBound + 1)", "x", ""]
                )
            case .seconds(let range):
                (
                    ["\(range.lowerBound)", "\(range.upperBound)"],
                    ["\(range.lowerBound - 0.05)", "\(range.upperBound * 1.01)", "nan", ""]
                )
            case .bytes(let range):
                (
                    ["\(range.lowerBound)", "\(range.upperBound)"],
                    ["\(range.lowerBound - 1)", "\(range.upperBound * 2)", "1x", ""]
                )
            case .rate: (["0", "8Mbit"], ["-1", "3Mb", ""])
            case .connections: (["1", "64", "auto", "auto:64"], ["0", "65", "auto:65", ""])
            case .choice(let words): (words, ["no such word", ""])
            case .flag: (["true", "false"], ["yes", ""])
            case .path: (["a"], ["", "http://h/x"])
            case .digest: ([], ["sha-256:ab", ""])
            case .headers: ([], ["Name", "Range: bytes=0-1"])
            case .text, .texts, .credentials, .fileMode: ([], [])
            }
        var options = DownloadOptions()
        for text in inside { #expect(option.read(&options, text), "\(key)=\(text)") }
        for text in outside {
            options = DownloadOptions()
            #expect(!option.read(&options, text), "\(key)=\(text)")
            #expect(options == DownloadOptions(), "\(key)=\(text)")
        }
        #expect(!option.help.isEmpty && option.help.hasSuffix("."))
        #expect(!option.kind.expected.isEmpty)
    }

    /// The complete list of options that clients over TCP may set.
    ///
    /// Each addition needs a separate commit.
    @Test func clientsOverTCPMaySetOnlyThese() {
        let allowed = TransferOption.table.filter { $0.places.contains(.tcp) }
        #expect(
            Set(allowed.map(\.key)) == [
                "connections", "min_split_size", "checksum", "single_request", "headers",
                "connect_timeout", "stall_timeout", "retries", "retry_wait", "stream.window",
                "mirrors", "naming.uses_url", "naming.numbers_taken", "limits.max_size",
                "limits.max_time", "limits.rate", "limits.min_rate", "limits.min_rate_period",
                "files.remote_time", "files.missing_folders", "access.credentials",
                "access.scheme", "access.bearer_token", "access.keeps_cookies",
                "access.cookies", "access.user_agent", "access.referer", "access.proxy",
                "access.no_proxy", "access.address_family", "access.max_redirects",
                "access.denies_private",
                "access.minimum_tls",
            ])
        for option in allowed {
            #expect(option.kind != .path, "\(option.key)")
            #expect(!["access.interface", "access.pinned_public_key"].contains(option.key))
        }
    }
}
