/// New values for some of the options of a download.
///
/// In JSON it is an object with the keys of ``DownloadOptions`` that change; `null` is the default.
public struct OptionChanges: Sendable, Hashable {
    /// The stored keys that change, such as `retries` or `access.proxy`.
    public private(set) var keys: Set<String>
    /// The new values; those of other keys have no meaning.
    public private(set) var values: DownloadOptions

    /// Makes no changes.
    public init() { (keys, values) = ([], DownloadOptions()) }

    /// Makes changes to the values that a closure sets.
    ///
    /// - Parameters:
    ///   - reset: The stored keys that get their default back.
    ///   - change: Sets the new values; a value that equals the default changes nothing, unless `reset` has its key.
    public init(reset: Set<String> = [], _ change: (inout DownloadOptions) -> Void = { _ in }) {
        self.init()
        change(&values)
        keys = reset.union(values.changedKeys)
    }

    /// Makes the changes that lead from some options to others.
    public init(from old: DownloadOptions, to new: DownloadOptions) {
        (keys, values) = (Set(new.keys(differingFrom: old)), DownloadOptions())
        values.copy(keys, from: new)
    }

    /// Whether nothing changes.
    public var isEmpty: Bool { keys.isEmpty }

    /// Sets one value.
    ///
    /// - Parameters:
    ///   - key: The stored key of what `change` sets.
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
    /// The stored keys of all options, such as `retries` and `access.proxy`, in the order in which they are stored.
    package static var storedKeys: [String] { fields.flatMap(\.keys) }

    /// The stored keys of the options that differ from the default, those that this version does not know included.
    package var changedKeys: [String] { keys(differingFrom: DownloadOptions()) }

    /// Takes the new values of some options.
    public mutating func apply(_ changes: OptionChanges) {
        copy(changes.keys, from: changes.values)
    }
}

extension OptionChanges: Codable {
    /// Reads changes; a key that no option has is in ``keys``, with `?` in front.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: OptionKey.self)
        keys = Set(try DownloadOptions.keys(in: container))
        values = try DownloadOptions(from: decoder)
    }

    /// Writes the changes, secrets and all.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: OptionKey.self)
        try values.encode(keys, to: &container)
    }
}

extension CodableOptions {
    /// The keys whose values differ, those of members after a dot.
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

    /// How a key is named that no option has: as no option is, whatever dots are in it.
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

    /// The keys that an object has, those of members after a dot.
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

    /// Writes the values of some keys: `null` where they are the default.
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
    /// The keys of the value, those of members after a dot.
    var keys: [String] { members.map { $0.storedKeys.map(path) } ?? [key] }

    /// The key of a member.
    fileprivate func path(_ member: String) -> String { "\(key).\(member)" }

    /// The members that some keys name.
    fileprivate func members(in keys: Set<String>) -> Set<String> {
        Set(keys.filter { $0.hasPrefix(key + ".") }.map { String($0.dropFirst(key.count + 1)) })
    }
}

/// The members of a value that is a set of options itself.
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
