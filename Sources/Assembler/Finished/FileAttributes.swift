/// What of a finished file is written into its extended attributes.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum FileAttributes: String, Sendable, Hashable, Codable {
    /// Nothing.
    case none
    /// What a later run needs to see that the file is complete: `user.segget`, which names no URL.
    ///
    /// Left out without a word where the file system takes none.
    case proof
    /// The URL without credentials and query too, as `user.xdg.origin.url`.
    case all
}
