/// How the space of a part is provided for before its data arrives.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum FileAllocation: String, Sendable, Hashable, CaseIterable, Codable {
    /// As `falloc`; in memory (tmpfs), where reserving takes about as long as writing, as `trunc`.
    case auto
    /// The space is reserved (fallocate(2)), so that the disk cannot run full midway; where the file
    /// system cannot do that, as `trunc`.
    case falloc
    /// The part gets its final length at once, without space (ftruncate(2)).
    case trunc
    /// The part grows as it is written.
    case none
}
