/// How the disk serves those who read from it (ioprio_set(2)).
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum DiskPriority: String, Sendable, Hashable, CaseIterable {
    /// As it serves everybody, by the process's niceness.
    case normal
    /// Only when nobody else wants anything of it.
    case idle
}
