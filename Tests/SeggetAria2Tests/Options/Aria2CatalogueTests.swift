import Segmenter
import SeggetFormats
import Testing

@testable import SeggetAria2

/// The catalogue of options, compared with aria2's options.
struct Aria2CatalogueTests {
    /// The whole list of what clients of aria2's RPC may set.
    @Test func clientsMaySetOnlyThese() {
        #expect(
            Aria2Option.forClients == [
                "all-proxy", "all-proxy-passwd", "all-proxy-user", "allow-overwrite",
                "auto-file-renaming", "checksum", "conditional-get", "connect-timeout",
                "continue", "dir", "gid", "header", "http-no-cache", "http-passwd", "http-proxy",
                "http-proxy-passwd", "http-proxy-user", "http-user", "https-proxy",
                "https-proxy-passwd", "https-proxy-user", "lowest-speed-limit",
                "max-connection-per-server", "max-download-limit", "max-tries", "min-split-size",
                "no-proxy", "out", "parameterized-uri", "pause", "referer", "remote-time",
                "retry-wait", "split", "timeout", "use-head", "user-agent",
            ])
    }

    /// aria2's options of one file, read as aria2 reads them, and given back under the same names.
    @Test(
        arguments: TransferOption.table.flatMap { row in
            row.names.filter { $0.surfaces.contains(.aria2) }.map { "\(row.key) \($0.text)" }
        })
    func roundTripsThroughAria2(place: String) throws {
        let parts = place.split(separator: " ").map(String.init)
        let option = try #require(TransferOption[parts[0]])
        let name = try #require(
            option.names.first { $0.text == parts[1] && $0.surfaces.contains(.aria2) })
        let aria2 = try #require(Aria2Option.named(name.text))
        let value: String =
            switch (name.text, aria2.value) {
            case ("use-head", _), ("check-certificate", _): "false"
            case ("auto-file-renaming", _): "false"
            case (_, .flag): "true"
            case (_, .number(let least, _)): "\(least + 3)"
            case (_, .size(let least, _)): "\(least + 5)"
            case ("checksum", _): "sha-1=" + String(repeating: "ab", count: 20)
            case (_, .proxy): "http://proxy.example/"
            case ("header", _): "X-Name: value"
            case (_, .choice(let words)): words.last ?? ""
            default: "name"
            }
        var options = Aria2Options()
        for (other, text) in [
            "http-passwd": [("http-user", "me")], "conditional-get": [("allow-overwrite", "true")],
            "use-head": [("split", "1"), ("max-connection-per-server", "1")],
            "max-connection-per-server": [("split", "16")],
        ][name.text, default: []] {
            options.set(other, text)
        }
        func made(_ options: Aria2Options) -> DownloadOptions {
            Aria2Task(urls: ["http://h/f"], options: options)
                .batchItem(home: "", exists: { _ in false }).options
        }
        let before = made(options)
        options.set(name.text, value)
        let made = made(options)
        #expect(OptionChanges(from: before, to: made).keys.contains(option.key))
        let back = Aria2Options(of: made, folder: "/", name: nil, isOwn: true)
        #expect(back.all(name.text) == [value])
        let shown = Aria2Options(of: made, folder: "/", name: nil)
        #expect(shown.all(name.text).isEmpty != option.places.contains(.rpc))
    }
}
