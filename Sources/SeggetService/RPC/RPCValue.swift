// RPC: aria2's JSON-RPC: what is asked, what is answered, and what becomes of it in the queue. It knows aria2's words
// and the queue's; it never knows a socket.

import FoundationEssentials

/// A value of JSON, as it came.
///
/// Numbers are decimal, so that integers of any size stay what they are.
enum RPCValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case number(Decimal)
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
        if case .number(let number) = self { Int64(number.description) } else { nil }
    }

    /// A text of a number, as aria2 gives all its numbers.
    static func text(_ number: some BinaryInteger) -> RPCValue { .string(String(number)) }

    /// Texts.
    static func texts(_ texts: some Sequence<String>) -> RPCValue {
        .array(texts.map(RPCValue.string))
    }
}

extension RPCValue: Codable {
    /// The value is nested too deeply.
    struct TooDeep: Error {}

    init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count < Self.mostLevels else { throw TooDeep() }
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .bool(flag)
        } else if let number = try? container.decode(Decimal.self) {
            self = .number(number)
        } else if var list = try? decoder.unkeyedContainer() {
            var values: [RPCValue] = []
            while !list.isAtEnd { values.append(try list.decode(RPCValue.self)) }
            self = .array(values)
        } else {
            self = .object(try container.decode([String: RPCValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let flag): try container.encode(flag)
        case .number(let number): try container.encode(number)
        case .string(let text): try container.encode(text)
        case .array(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
        }
    }

    /// Reads a text of JSON.
    ///
    /// - Returns: The value; `nil` where it is none, or is nested too deeply.
    static func read(_ text: Data) -> RPCValue? {
        try? JSONDecoder().decode(RPCValue.self, from: text)
    }

    /// The text of the value: members in order, slashes as they are.
    var data: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // No value that was read or made here has numbers that JSON has no words for.
        return (try? encoder.encode(self)) ?? Data()
    }
}

extension RPCValue: ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByArrayLiteral, ExpressibleByIntegerLiteral
{
    init(stringLiteral text: String) { self = .string(text) }
    init(integerLiteral number: Int) { self = .number(Decimal(number)) }
    init(arrayLiteral values: RPCValue...) { self = .array(values) }
    init(dictionaryLiteral members: (String, RPCValue)...) {
        self = .object(Dictionary(members, uniquingKeysWith: { _, last in last }))
    }
}
