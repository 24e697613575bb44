/// Limits of one download: size, time and rate.
///
/// ``DownloadSession/limitRate(_:)`` limits the total rate of all downloads of a session.
public struct LimitOptions: Sendable, Hashable {
    /// The size of the largest file to download, in bytes; `nil` for no limit.
    ///
    /// A larger file is refused before any of its bytes are downloaded. If the server states no
    /// size, the download fails when it exceeds the limit.
    public var maxSize: Int64?
    /// The longest time that the download may take, including probing and publishing.
    ///
    /// The download is then stopped in an orderly way. A later download of the same URL to the same
    /// destination resumes it.
    public var maxTime: Duration?
    /// The highest rate of the download, in bytes per second; `nil` for no limit.
    ///
    /// The limit of the session applies as well.
    public var rate: Double?
    /// The lowest mean rate, in bytes per second; `nil` for no limit.
    ///
    /// If the whole download is slower for ``minRatePeriod``, new connections replace all of its
    /// connections. If it is slower for a second period, it fails. Three kinds of time do not
    /// count: time in which the session's rate limit or a slow reader delays the download, and time
    /// for checks of bytes on disk.
    public var minRate: Double?
    /// The time for which the rate may be lower than ``minRate``.
    public var minRatePeriod = Duration.seconds(30)

    /// Options that a newer version stored and that this version does not know.
    var unknown: [String: CodedValue] = [:]

    /// Creates options without limits.
    public init() {}
}
