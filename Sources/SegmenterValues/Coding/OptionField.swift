/// A value of a set of options, with its stored key.
///
/// Keys are part of the stored form. A property may be renamed, but its key never changes.
struct OptionField<Options: CodableOptions>: Sendable {
    let key: String
    /// The members of the value; `nil` for a single value.
    private(set) var members: (any OptionMembers<Options>)?
    fileprivate let decode: @Sendable (inout Options, OptionReader) throws -> Void
    let encode: @Sendable (Options, inout OptionWriter) throws -> Void
    /// Removes the secrets from the value.
    fileprivate let takeSecrets: @Sendable (inout Options) -> Void
    /// Returns whether two sets of options have the same value.
    let isSame: @Sendable (Options, Options) -> Bool
    /// Copies the value from the second options to the first.
    let copy: @Sendable (inout Options, Options) -> Void

    /// Creates a field for a value that is not optional.
    init<Value: Codable & Equatable & Sendable>(
        _ key: String, _ path: any WritableKeyPath<Options, Value> & Sendable,
        publicPart: (@Sendable (Value) -> Value)? = nil
    ) {
        self.key = key
        isSame = { $0[keyPath: path] == $1[keyPath: path] }
        copy = { $0[keyPath: path] = $1[keyPath: path] }
        decode = { options, reader in
            if let value = try reader.decodeIfPresent(Value.self, forKey: .init(key)) {
                options[keyPath: path] = value
            }
        }
        encode = { options, writer in
            try writer.encode(options[keyPath: path], forKey: .init(key))
        }
        takeSecrets = { options in
            if let publicPart { options[keyPath: path] = publicPart(options[keyPath: path]) }
        }
    }

    /// Creates a field for an optional value; `publicPart` returns the value without its secrets.
    init<Value: Codable & Equatable & Sendable>(
        optional key: String, _ path: any WritableKeyPath<Options, Value?> & Sendable,
        publicPart: (@Sendable (Value) -> Value?)? = nil
    ) {
        self.key = key
        isSame = { $0[keyPath: path] == $1[keyPath: path] }
        copy = { $0[keyPath: path] = $1[keyPath: path] }
        decode = { options, reader in
            if let value = try reader.decodeIfPresent(Value.self, forKey: .init(key)) {
                options[keyPath: path] = value
            }
        }
        encode = { options, writer in
            try writer.encodeIfPresent(options[keyPath: path], forKey: .init(key))
        }
        takeSecrets = { options in
            guard let publicPart, let value = options[keyPath: path] else { return }
            options[keyPath: path] = publicPart(value)
        }
    }

    /// Creates a field whose whole value is secret.
    static func secret<Value: Codable & Equatable & Sendable>(
        _ key: String, _ path: any WritableKeyPath<Options, Value?> & Sendable
    ) -> Self {
        Self(optional: key, path) { _ in nil }
    }

    /// Creates a field for a set of options inside these options.
    static func options<Value: CodableOptions & Equatable>(
        _ key: String, _ path: any WritableKeyPath<Options, Value> & Sendable
    ) -> Self {
        var field = Self(key, path) { $0.secretsTaken }
        field.members = MemberPath(path: path)
        return field
    }
}

extension Duration {
    /// The stored form of the duration, in seconds.
    var stored: Double {
        get { inSeconds }
        set { self = Duration(seconds: newValue) }
    }
}

extension Duration? {
    /// The stored form of the duration, in seconds.
    var stored: Double? {
        get { self?.inSeconds }
        set { self = newValue.map { Duration(seconds: $0) } }
    }
}

typealias OptionReader = KeyedDecodingContainer<OptionKey>
typealias OptionWriter = KeyedEncodingContainer<OptionKey>

/// A key of stored options, which may be any text.
struct OptionKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ text: String) { stringValue = text }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
}

/// Options whose stored form is a table of fields.
///
/// An option without a stored key has its default. A stored key that the table does not contain is
/// kept in ``unknown`` and written again.
protocol CodableOptions: Codable, Sendable {
    static var fields: [OptionField<Self>] { get }
    /// Options that a newer version stored and that this version does not know.
    var unknown: [String: CodedValue] { get set }
    /// Creates the default options.
    init()
}

extension CodableOptions {
    init(stored decoder: any Decoder) throws {
        self.init()
        let container = try decoder.container(keyedBy: OptionKey.self)
        for field in Self.fields { try field.decode(&self, container) }
        let known = Set(Self.fields.map(\.key))
        for key in container.allKeys where !known.contains(key.stringValue) {
            unknown[key.stringValue] = try container.decode(CodedValue.self, forKey: key)
        }
    }

    func store(in encoder: any Encoder) throws {
        let isPublic = encoder.userInfo[.leavesOutSecrets] as? Bool == true
        let options = isPublic ? secretsTaken : self
        var container = encoder.container(keyedBy: OptionKey.self)
        let isShort = encoder.userInfo[.leavesOutDefaults] as? Bool == true
        let standard = Self()
        for field in Self.fields where !isShort || !field.isSame(options, standard) {
            try field.encode(options, &container)
        }
        for (key, value) in options.unknown { try container.encode(value, forKey: .init(key)) }
    }

    /// The options without secrets, and without unknown options, which may be secret.
    var secretsTaken: Self {
        var options = self
        for field in Self.fields { field.takeSecrets(&options) }
        options.unknown = [:]
        return options
    }
}
