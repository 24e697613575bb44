import ArgumentParser
import Segmenter
import Testing

@testable import SeggetCommand

struct VersionTextTests {
    /// Programs read the version from the first line, as with curl.
    @Test func versionHasCurlsFeatures() {
        let lines = VersionText.full.split(separator: "\n").map(String.init)
        #expect(lines[0].hasPrefix("segget \(seggetVersion) ("))
        #expect(lines[0].contains(") libcurl/"))
        #expect(lines.suffix(2).first == "Protocols: http https")
        #expect(lines.last?.hasPrefix("Features: ") == true)
        #expect(lines.last?.contains("SSL") == true)
    }

    /// segget recognizes `--version` by the text that the parser prints.
    @Test func parserVersionIsTheFirstTwoWords() {
        #expect(Segget.configuration.version == "segget \(seggetVersion)")
        #expect(VersionText.full.hasPrefix("\(Segget.configuration.version) "))
    }
}
