import FoundationEssentials
import Testing

/// Tests that the code in the articles about the library is compiled; other tests run it.
@Suite struct ArticlesTests {
    /// An article, and the files in `Tests/LibraryExamples` that have its code.
    struct Article: Sendable, CustomTestStringConvertible {
        let page: String
        let sources: [String]
        var testDescription: String { page }

        init(_ name: String) {
            page = "Sources/Segmenter/Segmenter.docc/\(name).md"
            sources = ["Tests/LibraryExamples/\(name).swift"]
        }

        init(page: String, sources: [String]) { (self.page, self.sources) = (page, sources) }
    }

    static let articles = ["DownloadOneFile", "FollowProgress", "ManyFiles", "StopAndResume"].map {
        Article($0)
    }

    private static let queue = "Tests/LibraryExamples/Queue/QueueExamples.swift"
    static let others =
        ["RunAQueue", "ObserveIt", "SurviveARestart"].map {
            Article(page: "Sources/SeggetQueue/SeggetQueue.docc/\($0).md", sources: [queue])
        } + [
            Article(
                page: "docs/guide/library.md",
                sources: ["Tests/LibraryExamples/Guide.swift", queue])
        ]

    @Test(arguments: articles + others)
    func codeOfArticlesIsCompiled(article: Article) throws {
        let source = Self.unindented(try article.sources.flatMap(Self.lines))
        let blocks = Self.blocks(try Self.lines(article.page))
        #expect(!blocks.isEmpty)
        for block in blocks where block.first != "// Package.swift" {
            #expect(source.contains(Self.unindented(block)), "\(block.joined(separator: "\n"))")
        }
    }

    @Test func firstPageLinksAllArticles() throws {
        let page = try Self.lines("Sources/Segmenter/Segmenter.docc/Segmenter.md")
        let folder = Self.root + "/Sources/Segmenter/Segmenter.docc"
        let files = try FileManager.default.contentsOfDirectory(atPath: folder)
        let names = files.filter { $0.hasSuffix(".md") && $0 != "Segmenter.md" }
        #expect(
            Set(names)
                == Set(Self.articles.map { String($0.page.split(separator: "/").last ?? "") }))
        for name in names { #expect(page.contains("- <doc:\(name.dropLast(3))>")) }
    }

    /// Returns the lines of each block of Swift code.
    private static func blocks(_ lines: [String]) -> [[String]] {
        lines.split { $0 == "```swift" }.dropFirst().map { Array($0.prefix { $0 != "```" }) }
    }

    /// Returns the lines without their indentation, which differs between an article and a
    /// function.
    private static func unindented(_ lines: [String]) -> String {
        lines.map { String($0.drop { $0 == " " }) }.joined(separator: "\n") + "\n"
    }

    private static let root = #filePath.split(separator: "/").dropLast(4).reduce(into: "") {
        $0 += "/\($1)"
    }

    private static func lines(_ path: String) throws -> [String] {
        let text = try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
        return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }
}
