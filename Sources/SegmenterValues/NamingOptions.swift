/// Options for the name of the finished file.
public struct NamingOptions: Sendable, Hashable {
    /// Whether to name a file in a folder by the URL as given.
    ///
    /// The name that the server suggests and the targets of redirects are then ignored.
    public var usesURL = false
    /// Whether to use the next free name if the name exists: `big.1.iso`, `big.2.iso`.
    ///
    /// The part of an earlier run of the same URL under such a name is resumed.
    public var numbersTaken = false

    /// Options that a newer version stored and that this version does not know.
    var unknown: [String: CodedValue] = [:]

    /// Creates the default options: the server suggests the name, and an existing name is refused.
    public init() {}
}
