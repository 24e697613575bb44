import FoundationEssentials
import Segmenter
import Testing

@Suite struct DownloadIDTests {
    @Test func idsAreUnique() {
        let ids = (0..<1000).map { _ in Download.ID() }
        #expect(Set(ids).count == 1000)
    }

    @Test func parsesItsDescription() throws {
        for id in [Download.ID(), Download.ID(), try #require(Download.ID("00000000000000ff"))] {
            #expect(id.description.utf8.count == 16)
            #expect(Download.ID(id.description) == id)
        }
        #expect(Download.ID("00000000000000ff")?.description == "00000000000000ff")
    }

    @Test(arguments: [
        "", "0", "00000000000000f", "00000000000000fff", "00000000000000FF", "+000000000000001",
        "-000000000000001", "0x00000000000001", "000000000000000g", " 00000000000000f",
        "٠٠٠٠٠٠٠٠",
    ]) func rejectsOtherTexts(text: String) { #expect(Download.ID(text) == nil) }

    @Test func encodesAsString() throws {
        let id = Download.ID()
        let data = try JSONEncoder().encode([id])
        #expect(String(decoding: data, as: UTF8.self) == #"["\#(id)"]"#)
        #expect(try JSONDecoder().decode([Download.ID].self, from: data) == [id])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([Download.ID].self, from: Data(#"["7"]"#.utf8))
        }
    }
}
