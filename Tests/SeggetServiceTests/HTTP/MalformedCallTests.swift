import Foundation
import Glibc
import TestSupport
import Testing

@testable import SeggetService

/// Tests invalid calls over POST and on a WebSocket: each receives an error and changes nothing.
@Suite(.timeLimit(.minutes(5)))
struct MalformedCallTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var body: [UInt8]
        var status: Int
        /// The code of the error, or of the first one in a batch; `nil` for a result.
        var code: Int?
        /// The identifier of the response.
        var id: String

        init(_ name: String, _ body: String, _ status: Int, _ code: Int?, id: String = "null") {
            (self.name, self.body, self.status) = (name, Array(body.utf8), status)
            (self.code, self.id) = (code, id)
        }

        var testDescription: String { name }
    }

    private static let token = #""token:\#(ServedSite.secret)""#
    private static let call = ServedSite.call("aria2.addUri", #",["http://a/b"]"#)

    /// Returns a call of a method with the token and further parameters.
    private static func row(_ name: String, _ method: String, _ parameters: String) -> Row {
        Row(
            name, #"{"id":1,"method":"aria2.\#(method)","params":[\#(token),\#(parameters)]}"#, 400,
            1, id: "1")
    }

    static let rows: [Row] = texts + encodings

    private static let texts: [Row] =
        [
            Row("nothing", "", 500, -32700),
            Row("a call that is cut off", String(call.dropLast()), 500, -32700),
            Row("a call that is cut off in a string", String(call.dropLast(30)), 500, -32700),
            Row("a call and something behind it", call + "]", 500, -32700),
            Row("two calls without a list", call + call, 500, -32700),
            Row("a comment", "/**/" + call, 500, -32700),
            Row("no double quotes", call.replacing("\"", with: "'"), 500, -32700),
            Row(
                "nested too deeply",
                call.dropLast(2) + "," + String(repeating: "[", count: 63)
                    + String(repeating: "]", count: 63) + "]}", 500, -32700),
            Row("a number", "1", 500, -32700),
            Row("a text", "\"a\"", 500, -32700),
            Row("no identifier", call.replacing("\"id\":\"1\",", with: ""), 400, -32600),
            Row("a method that is a number", #"{"id":7,"method":7}"#, 400, -32600, id: "7"),
            Row("no method", #"{"id":"x"}"#, 400, -32600, id: "\"x\""),
            Row(
                "parameters with names", #"{"id":1,"method":"aria2.addUri","params":{"a":1}}"#, 500,
                -32602, id: "1"),
            row("URLs that are a text", "addUri", "\"http://a/b\""),
            row("URLs that are none", "addUri", "[1,null]"),
            row("options that are a list", "addUri", "[\"http://a/b\"],[]"),
            row("a place that is a text", "addUri", "[\"http://a/b\"],{},\"0\""),
            row("a gid that is a number", "pause", "1"),
            row("a gid that is none", "remove", "\"\""),
            row("a number that is a fraction", "tellWaiting", "0.5,1"),
            row("a number that is too large", "tellWaiting", "0,1e99"),
            Row(
                "an identifier that is there twice",
                #"{"id":1,"id":2,"method":"system.listMethods"}"#, 200, nil, id: "1"),
            Row(
                "a method that is there twice",
                #"{"id":1,"method":"system.listMethods","method":"aria2.addUri"}"#, 200, nil,
                id: "1"),
        ]

    private static let bad: [[UInt8]] = [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0xaf]]
    private static let encodings = bad.map { bytes in
        var row = Row("invalid UTF-8: \(bytes)", "", 500, -32700)
        row.body = Array(#"{"id":""#.utf8)
        row.body += bytes
        row.body += Array(call.dropFirst(7).utf8)
        return row
    }

    private static func check(_ text: String, _ row: Row) throws {
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8))
        let answer = try #require(object as? [String: Any], "\(text)")
        let error = answer["error"] as? [String: Any]
        #expect(error?["code"] as? Int == row.code, "\(text)")
        #expect((answer["result"] == nil) == (row.code != nil), "\(text)")
        #expect(text.contains("\"id\":\(row.id),"), "\(text)")
    }

    @Test(arguments: rows)
    func invalidCallsReceiveErrorsAndChangeNothing(row: Row) async throws {
        try await ServedSite.use { site in
            let client = try site.connect()
            let head = Array(
                "POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(row.body.count)\r\n\r\n"
                    .utf8)
            client.send(head + row.body)
            let reply = try #require(await ServedSite.reply(client))
            #expect(reply.status == row.status)
            try Self.check(reply.body, row)
            let socket = try await site.socket()
            socket.send(WebClient.frame(row.body))
            try Self.check(try #require(await ServedSite.message(socket)).text, row)
            // Both connections remain usable.
            client.send(ServedSite.request("POST /jsonrpc", "", ServedSite.call()))
            #expect(await ServedSite.reply(client)?.status == 200)
            socket.say(ServedSite.call())
            #expect(await ServedSite.message(socket)?.text.contains("version") == true)
            #expect(await site.door.commands.isEmpty)
        }
    }

    /// A request whose body is shorter than its `Content-Length`.
    @Test func ignoresTruncatedBody() async throws {
        try await ServedSite.use { site in
            let whole = ServedSite.request("POST /jsonrpc", "", Self.call)
            let client = try site.connect()
            client.send(String(whole.dropLast()))
            shutdown(client.descriptor, Int32(SHUT_WR))
            #expect(
                await soon {
                    client.take()
                    return client.isEnded
                })
            #expect(client.text.hasPrefix("HTTP/1.1 400 "))
            #expect(await site.door.commands.isEmpty)
        }
    }
}
