import Testing

@testable import SeggetFormats

struct ConfigurationFileTests {
    private typealias Line = ConfigurationFile.Line

    @Test(
        arguments: [
            ("", []), ("\n\n  \n# all\n   # of it\n", []),
            ("connections = 16", [(1, "connections", "16")]),
            ("connections=16\r\nquiet\r\n", [(1, "connections", "16"), (2, "quiet", nil)]),
            ("\u{feff}quiet", [(1, "quiet", nil)]), ("  quiet  # why", [(1, "quiet", nil)]),
            ("quiet#why", [(1, "quiet", nil)]), ("json = true # yes", [(1, "json", "true")]),
            ("output =", [(1, "output", "")]), ("output = \"\"", [(1, "output", "")]),
            ("header = X: a#b = c", [(1, "header", "X: a#b = c")]),
            ("header = X: a #b", [(1, "header", "X: a")]), ("output = #x", [(1, "output", "")]),
            ("header = \"X:  a #b \"", [(1, "header", "X:  a #b ")]),
            ("header = \"a \\\"b\\\" \\\\ \\n\"  # c", [(1, "header", "a \"b\" \\ \\n")]),
            ("header = a \"b\"", [(1, "header", "a \"b\"")]),
            (
                "\nquiet\n\nheader = A: b\nheader = C: d",
                [
                    (2, "quiet", nil), (4, "header", "A: b"), (5, "header", "C: d"),
                ]
            ),
            ("directory = ~/Downloads", [(1, "directory", "/home/x/Downloads")]),
            ("directory = ~", [(1, "directory", "/home/x")]),
            ("directory = ~y/z", [(1, "directory", "~y/z")]),
            ("directory = \"~/z\"", [(1, "directory", "~/z")]),
            // A combining accent forms one character with the preceding one.
            ("output =\u{301}b", [(1, "output", "\u{301}b")]),
            ("output = \"\u{301}b\\\"\u{301}\"", [(1, "output", "\u{301}b\"\u{301}")]),
        ] as [(String, [(Int, String, String?)])])
    func parsesLines(text: String, lines: [(Int, String, String?)]) throws {
        let read = try ConfigurationFile.lines(of: text, home: "/home/x")
        #expect(read == lines.map { Line(number: $0.0, name: $0.1, value: $0.2) })
    }

    @Test(arguments: [
        ("quiet\n--quiet", 2, "without dashes"), ("= 5", 1, "name = value"),
        ("[section]", 1, "name = value"), ("two words = 5", 1, "name = value"),
        ("Quiet", 1, "name = value"), ("\n\nfile_name = 1", 3, "name = value"),
        ("output = \"a", 1, "not closed"), ("output = \"a\\\"", 1, "not closed"),
        ("output = \"", 1, "not closed"), ("output = \"a\" b", 1, "after the closing quote"),
        ("output = \"a\\\\\" \"b\"", 1, "after the closing quote"),
    ])
    func errorsHaveTheLine(text: String, number: Int, problem: String) {
        let error = #expect(throws: ConfigurationFile.LineError.self) {
            try ConfigurationFile.lines(of: text, home: nil)
        }
        #expect(error?.number == number)
        #expect(error?.text.contains(problem) == true, "\(error?.text ?? "")")
    }
}
