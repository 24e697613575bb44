/// New values for some of the options of a download.
///
/// In JSON, the changes are an object with the keys of ``DownloadOptions`` that change; `null` is
/// the default.
public struct OptionChanges: Sendable, Hashable {
    /// The stored keys that change, such as `retries` or `access.proxy`.
    public private(set) var keys: Set<String>
    /// The new values; only those of ``keys`` have a meaning.
    public private(set) var values: DownloadOptions

    /// Creates an empty set of changes.
    public init() { (keys, values) = ([], DownloadOptions()) }

    /// Creates changes to the values that a closure sets.
    ///
    /// - Parameters:
    ///   - reset: The stored keys that are reset to their defaults.
    ///   - change: Sets the new values. A value that equals the default changes nothing, unless
    ///     `reset` contains its key.
    public init(reset: Set<String> = [], _ change: (inout DownloadOptions) -> Void = { _ in }) {
        self.init()
        change(&values)
        keys = reset.union(values.changedKeys)
    }

    /// Creates the changes that turn `old` into `new`.
    public init(from old: DownloadOptions, to new: DownloadOptions) {
        (keys, values) = (Set(new.keys(differingFrom: old)), DownloadOptions())
        values.copy(keys, from: new)
    }

    /// Whether there are no changes.
    public var isEmpty: Bool { keys.isEmpty }

    /// Sets one value.
    ///
    /// - Parameters:
    ///   - key: The stored key of the value that `change` sets.
    ///   - change: Sets the value.
    public mutating func set(_ key: String, _ change: (inout DownloadOptions) -> Void) {
        keys.insert(key)
        change(&values)
    }

    /// Removes the change of a key.
    package mutating func remove(_ key: String) {
        keys.remove(key)
        values.copy([key], from: DownloadOptions())
    }
}

extension DownloadOptions {
    /// The stored keys of all options, such as `retries` and `access.proxy`, in their stored order.
    package static var storedKeys: [String] { fields.flatMap(\.keys) }

    /// The stored keys of the options that differ from the default, including unknown options.
    package var changedKeys: [String] { keys(differingFrom: DownloadOptions()) }

    /// Applies the new values of some options.
    public mutating func apply(_ changes: OptionChanges) {
        copy(changes.keys, from: changes.values)
    }
}

extension OptionChanges: Codable {
    /// Decodes changes; an unknown key is added to ``keys`` with a leading `?`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: OptionKey.self)
        keys = Set(try DownloadOptions.keys(in: container))
        values = try DownloadOptions(from: decoder)
    }

    /// Encodes the changes, including secrets.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: OptionKey.self)
        try values.encode(keys, to: &container)
    }
}

extension CodableOptions {
    /// Returns the keys whose values differ; keys of members follow a dot.
    func keys(differingFrom others: Self) -> [String] {
        let known = Self.fields.filter { !$0.isSame(self, others) }.flatMap { field in
            field.members.map { $0.keys(of: self, differingFrom: others).map(field.path) }
                ?? [field.key]
        }
        let unknown = Set(unknown.keys).union(others.unknown.keys).filter {
            self.unknown[$0] != others.unknown[$0]
        }
        return known + unknown.sorted().map(Self.unknownKey)
    }

    /// Returns the name for an unknown key, which no option can have, even if the key contains
    /// dots.
    private static func unknownKey(_ key: String) -> String { "?\(key)" }

    /// Copies the values of some keys.
    mutating func copy(_ keys: Set<String>, from others: Self) {
        for field in Self.fields {
            if let members = field.members {
                members.copy(field.members(in: keys), to: &self, from: others)
            } else if keys.contains(field.key) {
                field.copy(&self, others)
            }
        }
    }

    /// Returns the keys of an object; keys of members follow a dot.
    static func keys(in container: OptionReader) throws -> [String] {
        try container.allKeys.flatMap { key in
            guard let field = fields.first(where: { $0.key == key.stringValue }) else {
                return [unknownKey(key.stringValue)]
            }
            guard let members = field.members else { return [key.stringValue] }
            guard try !container.decodeNil(forKey: key) else {
                return [unknownKey(key.stringValue)]
            }
            return try members.keys(
                in: container.nestedContainer(keyedBy: OptionKey.self, forKey: key)
            ).map(field.path)
        }
    }

    /// Encodes the values of some keys; a default is encoded as `null`.
    func encode(_ keys: Set<String>, to container: inout OptionWriter) throws {
        let standard = Self()
        for field in Self.fields {
            if let members = field.members {
                let inner = field.members(in: keys)
                guard !inner.isEmpty else { continue }
                var nested = container.nestedContainer(
                    keyedBy: OptionKey.self, forKey: .init(field.key))
                try members.encode(inner, of: self, to: &nested)
            } else if keys.contains(field.key) {
                if field.isSame(self, standard) {
                    try container.encodeNil(forKey: .init(field.key))
                } else {
                    try field.encode(self, &container)
                }
            }
        }
    }
}

extension OptionField {
    /// The keys of the value; keys of members follow a dot.
    var keys: [String] { members.map { $0.storedKeys.map(path) } ?? [key] }

    /// Returns the stored key of a member.
    fileprivate func path(_ member: String) -> String { "\(key).\(member)" }

    /// Returns the members that some keys name.
    fileprivate func members(in keys: Set<String>) -> Set<String> {
        Set(keys.filter { $0.hasPrefix(key + ".") }.map { String($0.dropFirst(key.count + 1)) })
    }
}

/// The members of a value that is itself a set of options.
protocol OptionMembers<Options>: Sendable {
    associatedtype Options
    var storedKeys: [String] { get }
    func keys(of options: Options, differingFrom others: Options) -> [String]
    func keys(in container: OptionReader) throws -> [String]
    func copy(_ keys: Set<String>, to options: inout Options, from others: Options)
    func encode(_ keys: Set<String>, of options: Options, to container: inout OptionWriter) throws
}

/// The members of the options at a key path.
struct MemberPath<Options, Value: CodableOptions>: OptionMembers {
    let path: any WritableKeyPath<Options, Value> & Sendable

    var storedKeys: [String] { Value.fields.flatMap(\.keys) }

    func keys(of options: Options, differingFrom others: Options) -> [String] {
        options[keyPath: path].keys(differingFrom: others[keyPath: path])
    }

    func keys(in container: OptionReader) throws -> [String] { try Value.keys(in: container) }

    func copy(_ keys: Set<String>, to options: inout Options, from others: Options) {
        options[keyPath: path].copy(keys, from: others[keyPath: path])
    }

    func encode(_ keys: Set<String>, of options: Options, to container: inout OptionWriter) throws {
        try options[keyPath: path].encode(keys, to: &container)
    }
}
