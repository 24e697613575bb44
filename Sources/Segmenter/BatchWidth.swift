/// How many files of a batch are under way at a time.
///
/// Pure.
///
/// Small files cost one request each, and may be many at a time; how small the files of a list are
/// shows only as they come. So a batch begins with as many as it may have large ones, and has two
/// more for every small file that is done.
struct BatchWidth: Sendable, Hashable {
    /// Small files at a time, where nothing was asked for.
    static let most = 64
    /// Large files at a time, where nothing was asked for.
    static let large = 4
    /// Small files at a time from a server whose replies begin within `nearby` seconds: so many keep it
    /// busy, and each more costs it, and libcurl.
    static let mostNearby = 16
    /// Seconds; see `mostNearby`.
    static let nearby = 0.005
    /// Small files at a time over one connection (HTTP/2), where requests cost a server little: usually,
    /// and as long as replies take no longer than they did when fewer were under way.
    static let multiplexed = (usual: 48, most: 96)
    /// How much longer than the shortest wait the usual one is, as a factor, where replies queue up.
    static let queue = 1.25

    /// How long the replies of a server let wait.
    struct Wait: Sendable, Hashable {
        /// Usual time from a request to the beginning of its reply, in seconds.
        var usual: Double
        /// The shortest time that was seen.
        var least: Double
        /// Whether they came over one connection (HTTP/2).
        var isMultiplexed = false
    }

    /// Files that may be under way.
    private(set) var width: Int
    /// Whether the server is known to be nearby.
    private(set) var isNearby = false
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
    init(jobs: Int?, most: Int = Self.multiplexed.most) {
        isAsked = jobs != nil
        largeLimit = min(max(1, jobs ?? Self.large), Self.most)
        limit = jobs == nil ? max(largeLimit, most) : largeLimit
        width = largeLimit
    }

    /// A small file is done: two more may be under way, or one less where that is enough.
    ///
    /// - Parameter wait: How long replies let wait; `nil` when unknown.
    mutating func adjust(wait: Wait? = nil) {
        isNearby = wait.map { $0.usual < Self.nearby } ?? false
        let most = min(limit, wait.map(Self.enough) ?? Self.most)
        width = width > most ? max(largeLimit, width - 1) : min(most, width + 2)
    }

    /// Files at a time that keep the server and the way to it busy.
    private static func enough(_ wait: Wait) -> Int {
        if wait.usual < nearby { return mostNearby }
        guard wait.isMultiplexed else { return most }
        return wait.usual < queue * wait.least ? multiplexed.most : multiplexed.usual
    }
}
