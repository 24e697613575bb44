/// The I/O priority of the threads that read from the disk (ioprio_set(2)).
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum DiskPriority: String, Sendable, Hashable, CaseIterable {
    /// The default priority, derived from the niceness of the process.
    case normal
    /// The idle class: the disk serves the thread only if no other process needs it.
    case idle
}
