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
    /// Small files at a time from a server whose replies begin within `nearby` seconds: so many keep it
    /// busy, and each more costs it, and libcurl.
    static let mostNearby = 16
    /// Seconds; see `mostNearby`.
    static let nearby = 0.005

    /// Files that may be under way.
    private(set) var width: Int
    private let limit: Int
    /// Large files that may be under way.
    let largeLimit: Int
    /// Whether a number was asked for: then files that have come and wait for their names count too.
    let isAsked: Bool

    /// Begins with as many as may be large.
    ///
    /// - Parameters:
    ///   - jobs: Files at a time, when that was asked for.
    ///   - most: Small files at a time, where it was not.
    init(jobs: Int?, most: Int = Self.most) {
        isAsked = jobs != nil
        largeLimit = min(max(1, jobs ?? Self.large), Self.most)
        limit = jobs == nil ? max(largeLimit, min(most, Self.most)) : largeLimit
        width = largeLimit
    }

    /// A small file is done.
    ///
    /// - Parameter wait: Usual time from a request to the beginning of its reply, in seconds.
    mutating func widen(wait: Double? = nil) {
        let enough = wait.map { $0 < Self.nearby } ?? false ? Self.mostNearby : Self.most
        width = max(width, min(limit, enough, width + 2))
    }
}
