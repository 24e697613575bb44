/// How many files of a batch are under way at a time.
///
/// Pure.
///
/// Small files cost one request each, and may be many at a time; how small the files of a list are
/// shows only as they come. So a batch begins with as many as it may have large ones, and has two
/// more for every small file that is done.
struct BatchWidth: Sendable, Hashable {
    /// Small files at a time, where nothing was asked for.
    ///
    /// Usually, and as long as replies take no longer than they did when fewer were under way; over
    /// one connection (HTTP/2), where requests cost a server little, even more then.
    static let (usual, most, mostMultiplexed) = (48, 64, 96)
    /// Large files at a time, where nothing was asked for.
    static let large = 4
    /// Small files at a time from a server whose replies begin within `nearby` seconds: so many keep it
    /// busy, and each more costs it, and libcurl.
    static let mostNearby = 16
    /// Seconds; see `mostNearby`.
    static let nearby = 0.005
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

        /// Whether the server is nearby.
        var isNearby: Bool { usual < BatchWidth.nearby }

        /// Files at a time that keep the server and the way to it busy.
        var width: Int {
            if isNearby { return BatchWidth.mostNearby }
            return usual < BatchWidth.queue * least ? most : BatchWidth.usual
        }

        /// Seconds from one request to the next, where they are not to go out in one go.
        ///
        /// A fifth less than it takes that as many are under way as may be: TCP spaces its segments
        /// alike (Linux, ip-sysctl: `tcp_pacing_ca_ratio`).
        var spacing: Double { isNearby ? 0 : 0.8 * usual / Double(most) }

        private var most: Int { isMultiplexed ? BatchWidth.mostMultiplexed : BatchWidth.most }
    }

    /// Files that may be under way.
    private(set) var width: Int
    /// Whether the server is known to be nearby.
    private(set) var isNearby = false
    private var limit: Int
    /// Large files that may be under way.
    let largeLimit: Int
    /// Whether a number was asked for: then files that have come and wait for their names count too.
    let isAsked: Bool

    /// Begins with as many as may be large.
    ///
    /// - Parameters:
    ///   - jobs: Files at a time, when that was asked for.
    ///   - most: Small files at a time, where it was not.
    init(jobs: Int?, most: Int = Self.mostMultiplexed) {
        isAsked = jobs != nil
        largeLimit = min(max(1, jobs ?? Self.large), Self.most)
        limit = jobs == nil ? max(largeLimit, most) : largeLimit
        width = largeLimit
    }

    /// So many connections were asked for to each large file: as many small files in all, and no more.
    mutating func limit(to connections: ConnectionCount) {
        guard !isAsked, connections != .automatic else { return }
        limit = max(largeLimit, min(limit, Self.most, Self.large * connections.most))
    }

    /// A small file is done: two more may be under way, or one less where that is enough.
    ///
    /// - Parameter wait: How long replies let wait; `nil` when unknown.
    mutating func adjust(wait: Wait? = nil) {
        isNearby = wait?.isNearby ?? false
        let most = min(limit, wait?.width ?? Self.usual)
        width = width > most ? max(largeLimit, width - 1) : min(most, width + 2)
    }
}
