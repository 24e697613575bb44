/// How many files, and connections to each, the limit of descriptors allows at a time.
///
/// It bounds nothing where there are 1024, as usual.
struct DescriptorBudget: Sendable {
    /// What a process has open beside its downloads.
    private static let own: UInt64 = 24
    /// What one file has open beside its connections: folders, part, manifest, and who reads them.
    private static let perFile: UInt64 = 6

    /// Most descriptors (RLIMIT_NOFILE).
    let limit: UInt64

    /// Most connections to a file.
    var connections: Int { limit >= 1024 ? .max : max(2, Int(limit / 16) - 2) }

    /// Files at a time, where so many were asked for; `nil` is what is usual.
    func jobs(_ asked: Int?) -> Int? {
        guard limit < 1024 else { return asked }
        let room = limit - min(limit, Self.own)
        let most = max(1, Int(room / (Self.perFile + UInt64(connections))))
        return min(asked ?? 4, most)
    }
}
