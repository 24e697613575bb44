import Assembler
import SegmenterTransport
import Testing

@testable import Segmenter

struct HubRepliesTests {
    private func entry(_ path: String) -> HubReplies.Entry {
        .init(type: "file", path: path, size: 1, oid: nil, lfs: nil)
    }

    // MARK: Pages

    @Test(arguments: [
        (
            "<https://huggingface.co/api/x?cursor=a%3D>; rel=\"next\"",
            "https://hub.test/api/x?cursor=a%3D"
        ),
        (
            "<https://hub.test/p1>; rel=\"prev\", <https://hub.test/p3>; rel=\"next\"",
            "https://hub.test/p3"
        ),
        ("</api/y>;rel=next", "https://hub.test/api/y"),
        ("<https://hub.test/p1>; rel=\"prev\"", nil), ("nonsense", nil), ("", nil),
    ])
    func nextPageIsFound(link: String, next: String?) throws {
        let url = try #require(WebURL("https://hub.test/api/x"))
        #expect(HubReplies.next(link, at: url, endpoint: "https://hub.test")?.text == next)
    }

    @Test func withoutFieldThereIsNoNextPage() throws {
        let url = try #require(WebURL("https://hub.test/api/x"))
        #expect(HubReplies.next(nil, at: url, endpoint: "https://hub.test") == nil)
    }

    // MARK: Quantizations

    @Test(arguments: [
        ("Q4_K_M", ["m-Q4_K_M.gguf"]), ("q8_0", ["m.q8_0.gguf"]),
        ("BF16", ["BF16/m-BF16-00001-of-00002.gguf", "BF16/m-BF16-00002-of-00002.gguf"]),
        ("K_M", []), ("Q4", []),
    ])
    func quantizationIsEndOfName(word: String, paths: [String]) {
        let all = [
            "m-Q4_K_M.gguf", "m.q8_0.gguf", "n-Q4_K_M.gguf", "mmproj-BF16.gguf", "Q4_K_M.txt",
            "BF16/m-BF16-00001-of-00002.gguf", "BF16/m-BF16-00002-of-00002.gguf",
        ].map(entry)
        #expect(HubReplies.files(of: all, quantization: word).map(\.path) == paths)
        #expect(HubReplies.quantizations(of: all) == ["BF16", "Q4_K_M", "q8_0"])
    }

    // MARK: Paths

    @Test(arguments: [
        ("a/b c.txt", true), ("CON", true), ("a..b", true), ("ü", true), ("..", false),
        ("a/../b", false),
        ("a\\..\\b", false), ("/a", false), ("\\\\server\\x", false), ("C:\\x", false),
        ("a/C:x", false), ("", false), ("a//b", false), ("./a", false), ("1:2", true),
    ])
    func pathIsUsable(path: String, isUsable: Bool) {
        #expect(HubPath.isUsable(path) == isUsable)
    }

    @Test func pathIsQuoted() {
        #expect(HubLister.quoted("a b/ü?#%.txt") == "a%20b/%C3%BC%3F%23%25.txt")
    }
}
