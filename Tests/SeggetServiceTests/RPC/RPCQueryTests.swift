import SeggetReports
import Foundation
import Testing

@testable import SeggetService

struct RPCQueryTests {
    private static func encoded(_ text: String) -> String {
        Data(text.utf8).base64EncodedString().replacing("=", with: "%3D")
            .replacing("+", with: "%2B")
    }

    private static func value(_ target: String) -> JSONValue? {
        JSONValue.read(RPCQuery(target).text)
    }

    @Test func buildsCallFromQuery() {
        let parameters = Self.encoded(#"["token:x",["http://a/?b"]]"#)
        #expect(
            Self.value("/jsonrpc?method=aria2.addUri&id=a%20b&params=\(parameters)")
                == [
                    "method": "aria2.addUri", "id": "a b", "params": ["token:x", ["http://a/?b"]],
                ])
        #expect(Self.value("/jsonrpc?method=m&id=1") == ["method": "m", "id": "1"])
        // Plain Base64 has equals signs, which URLs should encode.
        #expect(
            Self.value("/jsonrpc?method=m&params=WzFd&id=a=b")
                == ["method": "m", "id": "a=b", "params": [1]])
        #expect(Self.value("/jsonrpc?id=1&params=WyJhIl0=") == ["id": "1", "params": ["a"]])
    }

    @Test func usesParametersAsBodyWithoutMethod() {
        let batch = #"[{"id":1,"method":"m"}]"#
        #expect(RPCQuery("/jsonrpc?params=\(Self.encoded(batch))").text == Data(batch.utf8))
    }

    @Test(arguments: [
        "/jsonrpc", "/jsonrpc?", "/jsonrpc?params", "/jsonrpc?params=", "/jsonrpc?params=%",
        "/jsonrpc?params=!!", "/jsonrpc?method=m&id=1&params=!!", "/jsonrpc?method=m&params=",
        "/jsonrpc?method=m&params=%ff", "/jsonrpc?&&&", "/jsonrpc?=", "/jsonrpc?jsoncallback=f",
    ])
    func refusesInvalidQueries(target: String) {
        #expect(RPCBody(RPCQuery(target).text) == .broken)
    }

    @Test(
        arguments: [
            ("f", "f"), ("a.b_c$1", "a.b_c$1"), (String(repeating: "f", count: 64), nil),
            (String(repeating: "f", count: 65), ""), ("", ""), ("f(", ""), ("a%28", ""),
            ("a;b", ""),
            ("<script>", ""), ("é", ""), ("a+b", ""), ("alert(1)//", ""), ("a%0Ab", ""),
        ] as [(String, String?)])
    func acceptsOnlyNamesAsCallbacks(text: String, name: String?) {
        let query = RPCQuery("/jsonrpc?method=m&jsoncallback=\(text)")
        let expected = name ?? text
        #expect(query.callback == (expected.isEmpty ? nil : expected))
        let answer = Data("{}".utf8)
        #expect(
            String(decoding: query.wrapped(answer), as: UTF8.self)
                == (expected.isEmpty ? "{}" : "\(expected)({})"))
    }

    @Test func escapesLineSeparators() {
        let query = RPCQuery("/jsonrpc?method=m&jsoncallback=f")
        #expect(
            String(decoding: query.wrapped(Data("\"a\u{2028}b\u{2029}\"".utf8)), as: UTF8.self)
                == #"f("a\u2028b\u2029")"#)
    }
}
