import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests names: their Unicode normalization, invalid encodings, lengths, and numbers.
@Suite struct FileNameFormTests {
    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test(arguments: [
        ("e\u{301}.txt", "\u{e9}.txt"), ("A\u{30a}", "\u{c5}"), ("\u{212b}", "\u{c5}"),
        ("\u{1100}\u{1161}\u{11a8}", "\u{ac01}"), ("o\u{302}\u{323}", "\u{1ed9}"),
        ("\u{e9}.txt", "\u{e9}.txt"), ("\u{fb01}", "\u{fb01}"), ("\u{2126}", "\u{3a9}"),
        // Two characters that compose after one between them is removed.
        ("e\u{200b}\u{301}", "\u{e9}"), ("e\u{202e}\u{301}x", "\u{e9}x"),
        ("\u{a0}x\u{3000}.", "x"), ("x\u{2003}. \u{a0}", "x"),
    ])
    func composesUnicode(text: String, name: String) {
        #expect(Self.bytes(FileName.sanitized(text)) == Self.bytes(name))
    }

    @Test(arguments: [
        ("big.iso.segget", "big.iso.segget_"), ("big.SEGGET", "big.SEGGET_"),
        ("big.iso.segget~", "big.iso.segget~_"), (".segget", "segget"), ("segget", "segget"),
        ("a.segget.txt", "a.segget.txt"), ("big.iso.part", "big.iso.part"),
    ])
    func avoidsManifestSuffix(text: String, name: String) {
        #expect(FileName.sanitized(text) == name)
    }

    @Test func cutNameKeepsExtension() {
        let long = String(repeating: "a", count: 300)
        for suffix in [".tar.gz", ".tar.zst", ".iso", ".TAR.xz"] {
            let name = FileName.sanitized(long + suffix)
            #expect(name.hasSuffix("a" + suffix))
            #expect(name.utf8.count == FileName.longest)
        }
        #expect(FileName.sanitized(long + ".segget").utf8.count == FileName.longest)
        #expect(FileName.sanitized(long + ".segget").hasSuffix(".segget_"))
    }

    @Test(arguments: [
        ("big.iso", 0, "big.iso"), ("big.iso", 1, "big.1.iso"), ("big.iso", 12, "big.12.iso"),
        ("x.tar.gz", 1, "x.1.tar.gz"), ("x.Tar.GZ", 2, "x.2.Tar.GZ"), ("x", 1, "x.1"),
        ("app-1.0", 1, "app-1.0.1"), ("app-1.0.zip", 1, "app-1.0.1.zip"), ("a.7z", 1, "a.1.7z"),
        (".tar.gz", 1, ".tar.1.gz"), (".profile", 1, ".profile.1"), ("a. b", 1, "a. b.1"),
        ("a.", 1, "a..1"), ("größe.bücher", 1, "größe.1.bücher"),
    ])
    func numberPrecedesExtension(name: String, number: Int, numbered: String) {
        #expect(FileName.numbered(name, number) == numbered)
    }

    @Test func numberedNameIsShortEnough() {
        forEachSeed(500) { seed, random in
            let letters = ["a", "é", "😀", ".", " ", "e\u{301}"]
            let stem = (0..<Int.random(in: 1...300, using: &random)).compactMap { _ in
                letters.randomElement(using: &random)
            }.joined()
            let name = FileName.sanitized(stem + ".tar.gz")
            let number = Int.random(in: 1...99_999, using: &random)
            let numbered = FileName.numbered(name, number)
            #expect(numbered.utf8.count <= FileName.longest, "seed \(seed)")
            #expect(numbered.hasSuffix(".\(number).tar.gz") || name.count < 8, "seed \(seed)")
            #expect(numbered != FileName.numbered(name, number + 1), "seed \(seed)")
        }
    }

    @Test(arguments: [
        // nginx, Apache and others send the unencoded bytes of the name.
        ("attachment; filename=\"na\u{ef}ve.txt\"", "naïve.txt"),
        ("attachment; filename=größe.txt; filename*=UTF-8''%zz", "%zz"),
        // ISO-8859-1 that is labelled as UTF-8: no name, as in Chromium.
        ("attachment; filename*=UTF-8''caf%E9.txt", "url.bin"),
        // An unterminated encoded word is taken literally, without characters that are not allowed.
        ("attachment; filename=\"=?UTF-8?Q?a?=.txt\"", "=_UTF-8_Q_a_=.txt"),
        ("attachment; filename=\"a%20b.txt\"", "a b.txt"),
        ("attachment; filename*=UTF-8''%E2%80%AEgpj.exe", "gpj.exe"),
        ("attachment; filename*=UTF-8''e%CC%81.txt", "é.txt"),
    ])
    func decodesAnyEncoding(disposition: String, name: String) throws {
        let url = try #require(WebURL("https://example.org/url.bin"))
        let suggested = FileName.suggested(disposition: disposition, url: url)
        #expect(Self.bytes(suggested) == Self.bytes(name))
    }

    @Test(
        arguments: [
            ([0x63, 0xc3, 0xa9], "cé"), ([0x63, 0xe9], "cé"), ([0x63, 0xc3, 0x28], "cÃ("), ([], ""),
            ([0x22, 0x0d, 0x61, 0x0a, 0x1b, 0x09], "\" a \u{1b}\t"),
        ] as [([UInt8], String)])
    func decodesHeadersAsUTF8OrISO8859(value: [UInt8], text: String) {
        let value = value.map { CChar(bitPattern: $0) } + [0]
        #expect(headerText(value) == text)
    }

    @Test(arguments: [
        ("http://bücher.example/straße", "http://xn--bcher-kva.example/stra%c3%9fe"),
        ("http://BÜCHER.example:81/?ä", "http://xn--bcher-kva.example:81/?%c3%a4"),
        ("https://例え.テスト/", "https://xn--r8jz45g.xn--zckzah/"),
        ("http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/"),
    ])
    func convertsInternationalURLsToASCII(address: String, text: String) throws {
        let url = try #require(WebURL(address))
        #expect(url.text.lowercased() == text)
        #expect(url.origin.utf8.allSatisfy { $0 < 0x80 })
        #expect(url.redacted.utf8.allSatisfy { $0 < 0x80 })
    }
}
