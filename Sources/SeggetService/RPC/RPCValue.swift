// RPC: aria2's JSON-RPC: what is asked, what is answered, and what becomes of it in the queue. It knows aria2's words
// and the queue's; it never knows a socket.

import FoundationEssentials

/// A value of JSON, as it came.
///
/// A number is its text, so that one of any size stays what it is.
enum RPCValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([RPCValue])
    case object([String: RPCValue])

    /// The deepest nesting that is read.
    static let mostLevels = 64

    /// The text; `nil` for any other value.
    var string: String? { if case .string(let text) = self { text } else { nil } }

    /// The elements; `nil` for any other value.
    var array: [RPCValue]? { if case .array(let values) = self { values } else { nil } }

    /// The members; `nil` for any other value.
    var object: [String: RPCValue]? { if case .object(let members) = self { members } else { nil } }

    /// The whole number; `nil` for any other value.
    var integer: Int64? {
        guard case .number(let text) = self else { return nil }
        return Int64(text) ?? Double(text).flatMap { Int64(exactly: $0) }
    }

    /// A text of a number, as aria2 gives all its numbers.
    static func text(_ number: some BinaryInteger) -> RPCValue { .string(String(number)) }

    /// Texts.
    static func texts(_ texts: some Sequence<String>) -> RPCValue {
        .array(texts.map(RPCValue.string))
    }
}

extension RPCValue {
    /// Reads a text of JSON.
    ///
    /// - Returns: The value; `nil` where it is none, or is nested too deeply.
    static func read(_ text: Data) -> RPCValue? { RPCReader.value(of: text) }

    /// The text of the value: members in order, slashes as they are.
    var data: Data {
        var text: [UInt8] = []
        write(to: &text)
        return Data(text)
    }

    private func write(to text: inout [UInt8]) {
        switch self {
        case .null: text += "null".utf8
        case .bool(let flag): text += (flag ? "true" : "false").utf8
        case .number(let number): text += number.utf8
        case .string(let string): Self.write(string, to: &text)
        case .array(let values):
            text += "[".utf8
            for (place, value) in values.enumerated() {
                if place > 0 { text += ",".utf8 }
                value.write(to: &text)
            }
            text += "]".utf8
        case .object(let members):
            text += "{".utf8
            for (place, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                if place > 0 { text += ",".utf8 }
                Self.write(member.key, to: &text)
                text += ":".utf8
                member.value.write(to: &text)
            }
            text += "}".utf8
        }
    }

    /// Writes a string; what has to be escaped is (RFC 8259 §7), and nothing else.
    private static func write(_ string: String, to text: inout [UInt8]) {
        text += "\"".utf8
        for byte in string.utf8 {
            switch Unicode.Scalar(byte) {
            case "\"": text += #"\""#.utf8
            case "\\": text += #"\\"#.utf8
            case "\u{8}": text += #"\b"#.utf8
            case "\t": text += #"\t"#.utf8
            case "\n": text += #"\n"#.utf8
            case "\u{c}": text += #"\f"#.utf8
            case "\r": text += #"\r"#.utf8
            case "\u{0}"..."\u{1f}":
                text += (byte < 0x10 ? #"\u000"# : #"\u00"#).utf8
                text += String(byte, radix: 16).utf8
            default: text.append(byte)
            }
        }
        text += "\"".utf8
    }
}

extension RPCValue: ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByArrayLiteral, ExpressibleByIntegerLiteral
{
    init(stringLiteral text: String) { self = .string(text) }
    init(integerLiteral number: Int) { self = .number(String(number)) }
    init(arrayLiteral values: RPCValue...) { self = .array(values) }
    init(dictionaryLiteral members: (String, RPCValue)...) {
        self = .object(Dictionary(members, uniquingKeysWith: { _, last in last }))
    }
}
