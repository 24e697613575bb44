/// How the finished file gets its name.
public struct NamingOptions: Sendable, Hashable {
    /// In a folder, name the file by the URL as it was given, whatever the server suggests and
    /// wherever redirects lead.
    public var usesURL = false
    /// Where the name is taken, take the next one that is free: `big.1.iso`, `big.2.iso`.
    ///
    /// What an earlier run of the same URL left under such a name is continued.
    public var numbersTaken = false

    /// What a newer version stored beside these.
    var unknown: [String: CodedValue] = [:]

    /// Makes the default options: the server's suggestion, and a name that is taken is refused.
    public init() {}
}
