import SeggetReports
import Foundation
import Testing

@testable import SeggetService

/// Tests how calls of JSON-RPC are parsed and answered.
struct RPCMessageTests {
    @Test(arguments: [
        "12345678901234567890", "123456789012345678901234567890", "9007199254740993", "-1", "0",
        "null", #""a""#, #""""#, #""12""#, "true", "[1]", #"{"a":1}"#, "1.5",
    ])
    func returnsIdentifierUnchanged(id: String) {
        guard case .one(let request) = RPCBody(Data(#"{"id":\#(id),"method":"m"}"#.utf8)) else {
            Issue.record("no request")
            return
        }
        let text = String(decoding: request.answer(.success("x")).data, as: UTF8.self)
        #expect(text == #"{"id":\#(id),"jsonrpc":"2.0","result":"x"}"#)
    }

    @Test func parsesCalls() {
        let call = #"{"jsonrpc":"2.0","id":1,"method":"m","params":["a",2,null,{"b":[true]}]}"#
        guard case .one(let request) = RPCBody(Data(call.utf8)) else {
            Issue.record("no request")
            return
        }
        #expect(
            request.call
                == .success(RPCCall("m", ["a", 2, .null, ["b": .array([.bool(true)])]])))
    }

    @Test(arguments: [
        "", " ", "{", "[", #"{"id":1,"method":"m""#, "nonsense", "1",
        #""text""#, "null", "true", #"{"id":1 "method":"m"}"#, #"{'id':1}"#, "{}{}",
        #"{"id":1,"method":"\x"}"#, #"{"id":01,"method":"m"}"#, "\u{0}", "{\"a\":\"\u{1}\"}",
        #"{"id":NaN,"method":"m"}"#,
        String(repeating: "[", count: 100_000), String(repeating: #"{"a":"#, count: 50_000),
    ])
    func refusesInvalidJSON(text: String) { #expect(RPCBody(Data(text.utf8)) == .broken) }

    @Test func refusesInvalidUTF8() {
        for bytes: [UInt8] in [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0xf5, 0x80]] {
            let text = Data(#"{"id":1,"method":""#.utf8) + Data(bytes) + Data(#""}"#.utf8)
            #expect(RPCBody(text) == .broken, "\(bytes)")
        }
    }

    @Test func refusesTruncatedJSON() {
        let whole = Array(
            #"{"id":12,"method":"aria2.addUri","params":["token:x",["http://a/ü"],{"a":"b"}]}"#.utf8
        )
        for count in 0..<whole.count {
            #expect(RPCBody(Data(whole[..<count])) == .broken, "\(count)")
        }
    }

    @Test(arguments: [
        (63, true), (64, false), (65, false), (1000, false),
    ])
    func nestingIsLimited(levels: Int, isRead: Bool) {
        for (open, shut) in [("[", "]"), (#"{"a":"#, "}")] {
            // The innermost value is one level deeper.
            let text =
                String(repeating: open, count: levels) + "1"
                + String(repeating: shut, count: levels)
            #expect((JSONValue.read(Data(text.utf8)) != nil) == isRead, "\(levels) of \(open)")
        }
    }

    @Test(arguments: [
        (#"{"method":"m"}"#, -32600, 400), (#"{"id":1}"#, -32600, 400), ("{}", -32600, 400),
        (#"{"id":1,"method":7}"#, -32600, 400), (#"{"id":1,"method":null}"#, -32600, 400),
        (#"{"id":1,"method":"m","params":{"a":1}}"#, -32602, 500),
        (#"{"id":1,"method":"m","params":"a"}"#, -32602, 500),
        (#"{"id":1,"method":"m","params":null}"#, -32602, 500),
    ])
    func refusesInvalidCalls(text: String, code: Int, status: Int) {
        guard case .one(let request) = RPCBody(Data(text.utf8)),
            case .failure(let error) = request.call
        else {
            Issue.record("it is taken for a call")
            return
        }
        #expect(error.code == code && error.status == status)
    }

    @Test func usesOneOfEqualKeys() {
        guard case .one(let request) = RPCBody(Data(#"{"id":1,"method":"a","method":"b"}"#.utf8)),
            case .success(let call) = request.call
        else {
            Issue.record("no call")
            return
        }
        #expect(["a", "b"].contains(call.method))
    }

    @Test func batchSkipsOtherValues() {
        let text = #"[1,{"id":1,"method":"a"},"x",null,[],{"id":2,"method":"b"},{}]"#
        guard case .batch(let requests) = RPCBody(Data(text.utf8)) else {
            Issue.record("no batch")
            return
        }
        #expect(requests.map(\.id) == [1, 2, .null])
        #expect(RPCBody(Data("[]".utf8)) == .batch([]))
    }
}

struct RPCParametersTests {
    private static func message(_ body: () throws(RPCError) -> Void) -> String? {
        do throws(RPCError) {
            try body()
            return nil
        } catch {
            return error.message
        }
    }

    @Test func reportsMissingOrWrongParameters() {
        let parameters = RPCParameters(["a", 1])
        #expect(
            Self.message { () throws(RPCError) in _ = try parameters.text(2) }
                == "The parameter at 2 is required but missing.")
        #expect(
            Self.message { () throws(RPCError) in _ = try parameters.text(1) }
                == "The parameter at 1 has wrong type.")
        #expect(
            Self.message { () throws(RPCError) in _ = try parameters.integer(0) }
                == "The parameter at 0 has wrong type.")
        #expect(Self.message { () throws(RPCError) in _ = try parameters.object(2) } == nil)
        #expect(Self.message { () throws(RPCError) in _ = try parameters.object(1) } != nil)
    }

    @Test func readsNumbers() throws {
        let parameters = RPCParameters([
            -1, 0, .number(1.5), .number(Decimal(string: "123456789012345678901") ?? 0),
        ])
        #expect(try parameters.integer(0) == -1)
        #expect(Self.message { () throws(RPCError) in _ = try parameters.count(0) } != nil)
        #expect(Self.message { () throws(RPCError) in _ = try parameters.position(0) } != nil)
        #expect(try parameters.count(1) == 0)
        #expect(try parameters.position(9) == nil)
        #expect(Self.message { () throws(RPCError) in _ = try parameters.integer(2) } != nil)
        #expect(Self.message { () throws(RPCError) in _ = try parameters.integer(3) } != nil)
    }

    @Test func listsSkipOtherValues() throws {
        let parameters = RPCParameters([["a", 1, .null, "b"], .array([]), [1]])
        #expect(try parameters.texts(0) == ["a", "b"])
        #expect(try parameters.keys(0) == ["a", "b"])
        #expect(try parameters.keys(1) == nil)
        #expect(try parameters.keys(2) == nil)
    }
}
