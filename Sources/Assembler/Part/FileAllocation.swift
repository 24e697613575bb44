/// How disk space for the part is allocated before its data arrives.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum FileAllocation: String, Sendable, Hashable, CaseIterable, Codable {
    /// Use `falloc`, but `trunc` on tmpfs, where reserving space takes about as long as writing.
    case auto
    /// Reserve the space (fallocate(2)), so that the disk cannot become full during the download.
    ///
    /// On file systems that do not support fallocate(2), this is the same as `trunc`.
    case falloc
    /// Set the final length without allocating space (ftruncate(2)).
    case trunc
    /// Let the part grow as data is written.
    case none
}
