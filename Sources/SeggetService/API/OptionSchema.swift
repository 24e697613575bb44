import SeggetFormats

// The schemas of the options of a download, made from the catalogue.
extension Schema {
    /// The options that clients over TCP may give to a new task.
    static let options = options(description: "Options that clients over TCP may set") { _ in
        true
    }.named("Options")

    /// The options that they may change; `null` is the default.
    static let changedOptions = options(
        description: "New values; `null` sets the default", allowsNull: true
    ) { $0.effect != .never }.named("ChangedOptions")

    /// A number of connections.
    static let connections = oneOf([
        .integer(from: 1, to: 64), .text(pattern: "^auto(:[0-9]+)?$"),
    ])

    private static func options(
        description: String, allowsNull: Bool = false, of rows: (TransferOption) -> Bool
    ) -> Schema {
        var members: [String: Schema] = [:]
        var groups: [String: [String: Schema]] = [:]
        for option in TransferOption.table where option.places.contains(.tcp) && rows(option) {
            var schema = value(of: option.kind).described(option.help)
            if allowsNull { schema = .oneOf([schema, .null]) }
            let parts = option.key.split(separator: ".", maxSplits: 1).map(String.init)
            if parts.count > 1 {
                groups[parts[0], default: [:]][parts[1]] = schema
            } else {
                members[option.key] = schema
            }
        }
        for (name, inner) in groups { members[name] = .object(optional: inner) }
        return object(optional: members).described(description)
    }

    /// The schema of an option's values.
    private static func value(of kind: OptionKind) -> Schema {
        switch kind {
        case .flag: .flag
        case .integer(let range):
            .integer(from: range.lowerBound, to: range.upperBound)
        case .seconds(let range):
            .number(from: range.lowerBound, to: range.upperBound)
        case .bytes(let range):
            .integer(from: Int(range.lowerBound), to: Int(range.upperBound))
        case .rate: .number(from: 0)
        case .connections: .connections
        case .choice(let words): .words(words)
        case .headers, .texts: .list(of: .text)
        case .credentials: .object(["user": .text], optional: ["password": .text])
        case .digest, .text, .path, .fileMode: .text
        }
    }
}
