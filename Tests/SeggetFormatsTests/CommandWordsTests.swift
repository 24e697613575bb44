import Testing

@testable import SeggetFormats

struct CommandWordsTests {
    @Test(arguments: [
        ("true", ["true"]), ("  a  b\tc\n", ["a", "b", "c"]), ("a 'b c' d", ["a", "b c", "d"]),
        ("a \"b c\"", ["a", "b c"]), ("a\\ b c", ["a b", "c"]), ("a '' \"\"", ["a", "", ""]),
        ("a'b'\"c\"d", ["abcd"]), ("a \"\\\"\\\\\\n$x\"", ["a", "\"\\\\n$x"]),
        ("a '\\n\"'", ["a", "\\n\""]), ("a \\'b", ["a", "'b"]),
        (
            "a $B *.c ~ | > &",
            [
                "a", "$B", "*.c", "~", "|", ">", "&",
            ]
        ), ("a\\", ["a\\"]), ("sh -c 'echo \"$A\"'", ["sh", "-c", "echo \"$A\""]),
        ("größe '日 本'", ["größe", "日 本"]),
        // Combining marks after a quote or a space, with which they form one character.
        ("'\u{301}a b' \u{301}", ["\u{301}a b", "\u{301}"]), ("a\r\nb", ["a", "b"]),
    ])
    func splitsLikeAShell(text: String, words: [String]) throws {
        #expect(try CommandWords.split(text) == words)
    }

    @Test(arguments: ["", "  ", "''", "'' a", "\"\"", "a 'b", "a \"b", "a \"b\\\"", "'"])
    func refusesUnbalancedQuotes(text: String) {
        #expect(throws: CommandWords.SyntaxError.self) { try CommandWords.split(text) }
    }
}
