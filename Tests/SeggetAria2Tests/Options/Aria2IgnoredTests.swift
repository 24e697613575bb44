import SeggetFormats
import Segmenter
import Testing

@testable import SeggetAria2

/// aria2's options without effect in segget's own lists.
struct Aria2IgnoredTests {
    private func item(_ settings: String...) throws -> BatchItem {
        let text = (["http://h/f"] + settings.map { " \($0)" }).joined(separator: "\n")
        let list = try InputFile(reading: text.utf8, ignoring: Aria2Option.ignoredInLists)
        return try #require(list.items.first).batchItem(options: DownloadOptions(), folder: "here")
    }

    @Test func ignoredOptionsChangeNothing() throws {
        let made = try item(
            "gid=00000000000000AB", "pause=true", "max-file-not-found=2", "piece-length=2M",
            "bt-max-peers=3", "uri-selector=feedback", "http-accept-gzip=true", "seed-time=0")
        let plain = try item()
        #expect(made.options == plain.options && made.destination == plain.destination)
        #expect(Set(InputFile.optionNames).isDisjoint(with: Aria2Option.ignoredInLists.keys))
    }

    @Test(arguments: ["gid=12", "piece-length=1"])
    func valuesOfIgnoredOptionsAreChecked(setting: String) throws {
        let error = try #require(throws: InputFile.LineError.self) { try item(setting) }
        guard case .badValue(let name, let expected) = error.kind else {
            Issue.record("\(error)")
            return
        }
        #expect(setting.hasPrefix("\(name)=") && !expected.isEmpty)
    }

    @Test func listsWithoutIgnoredOptionsRefuseThem() {
        let error = #expect(throws: InputFile.LineError.self) {
            try InputFile(reading: "http://h/f\n gid=00000000000000AB".utf8)
        }
        #expect(error?.kind == .unknownOption("gid"))
    }
}
