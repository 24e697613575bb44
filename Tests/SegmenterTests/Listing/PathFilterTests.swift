import Testing

@testable import Segmenter

/// Tests which files patterns choose.
struct PathFilterTests {
    @Test(arguments: [
        ("*.bin", "a.bin", true), ("*.bin", "dir/a.bin", true), ("*.bin", "a.bin.txt", false),
        ("dir/*", "dir/x/y", true), ("dir/", "dir/x/y", true), ("dir/", "dir", false),
        ("dir/", "other/dir/x", false), ("a?c", "a/c", true), ("[ab].txt", "b.txt", true),
        ("[!ab].txt", "b.txt", false), ("x", "dir/x", false), ("*", ".hidden", true),
        ("A", "a", false), ("", "a", false),
    ])
    func patternIsMatchedAgainstWholePath(pattern: String, path: String, isChosen: Bool) {
        #expect(PathFilter(include: [pattern]).chooses(path) == isChosen)
        #expect(PathFilter(exclude: [pattern]).chooses(path) == !isChosen)
    }

    @Test func excludeWins() {
        let filter = PathFilter(include: ["*.bin", "*.txt"], exclude: ["old/"])
        #expect(filter.chooses("a.bin") && filter.chooses("new/a.txt"))
        #expect(!filter.chooses("old/a.bin") && !filter.chooses("a.md"))
        #expect(PathFilter().chooses("anything"))
    }
}
