/// The facts that are stored in a finished file's extended attributes.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum FileAttributes: String, Sendable, Hashable, Codable {
    /// No attributes.
    case none
    /// The attribute `user.segget`, by which a later run sees that the file is complete. It
    /// contains no URL.
    ///
    /// A file system without extended attributes is not reported.
    case proof
    /// Additionally `user.xdg.origin.url`: the URL without credentials and query.
    case all
}
