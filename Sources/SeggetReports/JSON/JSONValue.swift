package import FoundationEssentials

/// A value of JSON, as it came.
///
/// Numbers are decimal, so that integers of any size stay what they are.
package enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case number(Decimal)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// The deepest nesting that is read.
    package static let mostLevels = 64

    /// The text; `nil` for any other value.
    package var string: String? { if case .string(let text) = self { text } else { nil } }

    /// The elements; `nil` for any other value.
    package var array: [JSONValue]? { if case .array(let values) = self { values } else { nil } }

    /// The members; `nil` for any other value.
    package var object: [String: JSONValue]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The whole number; `nil` for any other value.
    package var integer: Int64? {
        if case .number(let number) = self { Int64(number.description) } else { nil }
    }

    /// A text of a number, as aria2 gives all its numbers.
    package static func text(_ number: some BinaryInteger) -> JSONValue { .string(String(number)) }

    /// Texts.
    package static func texts(_ texts: some Sequence<String>) -> JSONValue {
        .array(texts.map(JSONValue.string))
    }
}

extension JSONValue: Codable {
    /// The value is nested too deeply.
    package struct TooDeep: Error {}

    package init(from decoder: any Decoder) throws {
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
            var values: [JSONValue] = []
            while !list.isAtEnd { values.append(try list.decode(JSONValue.self)) }
            self = .array(values)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
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
    package static func read(_ text: Data) -> JSONValue? {
        try? JSONDecoder().decode(JSONValue.self, from: text)
    }

    /// The text of the value: members in order, slashes as they are.
    package var data: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // No value that was read or made here has numbers that JSON has no words for.
        return (try? encoder.encode(self)) ?? Data()
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByArrayLiteral, ExpressibleByIntegerLiteral
{
    package init(stringLiteral text: String) { self = .string(text) }
    package init(integerLiteral number: Int) { self = .number(Decimal(number)) }
    package init(arrayLiteral values: JSONValue...) { self = .array(values) }
    package init(dictionaryLiteral members: (String, JSONValue)...) {
        self = .object(Dictionary(members, uniquingKeysWith: { _, last in last }))
    }
}
