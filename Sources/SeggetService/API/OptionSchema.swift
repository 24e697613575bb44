import SeggetReports
import FoundationEssentials
import SeggetFormats

/// The JSON Schema of the options of a download, made from the catalogue.
enum OptionSchema {
    /// The options that clients over TCP may give to a new task.
    static let added = object(description: "Options that clients over TCP may set") { _ in true }

    /// The options that they may change; `null` is the default.
    static let changed = object(
        description: "New values; `null` sets the default", allowsNull: true
    ) { $0.effect != .never }

    private static func object(
        description: String, allowsNull: Bool = false, of rows: (TransferOption) -> Bool
    ) -> JSONValue {
        var members: [String: JSONValue] = [:]
        var groups: [String: [String: JSONValue]] = [:]
        for option in TransferOption.table where option.places.contains(.tcp) && rows(option) {
            var schema = schema(option)
            if allowsNull { schema = ["oneOf": [schema, ["type": "null"]]] }
            let parts = option.key.split(separator: ".", maxSplits: 1).map(String.init)
            if parts.count > 1 {
                groups[parts[0], default: [:]][parts[1]] = schema
            } else {
                members[option.key] = schema
            }
        }
        for (name, inner) in groups {
            members[name] = ["type": "object", "properties": .object(inner)]
        }
        return [
            "type": "object", "description": .string(description),
            "properties": .object(members),
        ]
    }

    /// The schema of one option's value.
    private static func schema(_ option: TransferOption) -> JSONValue {
        var schema = form(option.kind)
        schema["description"] = .string(option.help)
        return .object(schema)
    }

    private static func form(_ kind: OptionKind) -> [String: JSONValue] {
        switch kind {
        case .flag: ["type": "boolean"]
        case .integer(let range):
            [
                "type": "integer", "minimum": .number(Decimal(range.lowerBound)),
                "maximum": .number(Decimal(range.upperBound)),
            ]
        case .seconds(let range):
            [
                "type": "number", "minimum": .number(Decimal(range.lowerBound)),
                "maximum": .number(Decimal(range.upperBound)),
            ]
        case .bytes(let range):
            [
                "type": "integer", "minimum": .number(Decimal(range.lowerBound)),
                "maximum": .number(Decimal(range.upperBound)),
            ]
        case .rate: ["type": "number", "minimum": 0]
        case .connections:
            [
                "oneOf": [
                    ["type": "integer", "minimum": 1, "maximum": 64],
                    ["type": "string", "pattern": "^auto(:[0-9]+)?$"],
                ]
            ]
        case .choice(let words): ["type": "string", "enum": .texts(words)]
        case .headers, .texts: ["type": "array", "items": ["type": "string"]]
        case .credentials:
            [
                "type": "object", "required": ["user"],
                "properties": ["user": ["type": "string"], "password": ["type": "string"]],
            ]
        case .digest, .text, .path, .fileMode: ["type": "string"]
        }
    }
}
