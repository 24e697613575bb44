/// How many files of a batch are under way at a time.
///
/// Pure.
///
/// Small files cost one request each, and may be many at a time; how small the files of a list are
/// shows only as they come. So a batch begins with as many as it may have large ones, and has two
/// more for every small file that is done.
struct BatchWidth: Sendable, Hashable {
    /// Most files at a time, where nothing was asked for.
    static let most = 64
    /// Large files at a time, where nothing was asked for.
    static let large = 4

    /// Files that may be under way.
    private(set) var width: Int
    private let limit: Int
    /// Large files that may be under way.
    let largeLimit: Int

    /// Begins with as many as may be large.
    ///
    /// - Parameters:
    ///   - jobs: Files at a time, when that was asked for.
    ///   - most: Small files at a time, where it was not.
    init(jobs: Int?, most: Int = Self.most) {
        largeLimit = min(max(1, jobs ?? Self.large), Self.most)
        limit = jobs == nil ? max(largeLimit, min(most, Self.most)) : largeLimit
        width = largeLimit
    }

    /// A small file is done.
    mutating func widen() { width = min(limit, width + 2) }
}
