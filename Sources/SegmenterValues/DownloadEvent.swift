public import Assembler

/// An event that a download reports while it runs.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum DownloadEvent: Sendable {
    /// The server has responded; carries what it offers.
    case probed(RemoteFile)
    /// The part is open, and the transfer of bytes starts.
    case started(DownloadStart)
    /// A notice for users, for example about a retry, a new start or damaged data.
    case notice(DownloadNotice)
    /// The progress of the download; at most ten events a second.
    case progress(DownloadProgress)
    /// The file is complete, verified and published.
    case finished(DownloadedFile)
}

/// The state of a download when its transfer starts.
public struct DownloadStart: Sendable, Hashable {
    /// The path of the finished file.
    public var path: String
    /// The size in bytes; `nil` if unknown.
    public var size: Int64?
    /// The number of bytes from an earlier run; their CRC-32 is not checked yet.
    public var resumedBytes: Int64
    /// The number of connections to use.
    public var connections: Int
    /// The method of the transfer.
    public var transfer: RemoteFile.Transfer
    /// The evidence for the version of the file: `etag`, `last-modified`, `checksum` or `none`.
    ///
    /// The value is `unverified` if a part is resumed because a sample of it was equal.
    public var identity: String
    /// The number of URLs of the file that are not dropped, including the primary one.
    public var mirrors = 1

    package init(
        path: String, size: Int64? = nil, resumedBytes: Int64, connections: Int,
        transfer: RemoteFile.Transfer, identity: String, mirrors: Int = 1
    ) {
        self.path = path
        self.size = size
        self.resumedBytes = resumedBytes
        self.connections = connections
        self.transfer = transfer
        self.identity = identity
        self.mirrors = mirrors
    }
}

/// A notice about the course of a download.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum DownloadNotice: Sendable, Hashable {
    /// The part of an earlier run could not be resumed; its bytes are downloaded again.
    case startedOver(StartOverReason)
    /// A part is resumed only because a sample of this size was downloaded again and was equal.
    ///
    /// Nothing else shows that the remote file is the same.
    case resumedUnverified(bytes: Int64)
    /// A sample of the part was downloaded again from the new target of the link and was equal.
    ///
    /// `bytes` is the size of the sample.
    case partAgreed(bytes: Int64)
    /// The server refused the link with `status`, and this one replaces it.
    ///
    /// The URL is shown without credentials and query.
    case linkRefreshed(url: String, status: Int)
    /// The server refused the link with `status`, and there is no new one.
    case linkNotRefreshed(LinkFault, status: Int)
    /// The link was refused again; a new one is requested after this delay, at most one a minute.
    case linkRefreshDelayed(Duration)
    /// The bytes of a file that another program began to download are now in the part.
    ///
    /// `bytes` is their number. `moved` is whether the file was renamed to become the part; if not,
    /// it remains unchanged.
    case adopted(path: String, bytes: Int64, moved: Bool)
    /// A request failed and is retried after `delay`.
    case retrying(range: ByteRange?, attempt: Int, delay: Duration, cause: TransferFailure)
    /// The effective URL answered with `status`, so the original URL is resolved again.
    case resolvingAgain(status: Int)
    /// The server refuses (403) requests like those that it served before.
    ///
    /// segget sends it no request for this time, and then a single one. The URL is shown without
    /// credentials and query.
    case resting(url: String, for: Duration)
    /// The server ignored the range; the file is downloaded in one stream.
    case rangesIgnored
    /// Servers behind one host name report different versions of the file.
    ///
    /// The file is downloaded in one stream.
    case serversDisagree
    /// A response was not accepted, and nothing of its body was written.
    case replyRefused(ContractBreach)
    /// The server sent the whole file in response to `If-Range`; the range is requested without it.
    case ifRangeUnusable(ByteRange?)
    /// An extent from an earlier run failed its CRC-32 check and is downloaded again.
    case damaged(ByteRange)
    /// A free connection took over the end of the segment that would have finished last.
    ///
    /// `rate` is the rate of the connection that had it, in bytes per second; `nil` if unknown.
    case stole(ByteRange, rate: Double?)
    /// A connection stalled for this time while others did not; a new connection replaces it.
    case rescued(ByteRange, stalledFor: Duration)
    /// A connection was far slower than its peers; a new connection replaces it.
    ///
    /// `rate` is its rate in bytes per second. At least half of its peers have a rate of `peers` or
    /// more.
    case outpaced(ByteRange, rate: Double, peers: Double)
    /// All other bytes have arrived or are in flight, so these bytes are requested a second time.
    ///
    /// The bytes that arrive first are used.
    case hedged(ByteRange)
    /// All connections have stalled for this time; new ones are tried.
    case stalled(for: Duration)
    /// The stall is over, because a new connection was answered.
    ///
    /// This number of stalled connections is replaced.
    case stallOver(connections: Int)
    /// The response to `HEAD` was not sufficient, so segget sends a `GET`.
    ///
    /// The value describes the problem.
    case headUnusable(String)
    /// The server at this URL does not support HTTP/1.1; requests use HTTP/2.
    case needsHTTP2(url: String)
    /// Certificates are not checked, because `AccessOptions.isInsecure` is set.
    case certificatesUnchecked
    /// A redirect led from https to http before this URL; `AccessOptions.allowsDowngrade` is set.
    case downgraded(url: String)
    /// The body ended when the connection closed, and no size shows that it is complete.
    case endUnproven
    /// The download is slower than `minimum` bytes per second; it continues over new connections.
    case changingConnections(minimum: Double)
    /// The number of requests that the server serves at a time.
    ///
    /// `cause` is how the server refused further requests; `nil` if it now serves more than before.
    case serverLimit(connections: Int, cause: TransferFailure?)
    /// The number of connections changed, according to the goodput.
    ///
    /// Either more connections would not improve it, or each additional one does. `bytesPerSecond`
    /// is the current goodput; `nil` if unknown.
    case connections(Int, bytesPerSecond: Double?)
    /// Connections use this additional address of the host.
    case addressUsed(String)
    /// The host's address is not used for a while, because other addresses are better.
    case addressLeft(String, why: AddressFault)
    /// The rate limit of the session changed, in bytes per second; `nil` is no limit.
    case limitChanged(to: Double?)
    /// The server applies this content coding without a request; segget decodes the file.
    case decoding(String)
    /// A strong ETag arrived with another date, but a sample was downloaded again and was equal.
    ///
    /// `bytes` is the size of the sample.
    case sampleAgreed(bytes: Int64)
    /// segget could not check in time whether the file changed during the download.
    case endUnchecked(TransferFailure)
    /// The mirror has the same bytes and is used from now on.
    case mirrorJoined(url: String)
    /// The mirror is a standby: it is used only if the others fail.
    ///
    /// Nothing shows that it has the same file.
    case mirrorOnStandby(url: String)
    /// A mirror is no longer used.
    case mirrorDropped(url: String, why: MirrorFault)
    /// This mirror is now the primary; its version of the file is downloaded.
    case mirrorIsPrimary(url: String)
    /// The file system does not accept these extended attributes; `errno` of setxattr(2).
    case attributesNotWritten(errno: Int32)
    /// The file system cannot reserve space, so a full disk is noticed only during the download.
    ///
    /// `errno` is that of fallocate(2).
    case spaceNotReserved(errno: Int32)
    /// The file was named by link(2) and unlink(2).
    ///
    /// The file system cannot rename without replacing.
    case namedByLink
    /// The file was renamed after a check that the name was free.
    ///
    /// The file system can neither rename without replacing nor link. A file that another program
    /// created between the check and the rename is lost.
    case namedUnguarded
    /// The file system does not accept the mode of the finished file; `errno` of fchmod(2).
    case modeNotSet(errno: Int32)
    /// The file system does not accept the server's time for the finished file; `errno` of
    /// futimens(3).
    case timeNotSet(errno: Int32)
    /// The download waits for the network, as ``DownloadOptions/waitsForNetwork`` requests.
    ///
    /// `since` is when the network was lost, in seconds since 1970. `cause` is the failure of the
    /// last request, if a request noticed the loss.
    case waitingForNetwork(since: Int64, cause: TransferFailure?)
    /// While the download waits for the network, another host answers instead of the server.
    case networkOccupied
    /// The network is back after this time, and the download continues.
    case networkIsBack(after: Duration)
    /// An existing file at the destination is not accepted as the requested one.
    case notFinished(FinishedDoubt)
}

/// The reason why an address of a host is no longer used.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum AddressFault: Sendable, Hashable {
    /// A request to the address ended without a byte of the file.
    case failed(TransferFailure)
    /// A connection to the address has this rate; at least half of the others have `others` or
    /// more.
    ///
    /// Both are in bytes per second.
    case slow(Double, others: Double)
}

/// The progress of a download at one moment.
public struct DownloadProgress: Sendable, Hashable {
    /// The phase of a download.
    ///
    /// Progress events have one of the four phases between `starting` and `ended`;
    /// `Download.progress` has all.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Phase: String, Sendable, Hashable {
        /// The server was asked about the file; no bytes are downloaded yet.
        case starting
        /// Bytes are downloaded or awaited.
        case downloading
        /// The download waits for the network (``DownloadOptions/waitsForNetwork``).
        case waitingForNetwork = "waiting_for_network"
        /// All bytes have arrived, and the digest is completed.
        case verifying
        /// The file is synchronized and renamed.
        case publishing
        /// The download has succeeded, has failed, or was stopped.
        case ended
    }

    /// The phase of the download.
    public var phase: Phase
    /// The number of bytes that are on disk and checked.
    public var bytesDone: Int64
    /// The size in bytes; `nil` if unknown.
    public var size: Int64?
    /// The number of bytes from an earlier run that are not yet checked.
    public var bytesVerifying: Int64
    /// The number of bytes that were received over the network in this run.
    public var bytesReceived: Int64
    /// The rate over the last five seconds, in bytes per second.
    public var bytesPerSecond: Double
    /// The number of connections that transfer data or wait for a response.
    public var connections: Int
    /// The file in equal cells, from start to end, each filled from 0 to 8; empty without a size.
    public var map: [UInt8]
    /// The ranges that are on disk and checked: half-open, in ascending order, not adjacent.
    ///
    /// Empty before ``DownloadEvent/started(_:)``, and until bytes have arrived.
    public var done: [ByteRange]
    /// The ranges from an earlier run that are not yet checked, half-open and in ascending order.
    public var verifying: [ByteRange]
    /// The time since the download started.
    public var elapsed: Duration
    /// The rate limit of the session in bytes per second; `nil` if there is none.
    public var limit: Double?

    /// Creates a snapshot from values that a download or its observer has collected.
    package init(
        phase: Phase, bytesDone: Int64, size: Int64?, bytesVerifying: Int64 = 0,
        bytesReceived: Int64, bytesPerSecond: Double, connections: Int, map: [UInt8],
        done: [ByteRange] = [], verifying: [ByteRange] = [], elapsed: Duration,
        limit: Double? = nil
    ) {
        (self.phase, self.bytesDone, self.size) = (phase, bytesDone, size)
        (self.bytesVerifying, self.bytesReceived) = (bytesVerifying, bytesReceived)
        (self.bytesPerSecond, self.connections) = (bytesPerSecond, connections)
        (self.map, self.done, self.verifying) = (map, done, verifying)
        (self.elapsed, self.limit) = (elapsed, limit)
    }

    /// The remaining time at the current rate; `nil` if the size or the rate is unknown.
    public var timeLeft: Duration? {
        guard let size, bytesPerSecond > 0 else { return nil }
        return Duration(seconds: Double(max(0, size - bytesDone)) / bytesPerSecond)
    }
}

/// The result of a successful download.
public struct DownloadedFile: Sendable, Hashable {
    /// The path of the file; `/dev/stdout` or `/dev/fd/N` for a download to a descriptor.
    public var path: String
    /// The size in bytes.
    public var size: Int64
    /// The CRC-32 of the whole file; `nil` if the file was not read.
    ///
    /// A file is not read if it is skipped, or if the remote file is not newer.
    public var crc32: UInt32?
    /// The digests that were verified, whether the caller expected or the server advertised them.
    public var verified: [Digest]
    /// The number of bytes that were received over the network in this run.
    public var bytesReceived: Int64
    /// The number of bytes from an earlier run that passed their checks.
    public var bytesResumed: Int64
    /// The time that the download took.
    public var duration: Duration
    /// The reason why nothing had to be downloaded; `nil` if the file was downloaded.
    public var unchanged: Unchanged?
    /// Whether a sample, not a validator, shows that all bytes are of one version.
    ///
    /// The bytes come from different responses or runs.
    public var isSampled = false
    /// Whether the equal times of an existing file and `Last-Modified` helped to accept the file.
    public var isDated = false
    /// Whether the file is durable.
    ///
    /// `false` if the file system does not support fsync(2), so a power failure may destroy the
    /// file.
    public var isSynchronized = true
    /// Whether the file is an HTML page although another kind of file was expected.
    ///
    /// The name or media type is that of a model, an archive, a package or a disk image. The page
    /// may be a login page.
    public var isPage = false

    package init(
        path: String, size: Int64, crc32: UInt32? = nil, verified: [Digest], bytesReceived: Int64,
        bytesResumed: Int64, duration: Duration, unchanged: Unchanged? = nil,
        isSampled: Bool = false, isDated: Bool = false, isSynchronized: Bool = true,
        isPage: Bool = false
    ) {
        self.path = path
        self.size = size
        self.crc32 = crc32
        self.verified = verified
        self.bytesReceived = bytesReceived
        self.bytesResumed = bytesResumed
        self.duration = duration
        self.unchanged = unchanged
        self.isSampled = isSampled
        self.isDated = isDated
        self.isSynchronized = isSynchronized
        self.isPage = isPage
    }

    /// The reason why nothing had to be downloaded.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Unchanged: String, Sendable, Hashable {
        /// The complete file existed, and its content was checked.
        case alreadyComplete = "already_complete"
        /// With `timestamping`: the remote file is not newer.
        case notNewer = "not_newer"
        /// With `skipsExisting`: a file of that name exists, and its content was not checked.
        case skipped
    }
}
