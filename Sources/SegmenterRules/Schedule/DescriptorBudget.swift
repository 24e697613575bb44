/// Limits the number of files and connections at a time by the limit of file descriptors.
///
/// With 1024 or more descriptors, the usual number, it limits nothing.
package struct DescriptorBudget: Sendable {
    /// The number of descriptors that a process uses apart from its downloads.
    private static let own: UInt64 = 24
    /// The number of descriptors that one file uses apart from its connections: folders, part,
    /// manifest, and their readers.
    private static let perFile: UInt64 = 6

    /// The limit of file descriptors (RLIMIT_NOFILE).
    package let limit: UInt64

    package init(limit: UInt64) {
        self.limit = limit
    }

    /// The maximum number of connections for one file.
    package var connections: Int { limit >= 1024 ? .max : max(2, Int(limit / 16) - 2) }

    /// Returns the number of files at a time; `asked` is the requested number, or `nil` for the
    /// default.
    package func jobs(_ asked: Int?) -> Int? {
        guard limit < 1024 else { return asked }
        let room = limit - min(limit, Self.own)
        let most = max(1, Int(room / (Self.perFile + UInt64(connections))))
        return min(asked ?? 4, most)
    }
}
