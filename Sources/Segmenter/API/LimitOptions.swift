/// Limits of one download: its size, its time, and the least speed that is put up with.
///
/// The limit of rate of all downloads together is the session's: ``DownloadSession/limitRate(_:)``.
public struct LimitOptions: Sendable, Hashable {
    /// Largest file that is fetched, in bytes; `nil` is any.
    ///
    /// A larger one is refused before anything of it is fetched; where the server states no size,
    /// when it turns out to be larger.
    public var maxSize: Int64?
    /// Longest time that the download may take, probing and publishing included.
    ///
    /// It is then stopped in order, and a later one of the same URL to the same place continues it.
    public var maxTime: Duration?
    /// Fastest that the file is fetched, in bytes per second; `nil` is any.
    ///
    /// The session's limit holds beside it.
    public var rate: Double?
    /// Least mean speed, in bytes per second.
    ///
    /// When the whole download is slower for `minRatePeriod`, all its connections are given up for
    /// fresh ones; when it is for a second period, it fails. Time in which the session's limit of
    /// rate or a slow reader holds it back does not count, nor does checking what is on the disk.
    public var minRate: Double?
    /// How long the least speed may be missed.
    public var minRatePeriod = Duration.seconds(30)

    /// What a newer version stored beside these.
    var unknown: [String: CodedValue] = [:]

    /// Makes options that limit nothing.
    public init() {}
}
