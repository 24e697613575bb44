import ReportExamples
import Testing

@testable import SeggetReports

struct PrintableTextTests {
    @Test(arguments: [
        ("plain ünïcödé 文字 👍", "plain ünïcödé 文字 👍"), ("a\u{1b}[31m", "a\\u{1b}[31m"),
        ("a\r\nb", "a\\u{d}\\u{a}b"), ("\u{0}\u{7f}\u{9b}", "\\u{0}\\u{7f}\\u{9b}"),
        ("file\u{202e}gpj.exe", "file\\u{202e}gpj.exe"),
        ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"),
    ])
    func controlCharactersAreEscaped(text: String, shown: String) {
        #expect(PrintableText.escape(text) == shown)
    }

    @Test func everyUnsafeScalarIsEscaped() {
        for value in 0...UInt32(0x2100) {
            guard let scalar = Unicode.Scalar(value), PrintableText.isUnsafe(scalar) else {
                continue
            }
            let shown = PrintableText.escape("a" + String(scalar) + "b")
            #expect(!shown.unicodeScalars.contains(where: PrintableText.isUnsafe))
        }
    }

    @Test(arguments: [
        ("file.iso", 8, true, "file.iso"), ("file.iso", 7, true, "file.i…"),
        ("file.iso", 1, true, "…"), ("file.iso", 0, true, ""), ("файл.iso", 20, false, "????.iso"),
        ("файл.iso", 5, false, "????~"), ("文字列", 6, true, "文字列"), ("文字列", 5, true, "文字…"),
        ("文字列", 4, true, "文…"), ("e\u{301}e\u{301}", 2, true, "e\u{301}e\u{301}"),
    ])
    func textIsTruncatedToColumns(text: String, columns: Int, unicode: Bool, shown: String) {
        #expect(PrintableText.fit(text, columns: columns, unicode: unicode) == shown)
    }

    @Test func messagesHaveNoControlCharacters() {
        let line = Message(.error, Examples.hostile).line(colour: false)
        #expect(line == "error: a\\u{1b}[2J\\u{9b}31m\\u{202e}b\\u{d}\\u{a}error: c\\u{7f}")
    }
}
