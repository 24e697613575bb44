/// Decides how many files of a batch are downloaded at a time.
///
/// Pure: no I/O and no clock.
///
/// A small file costs one request, so many of them can be in progress. The sizes of a batch's files
/// are only known once their responses arrive. So a batch starts with a few files, and adds two for
/// each response.
package struct BatchWidth: Sendable, Hashable {
    /// The number of small files at a time, if the user gave none.
    ///
    /// `usual` applies if responses wait in a queue, and `most` as long as they take no longer than
    /// with fewer requests. `mostMultiplexed` replaces `most` on a single HTTP/2 connection, where
    /// requests cost a server little.
    static let (usual, most, mostMultiplexed) = (48, 64, 96)
    /// The number of files of unknown size at the beginning, if the user gave no number.
    package static let first = 8
    /// The number of large files at a time, if the user gave none.
    package static let large = 4
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
    package private(set) var largeLimit: Int
    /// The most connections of each host; `nil` if there is no bound.
    package private(set) var bound: Int?
    /// Whether the number of large files follows that of the hosts' connections.
    private var isShared = false
    /// The numbers of small and large files so far whose sizes were unknown before.
    private var smallSeen = 0
    private var largeSeen = 0
    /// Whether the user gave the number of files.
    ///
    /// In that case, files that are received and wait for their names count too.
    package let isAsked: Bool

    /// Creates a width.
    ///
    /// - Parameters:
    ///   - jobs: The number of files at a time that the user gave; `nil` if none.
    ///   - most: The number of small files at a time, if the user gave none.
    ///   - first: The number of files at the beginning, if the user gave none.
    package init(jobs: Int?, most: Int = Self.mostMultiplexed, first: Int = Self.first) {
        isAsked = jobs != nil
        largeLimit = min(max(1, jobs ?? Self.large), Self.most)
        limit = jobs == nil ? max(largeLimit, most) : largeLimit
        width = jobs == nil ? min(limit, max(first, largeLimit)) : largeLimit
    }

    /// The active files.
    package struct Load: Sendable {
        /// Files that are known to be large or small.
        package var large = 0
        package var small = 0
        /// Files whose first response has not arrived.
        package var unknown = 0
        /// Received files that count nevertheless.
        package var parked = 0
        /// The active files of the host of the file that may start, and the number of connections
        /// that these have beyond one each.
        package var ofHost = (files: 0, extra: 0)

        package init(large: Int = 0, small: Int = 0, unknown: Int = 0, parked: Int = 0) {
            (self.large, self.small, self.unknown, self.parked) = (large, small, unknown, parked)
        }

        var all: Int { large + small + unknown + parked }
    }

    /// Returns whether a file of this size counts as large: a response is not kept in memory.
    package static func isLarge(_ size: Int64) -> Bool { size > longestSmall }

    /// The size of the largest small file, in bytes.
    package static let longestSmall: Int64 = 256 << 10

    /// Returns whether another file may start.
    ///
    /// Files of unknown size count as large files in the ratio in which there were large files so
    /// far. So no more large files begin than the host has connections for.
    ///
    /// - Parameters:
    ///   - size: The size of the file in bytes; `nil` if it is unknown.
    ///   - load: The active files.
    /// - Returns: Whether it may start.
    package func allows(size: Int64?, beside load: Load) -> Bool {
        let host = load.ofHost
        if let bound, host.files > 0, host.files + host.extra >= bound { return false }
        guard isShared, !isAsked else { return load.all < width }
        let isLarge = size.map(Self.isLarge)
        guard isLarge == true || load.small + load.unknown < width else { return false }
        guard isLarge != false, load.large + load.unknown > 0 else { return true }
        let ratio = Double(largeSeen + 1) / Double(largeSeen + smallSeen + 2)
        return Double(load.large) + ratio * Double(load.unknown) < Double(largeLimit)
    }

    /// Records whether a file was large whose size was unknown.
    ///
    /// The width grows with each response, because responses of large files do not end soon.
    package mutating func saw(isLarge: Bool) {
        if isLarge { largeSeen += 1 } else { smallSeen += 1 }
        if isLarge, isShared, !isAsked { width = max(width, min(limit, Self.usual, width + 2)) }
    }

    /// Takes the numbers of files that the hosts have room for.
    package mutating func take(_ rooms: some Collection<HostGovernor.Room>) {
        isShared = true
        guard !isAsked else { return }
        largeLimit = min(max(1, rooms.reduce(0) { $0 + $1.files }), Self.most)
    }

    /// Bounds the connections of each host over all files, if the user has set a number.
    ///
    /// The files of a list may state different numbers. The largest so far counts.
    package mutating func bound(to connections: ConnectionCount) {
        let most = connections == .automatic ? Int.max : connections.most
        bound = max(bound ?? 1, most)
    }

    /// Limits the number of small files to the connections of all large ones, if the user has set
    /// the number of connections of each file.
    package mutating func limit(to connections: ConnectionCount) {
        guard !isAsked, connections != .automatic else { return }
        defer { width = min(width, limit) }
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
