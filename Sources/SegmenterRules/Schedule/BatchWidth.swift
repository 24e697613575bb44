/// Decides how many files of a batch are downloaded at a time.
///
/// Pure: no I/O and no clock.
///
/// A small file costs one request, so many of them can be in progress. The sizes of a batch's files
/// are only known once their responses arrive. So a batch starts with as many files as the limit
/// for large ones, and adds two for each small file that is complete.
package struct BatchWidth: Sendable, Hashable {
    /// The number of small files at a time, if the user gave none.
    ///
    /// `usual` applies if responses wait in a queue, and `most` as long as they take no longer than
    /// with fewer requests. `mostMultiplexed` replaces `most` on a single HTTP/2 connection, where
    /// requests cost a server little.
    static let (usual, most, mostMultiplexed) = (48, 64, 96)
    /// The number of large files at a time, if the user gave none.
    static let large = 4
    /// The number of small files at a time from a server whose responses begin within `nearby`
    /// seconds.
    ///
    /// These keep the server busy. More would only cost the server and libcurl time.
    static let mostNearby = 16
    /// The time to first byte below which a server counts as nearby, in seconds.
    static let nearby = 0.005
    /// The ratio of the usual to the shortest wait from which on responses count as queued.
    package static let queue = 1.25

    /// The times to first byte of a server's responses.
    package struct Wait: Sendable, Hashable {
        /// The usual time from a request to the first byte of its response, in seconds.
        package var usual: Double
        /// The shortest measured time to first byte, in seconds.
        package var least: Double
        /// Whether the responses were received over one connection (HTTP/2).
        package var isMultiplexed = false

        package init(usual: Double, least: Double, isMultiplexed: Bool = false) {
            self.usual = usual
            self.least = least
            self.isMultiplexed = isMultiplexed
        }

        package var isNearby: Bool { usual < BatchWidth.nearby }

        /// The number of files at a time that keeps the server and the network path busy.
        package var width: Int {
            if isNearby { return BatchWidth.mostNearby }
            return usual < BatchWidth.queue * least ? most : BatchWidth.usual
        }

        /// The seconds between two requests, if they are not to be sent in one burst; otherwise 0.
        ///
        /// The factor 0.8 sends requests faster than responses arrive, so that `most` requests
        /// become active. TCP paces its segments in the same way (Linux, ip-sysctl:
        /// `tcp_pacing_ca_ratio`).
        package var spacing: Double { isNearby ? 0 : 0.8 * usual / Double(most) }

        private var most: Int { isMultiplexed ? BatchWidth.mostMultiplexed : BatchWidth.most }
    }

    /// The number of files that may be in progress.
    package private(set) var width: Int
    /// Whether the server is known to be nearby.
    package private(set) var isNearby = false
    private var limit: Int
    /// The number of large files that may be in progress.
    package let largeLimit: Int
    /// Whether the user gave the number of files.
    ///
    /// In that case, files that are received and wait for their names count too.
    package let isAsked: Bool

    /// Creates a width that starts at the limit for large files.
    ///
    /// - Parameters:
    ///   - jobs: The number of files at a time that the user gave; `nil` if none.
    ///   - most: The number of small files at a time, if the user gave none.
    package init(jobs: Int?, most: Int = Self.mostMultiplexed) {
        isAsked = jobs != nil
        largeLimit = min(max(1, jobs ?? Self.large), Self.most)
        limit = jobs == nil ? max(largeLimit, most) : largeLimit
        width = largeLimit
    }

    /// Limits the number of small files, if the user has set a number of connections for each file.
    ///
    /// The limit is the total number of connections of all large files.
    package mutating func limit(to connections: ConnectionCount) {
        guard !isAsked, connections != .automatic else { return }
        limit = max(largeLimit, min(limit, Self.most, Self.large * connections.most))
    }

    /// Adjusts the width after a small file is complete.
    ///
    /// The width grows by two, or shrinks by one if it exceeds what the server needs.
    ///
    /// - Parameter wait: The times to first byte of the server; `nil` when unknown.
    package mutating func adjust(wait: Wait? = nil) {
        isNearby = wait?.isNearby ?? false
        let most = min(limit, wait?.width ?? Self.usual)
        width = width > most ? max(largeLimit, width - 1) : min(most, width + 2)
    }
}
