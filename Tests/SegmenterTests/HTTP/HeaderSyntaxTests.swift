import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct HeaderSyntaxTests {
    @Test(arguments: [
        "Authorization: Bearer abc", "X-Empty:", "X-Empty: ", "a:b", "X: \t tab", "X: é",
        "!#$%&'*+-.^_`|~09azAZ: all", "X: a: b", "Ranges: bytes=0-1", "X:\u{301}mark",
    ])
    func acceptsValidFields(line: String) throws { try DownloadOptions.check(header: line) }

    @Test(
        arguments: [
            ("", .noColon), ("X", .noColon), ("no colon", .noColon), ("X\r\n", .noColon),
            (": no name", .badName("")), ("X Y: space in the name", .badName("X Y")),
            (" X: space in front", .badName(" X")), ("X : space before the colon", .badName("X ")),
            ("X\t: tab", .badName("X\t")), ("X\r\n: y", .badName("X\r\n")),
            ("X\nY: z", .badName("X\nY")), ("Ü: y", .badName("Ü")), ("(X): y", .badName("(X)")),
            ("X,Y: z", .badName("X,Y")), ("X;Y: z", .badName("X;Y")), ("X=Y: z", .badName("X=Y")),
            ("\"X\": z", .badName("\"X\"")), ("X/Y: z", .badName("X/Y")),
            ("X: a\r\nHost: evil", .badValue(name: "X")), ("X: a\nb", .badValue(name: "X")),
            ("X: a\rb", .badValue(name: "X")), ("X: a\u{0}b", .badValue(name: "X")),
            ("X: a\u{7f}", .badValue(name: "X")), ("X: a\u{1b}[2J", .badValue(name: "X")),
            ("X:\n", .badValue(name: "X")), ("X: \u{b}", .badValue(name: "X")),
            ("Range: bytes=0-1", .reserved(name: "Range")),
            ("IF-RANGE: x", .reserved(name: "IF-RANGE")),
            ("accept-encoding: gzip", .reserved(name: "accept-encoding")),
            ("Content-Length: 1", .reserved(name: "Content-Length")),
            ("Transfer-Encoding: chunked", .reserved(name: "Transfer-Encoding")),
        ] as [(String, HeaderSyntaxError)])
    func rejectsInvalidOrReservedFields(line: String, error: HeaderSyntaxError) {
        #expect(throws: error) { try DownloadOptions.check(header: line) }
    }
}
