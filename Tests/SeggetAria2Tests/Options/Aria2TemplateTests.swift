import Testing

@testable import SeggetAria2

struct Aria2TemplateTests {
    @Test(
        arguments: [
            ("http://h/f", ["http://h/f"]), ("", []), ("{a,b}", ["a", "b"]),
            ("x{a,b}y{1,2}", ["xay1", "xay2", "xby1", "xby2"]), ("{ a ,,b}", ["a", "b"]),
            ("[1-3]", ["1", "2", "3"]), ("[08-10]", ["08", "09", "10"]),
            ("[8-10]", ["8", "9", "10"]), ("[001-007:3]", ["001", "004", "007"]),
            ("[A-C]", ["A", "B", "C"]), ("[y-ab]", []), ("[y-bb]", ["y", "z", "ba", "bb"]),
            ("[b-d:2]x", ["bx", "dx"]), ("[a-a]", ["a"]), ("x[3-1]y", ["xy"]), ("{}z", []),
            ("[ab-ad]", ["ab", "ac", "ad"]), ("a}b]c", ["a}b]c"]),
            ("ä{é,e\u{301}}", ["äé", "äe\u{301}"]),
        ] as [(String, [String])])
    func expandsSetsAndRangesLikeAria2(text: String, expanded: [String]) throws {
        #expect(try Aria2Template.expanded(text) == expanded)
    }

    @Test(arguments: [
        ("{a", "Missing '}' in the parameterized string."),
        ("[1-", "Missing ']' in the parameterized string."), ("[1]", "Loop range missing."),
        ("[1-65536]", "Loop range overflow."),
        ("[1-2:0]", "A step count must be a positive number."),
        ("[1-2:x]", "A step count must be a positive number."),
        ("[1-2:65536]", "Loop step overflow."),
        ("[1-b]", "Invalid loop range."), ("[a-B]", "Invalid loop range."),
        ("[-2]", "Invalid loop range."),
        ("[0-9999][0-9999]", "Loop range overflow."),
    ])
    func errorMessagesMatchAria2(text: String, problem: String) throws {
        let error = try #require(throws: Aria2Template.PatternError.self) {
            try Aria2Template.expanded(text)
        }
        #expect(error.text == problem)
    }
}
