import FoundationEssentials
import SeggetReports

/// A JSON Schema (draft 2020-12), as OpenAPI 3.1 uses it.
struct Schema: Sendable {
    /// The schema in a document: a reference, if it has a name.
    private(set) var json: JSONValue
    /// The named schemas that it refers to, by name.
    private(set) var named: [String: JSONValue] = [:]

    private init(_ members: [String: JSONValue], _ inner: some Sequence<Schema> = []) {
        json = .object(members)
        for schema in inner { named.merge(schema.named, uniquingKeysWith: Self.same) }
    }

    /// Joins the named schemas of two; a name has one meaning.
    static func same(_ first: JSONValue, _ second: JSONValue) -> JSONValue {
        assert(first == second, "two schemas have the same name")
        return first
    }

    /// The same schema under a name, which stands once in a document.
    func named(_ name: String) -> Schema {
        var schema = Schema(["$ref": .string("#/components/schemas/\(name)")], [self])
        schema.named[name] = json
        return schema
    }

    /// The same schema with a description; not for one that has a name.
    func described(_ description: String) -> Schema {
        var schema = self
        schema.json = .object(
            (json.object ?? [:]).merging(["description": .string(description)]) { $1 })
        return schema
    }
}

// Texts and numbers.
extension Schema {
    static let text = Schema(["type": "string"])
    static let flag = Schema(["type": "boolean"])
    static let null = Schema(["type": "null"])

    static func text(pattern: String) -> Schema {
        Schema(["type": "string", "pattern": .string(pattern)])
    }

    /// A text with limits of its length, in characters.
    static func text(from least: Int? = nil, to most: Int? = nil) -> Schema {
        Schema(bounded("string", "minLength", least, "maxLength", most))
    }

    /// One of some words.
    static func words(_ words: some Sequence<String>) -> Schema {
        Schema(["type": "string", "enum": .texts(words)])
    }

    static func constant(_ text: String) -> Schema { Schema(["const": .string(text)]) }

    static func constant(_ flag: Bool) -> Schema { Schema(["const": .bool(flag)]) }

    /// A whole number; both ends of the range are included.
    static func integer(from least: Int? = nil, to most: Int? = nil) -> Schema {
        Schema(bounded("integer", "minimum", least, "maximum", most))
    }

    /// A number; both ends of the range are included.
    static func number(from least: Double? = nil, to most: Double? = nil) -> Schema {
        Schema(
            bounded(
                "number", "minimum", least.map { Decimal($0) }, "maximum",
                most.map { Decimal($0) }))
    }

    /// A number above another one.
    static func number(above bound: Double) -> Schema {
        Schema(["type": "number", "exclusiveMinimum": .number(Decimal(bound))])
    }

    /// The same schema with a value that counts if none is given.
    func otherwise(_ value: JSONValue) -> Schema {
        var schema = self
        schema.json = .object((json.object ?? [:]).merging(["default": value]) { $1 })
        return schema
    }
}

// Schemas of several others.
extension Schema {
    static func list(of item: Schema, from least: Int? = nil, to most: Int? = nil) -> Schema {
        var members = bounded("array", "minItems", least, "maxItems", most)
        members["items"] = item.json
        return Schema(members, [item])
    }

    /// An object with any keys.
    static func map(of value: Schema) -> Schema {
        Schema(["type": "object", "additionalProperties": value.json], [value])
    }

    /// An object.
    ///
    /// - Parameters:
    ///   - required: The members that it always has.
    ///   - optional: The members that it may have.
    ///   - isClosed: Whether any other member is an error, as in requests.
    /// - Returns: The schema.
    static func object(
        _ required: [String: Schema] = [:], optional: [String: Schema] = [:],
        isClosed: Bool = false
    ) -> Schema {
        let all = required.merging(optional) { $1 }
        var members: [String: JSONValue] = [
            "type": "object", "properties": .object(all.mapValues(\.json)),
        ]
        if !required.isEmpty { members["required"] = .texts(required.keys.sorted()) }
        if isClosed { members["additionalProperties"] = .bool(false) }
        return Schema(members, all.values)
    }

    /// Exactly one of several.
    static func oneOf(_ schemas: [Schema]) -> Schema {
        Schema(["oneOf": .array(schemas.map(\.json))], schemas)
    }

    private static func bounded(
        _ type: String, _ lower: String, _ least: Int?, _ upper: String, _ most: Int?
    ) -> [String: JSONValue] {
        bounded(type, lower, least.map { Decimal($0) }, upper, most.map { Decimal($0) })
    }

    private static func bounded(
        _ type: String, _ lower: String, _ least: Decimal?, _ upper: String, _ most: Decimal?
    ) -> [String: JSONValue] {
        var members: [String: JSONValue] = ["type": .string(type)]
        members[lower] = least.map(JSONValue.number)
        members[upper] = most.map(JSONValue.number)
        return members
    }
}
