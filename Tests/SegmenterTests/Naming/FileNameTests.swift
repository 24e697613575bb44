import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct FileNameTests {
    private static let address = "https://example.org/dir/url.bin?name=no.txt#frag"

    @Test(arguments: [
        ("attachment; filename=plain.txt", "plain.txt"),
        ("attachment; filename=\"with space.txt\"", "with space.txt"),
        ("attachment; filename=two words.txt ", "two words.txt"),
        ("attachment; filename=\"a \\\"b\\\".txt\"", "a _b_.txt"),
        ("attachment; filename=\"a;b=c.txt\"; size=4", "a;b=c.txt"),
        ("inline; FileName=X.txt", "X.txt"),
        ("attachment; filename = \"x.txt\"", "x.txt"),
        ("attachment; size=5; filename=x.txt", "x.txt"),
        ("attachment;filename=x.txt", "x.txt"),
        ("attachment; filename=x.txt; filename=y.txt", "x.txt"),
        ("attachment; filename=\"unterminated.txt", "unterminated.txt"),
        ("attachment; filename*=UTF-8''na%C3%AFve%20%E2%82%AC.txt", "naïve €.txt"),
        ("attachment; filename*=utf-8'en'x.txt", "x.txt"),
        ("attachment; filename*=UTF-8''it%27s.txt", "it's.txt"),
        ("attachment; filename*=ISO-8859-1''na%EFve.txt", "naïve.txt"),
        ("attachment; filename*=iso-8859-1'fr'caf%e9.txt", "café.txt"),
        ("attachment; filename=\"plain.txt\"; filename*=UTF-8''ext.txt", "ext.txt"),
        ("attachment; filename*=UTF-8''ext.txt; filename=\"plain.txt\"", "ext.txt"),
        ("attachment; filename=\"plain.txt\"; filename*=bogus", "plain.txt"),
        ("attachment; filename=\"plain.txt\"; filename*=UTF-8'only-one", "plain.txt"),
        ("attachment; filename=\"plain.txt\"; filename*=KOI8-R''%C1.txt", "plain.txt"),
        ("attachment; filename=\"plain.txt\"; filename*=ISO-8859-1''%zz.txt", "plain.txt"),
        ("attachment; filename=\"plain.txt\"; filename*=ISO-8859-1''x%4", "plain.txt"),
        // No usable name: the URL's name is used.
        ("attachment", "url.bin"), ("", "url.bin"),
        ("attachment; filename", "url.bin"), ("attachment; filename=", "url.bin"),
        ("attachment; filename=\"\"", "url.bin"), ("attachment; filename=\"..\"", "url.bin"),
        ("attachment; filename=\"/\"", "url.bin"), ("attachment; filename=\"...\"", "url.bin"),
        ("attachment; name=x.txt", "url.bin"),
        // Malicious names.
        ("attachment; filename=../../etc/passwd", "passwd"),
        ("attachment; filename=\"/etc/passwd\"", "passwd"),
        ("attachment; filename=\"..\\\\..\\\\evil.exe\"", "evil.exe"),
        ("attachment; filename=\"C:\\\\evil.exe\"", "evil.exe"),
        ("attachment; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd", "passwd"),
        ("attachment; filename*=UTF-8''a%00b%0D%0Ac%1B.txt", "abc.txt"),
        ("attachment; filename=\".bashrc\"", "bashrc"), ("attachment; filename=-rf", "rf"),
        ("attachment; filename=\"~root\"", "root"), ("attachment; filename=\"a. . .\"", "a"),
        ("attachment; filename*=UTF-8''evil%E2%80%AEtxt.exe", "eviltxt.exe"),
    ])
    func suggestsNameFromDisposition(disposition: String, name: String) throws {
        let url = try #require(WebURL(Self.address))
        #expect(FileName.suggested(disposition: disposition, url: url) == name)
    }

    @Test(arguments: [
        (address, "url.bin"), ("https://example.org/na%C3%AFve", "naïve"),
        ("https://example.org/naïve", "naïve"), ("https://example.org/a b", "a b"),
        ("https://example.org", "download"), ("https://example.org/", "download"),
        ("https://example.org/dir/", "download"), ("https://example.org/?f=x.iso", "download"),
        ("https://example.org/dir/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "passwd"),
        ("https://example.org/%2E%2E", "download"), ("https://example.org/.profile", "profile"),
        ("https://example.org/a%0A%00b", "ab"), ("https://example.org/a%2Fb.txt", "b.txt"),
    ])
    func suggestsNameFromURL(address: String, name: String) throws {
        let url = try #require(WebURL(address))
        #expect(FileName.suggested(disposition: nil, url: url) == name)
    }

    @Test(arguments: [
        ("plain.txt", "plain.txt"), ("a b", "a b"), ("", ""), (".", ""), ("..", ""), ("...", ""),
        ("/", ""), ("\\", ""), ("//", ""), ("a/", "a"), ("a/b\\c", "c"), ("../x", "x"),
        ("a/..", ""), (" .-~x", "x"), ("x. .", "x"), ("x.tar.gz", "x.tar.gz"), ("x-", "x-"),
        ("a\u{0}b\u{1b}[31mc\u{7f}\u{9b}", "ab[31mc"), ("a\r\nb", "ab"),
        ("a\u{200b}\u{200e}\u{202a}\u{202e}\u{2066}\u{2069}\u{feff}b", "ab"),
        ("a\u{2028}b\u{2029}c", "abc"), ("\u{202e}.hidden", "hidden"),
        ("日本語.txt", "日本語.txt"), ("👩‍👩‍👧.png", "👩👩👧.png"),
        // A separator before a combining mark is one character with it, but still separates.
        ("/\u{301}evil", "\u{301}evil"), ("a/\u{301}b", "\u{301}b"), ("\\\u{301}b", "\u{301}b"),
        (".\u{301}rc", "\u{301}rc"), ("-\u{301}rf", "\u{301}rf"),
    ])
    func sanitizesToOneComponent(text: String, name: String) {
        #expect(Array(FileName.sanitized(text).utf8) == Array(name.utf8))
    }

    @Test func cutsBeforeExtension() {
        let longest = FileName.longest
        #expect(longest == 247)
        let plain = String(repeating: "a", count: 300)
        #expect(FileName.sanitized(plain) == String(repeating: "a", count: longest))
        #expect(
            FileName.sanitized(plain + ".tar") == String(repeating: "a", count: longest - 4)
                + ".tar")
        let exact = String(repeating: "a", count: longest)
        #expect(FileName.sanitized(exact) == exact)
        // The cut is between characters: é has two bytes.
        let accents = FileName.sanitized(String(repeating: "é", count: 150) + ".txt")
        #expect(accents == String(repeating: "é", count: 121) + ".txt")
        // A long suffix is not an extension, and is cut.
        let dotted = FileName.sanitized("a." + String(repeating: "b", count: 300))
        #expect(dotted == "a." + String(repeating: "b", count: longest - 2))
    }

    @Test func cutNameHasNoTrailingSpace() {
        let spaced = String(repeating: "a", count: 246) + "  bbbbb"
        #expect(FileName.sanitized(spaced) == String(repeating: "a", count: 246))
        let dotted = String(repeating: "a", count: 246) + ". " + String(repeating: "b", count: 60)
        #expect(FileName.sanitized(dotted) == String(repeating: "a", count: 246))
    }

    @Test func longCharacterDoesNotEmptyName() {
        // One character of 601 bytes.
        let letter = "e" + String(repeating: "\u{301}", count: 300)
        let name = FileName.sanitized(letter + ".txt")
        #expect(name.utf8.count <= FileName.longest)
        #expect(!name.hasPrefix("."))
    }

    private static let alphabet: [Unicode.Scalar] =
        Array("ab.-~ /\\:;\"'%é€😀".unicodeScalars)
        + [
            "\u{0}", "\u{1}", "\n", "\r", "\t", "\u{1b}", "\u{7f}", "\u{85}", "\u{9b}", "\u{a0}",
            "\u{ad}", "\u{300}", "\u{301}", "\u{20dd}", "\u{fe0f}", "\u{200b}", "\u{200d}",
            "\u{200e}", "\u{202e}", "\u{2028}", "\u{2029}", "\u{2066}", "\u{feff}", "\u{fffd}",
            "\u{1f3fd}", "\u{1f1e9}", "\u{1f1ea}", "\u{e0001}", "\u{1100}", "\u{1161}",
        ]

    @Test func sanitizesRandomTexts() {
        let separators: Set<Unicode.Scalar> = ["/", "\\", "\u{0}"]
        forEachSeed(4000) { seed, random in
            let isLong = Int.random(in: 0..<4, using: &random) == 0
            let count = Int.random(in: 0...(isLong ? 400 : 12), using: &random)
            var text = String.UnicodeScalarView()
            for _ in 0..<count {
                // Long names have few kinds of characters, so that the cut is often at a special
                // one.
                let kinds =
                    isLong ? Self.alphabet.prefix(8) + Self.alphabet[25...28] : Self.alphabet[...]
                if let scalar = kinds.randomElement(using: &random) { text.append(scalar) }
            }
            let name = FileName.sanitized(String(text))
            let context: Comment = "seed \(seed): \(String(text).debugDescription)"
            #expect(name.utf8.count <= FileName.longest, context)
            #expect(!name.unicodeScalars.contains(where: separators.contains), context)
            #expect(
                !name.unicodeScalars.contains { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator: true
                    default: false
                    }
                }, context)
            let first = name.unicodeScalars.first
            #expect(first != "." && first != "-" && first != "~" && first != " ", context)
            let last = name.unicodeScalars.last
            #expect(last != "." && last != " ", context)
            #expect(Array(FileName.sanitized(name).utf8) == Array(name.utf8), context)
        }
    }
}
