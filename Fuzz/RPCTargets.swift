import Foundation
import SeggetReports

@testable import SeggetService

/// Calls of JSON-RPC, as programs and pages send them.
enum RPCTargets {
    /// A body of a request, or a message of a WebSocket.
    static func message(_ bytes: [UInt8]) {
        let requests: [RPCRequest]
        switch RPCBody(Data(bytes)) {
        case .broken: return
        case .one(let request): requests = [request]
        case .batch(let all): requests = all
        }
        guard let value = JSONValue.read(Data(bytes)) else { fatalError("read, and not read") }
        check(Data(bytes))
        check(value)
        for request in requests {
            var given = JSONValue.null
            if case .success(let call) = request.call { given = .array(call.parameters) }
            for result: Result<JSONValue, RPCError> in [.success(given), .failure(.parse)] {
                let answer = request.answer(result)
                check(answer)
                expect(answer.object?["id"] == request.id, "another id")
            }
        }
    }

    /// The target of a `GET`.
    static func query(_ bytes: [UInt8]) {
        let query = RPCQuery(text(bytes))
        if case .one = RPCBody(query.text) { check(query.text) }
        let answer = RPCRequest.broken.answer(.success(.string(text(bytes)))).data
        let body = query.wrapped(answer)
        guard let callback = query.callback else {
            expect(body == answer, "changed without a callback")
            return
        }
        expect((1...64).contains(callback.utf8.count), "a name of \(callback.utf8.count) bytes")
        let isName = callback.utf8.allSatisfy { byte in
            let scalar = Unicode.Scalar(byte)
            return byte < 0x80
                && (scalar.properties.isAlphabetic || "0123456789_.$".utf8.contains(byte))
        }
        expect(isName, "\(callback) is no name")
        expect(body.starts(with: "\(callback)(".utf8) && body.last == UInt8(ascii: ")"), "no call")
        let argument = body.dropFirst(callback.utf8.count + 1).dropLast()
        expect(JSONValue.read(Data(argument)) == JSONValue.read(answer), "another answer")
        let script = text(body)
        expect(
            !script.unicodeScalars.contains { ["\u{2028}", "\u{2029}", "\n", "\r"].contains($0) },
            "a line ends in the script")
    }

    /// What was read is, written, the same again.
    private static func check(_ value: JSONValue) {
        let text = value.data
        check(text)
        // An answer has the identifier one level deeper than it came.
        guard depth(value) < JSONValue.mostLevels else { return }
        guard let again = JSONValue.read(text) else { fatalError("what was written does not read") }
        expect(again == value && again.data == text, "written again, another value")
    }

    private static func depth(_ value: JSONValue) -> Int {
        switch value {
        case .array(let values): 1 + (values.map(depth).max() ?? 0)
        case .object(let members): 1 + (members.values.map(depth).max() ?? 0)
        default: 0
        }
    }

    /// Foundation, which takes more than JSON, takes it.
    private static func check(_ text: Data) {
        expect((try? JSONDecoder().decode(AnyValue.self, from: text)) != nil, "no JSON")
    }

    private struct AnyValue: Decodable {
        init(from decoder: any Decoder) {}
    }
}
