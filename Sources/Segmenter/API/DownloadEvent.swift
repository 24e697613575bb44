public import Assembler

/// What a download reports while it runs.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum DownloadEvent: Sendable {
    /// The server answered: this is what it offers.
    case probed(RemoteFile)
    /// The part is open; fetching begins.
    case started(DownloadStart)
    /// Something that a person may want to know: a retry, a fresh start, damaged data.
    case notice(DownloadNotice)
    /// How far the download is; at most ten a second.
    case progress(DownloadProgress)
    /// The file is complete, verified and published.
    case finished(DownloadedFile)
}

/// Where a download begins.
public struct DownloadStart: Sendable, Hashable {
    /// Path of the finished file.
    public var path: String
    /// Size in bytes, `nil` when unknown.
    public var size: Int64?
    /// Bytes from an earlier run, each still to be checked against its CRC-32.
    public var resumedBytes: Int64
    /// Number of connections to be used.
    public var connections: Int
    /// How the file is downloaded.
    public var transfer: RemoteFile.Transfer
    /// What identifies the version: `etag`, `last-modified`, `checksum` or `none`; `unverified` where
    /// a part is continued that only a sample was compared of.
    public var identity: String
    /// Number of URLs of the file that are not given up, the primary one included.
    public var mirrors = 1
}

/// Something that happened on the way.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum DownloadNotice: Sendable, Hashable {
    /// An earlier part could not be continued; its bytes are fetched again.
    case startedOver(StartOverReason)
    /// An earlier part is continued, because so many bytes of it were fetched again and were the
    /// same: nothing else proves that the file is.
    case resumedUnverified(bytes: Int64)
    /// So many bytes of a part were fetched again from where the link leads now, and are the same.
    case partAgreed(bytes: Int64)
    /// The link was refused with `status`, and this one takes its place; without credentials and query.
    case linkRefreshed(url: String, status: Int)
    /// The link was refused with `status`, and there is none in its place.
    case linkNotRefreshed(LinkFault, status: Int)
    /// The link was refused again, and a new one is asked for after `delay`: at most one a minute.
    case linkRefreshDelayed(Duration)
    /// So many bytes that another program had brought are in the part now; `moved`: its file became the part,
    /// else it stands where it was.
    case adopted(path: String, bytes: Int64, moved: Bool)
    /// A request failed and is tried again after `delay`.
    case retrying(range: ByteRange?, attempt: Int, delay: Duration, cause: TransferFailure)
    /// The effective URL answered `status`; the original URL is resolved again.
    case resolvingAgain(status: Int)
    /// The server at this URL, without credentials and query, forbids what it has served before: it is sent nothing
    /// for so long, then one request.
    case resting(url: String, for: Duration)
    /// The server ignored the range; the file is fetched in one stream.
    case rangesIgnored
    /// Servers behind one name state different versions; the file is fetched in one stream.
    case serversDisagree
    /// A reply was not accepted, and nothing of its body was written.
    case replyRefused(ContractBreach)
    /// The whole file came in answer to `If-Range`: the range is asked for without it.
    case ifRangeUnusable(ByteRange?)
    /// An extent from an earlier run failed its CRC-32 and is fetched again.
    case damaged(ByteRange)
    /// A free connection took the tail of a segment that would have finished last; `rate` is the speed
    /// of the one that had it, in bytes per second, as far as it is known.
    case stole(ByteRange, rate: Double?)
    /// A connection stalled for so long while others did not: a new one takes its place.
    case rescued(ByteRange, stalledFor: Duration)
    /// A connection brought `rate` bytes per second while half of its peers brought `peers` or more: a
    /// new one takes its place.
    case outpaced(ByteRange, rate: Double, peers: Double)
    /// All else is there or on its way: these bytes are asked for a second time, and who brings them
    /// first is taken.
    case hedged(ByteRange)
    /// All connections have stalled for so long: new ones are tried.
    case stalled(for: Duration)
    /// The stall is over, as a new connection was answered: so many that are stalled are replaced.
    case stallOver(connections: Int)
    /// `HEAD` did not do; a `GET` takes its place.
    case headUnusable(String)
    /// The server at this URL does not speak HTTP/1.1: it is asked over HTTP/2.
    case needsHTTP2(url: String)
    /// Certificates are not checked: `AccessOptions.isInsecure`.
    case certificatesUnchecked
    /// A redirect led from https to http on the way to this URL: `AccessOptions.allowsDowngrade`.
    case downgraded(url: String)
    /// The body ended when the connection closed: no size proves that it is whole.
    case endUnproven
    /// The download is slower than `minimum` bytes per second: it goes on over other connections.
    case changingConnections(minimum: Double)
    /// The server's limit: it serves so many requests at a time, and no more; `cause` is how it
    /// turned others away, or `nil` when it serves more than before.
    case serverLimit(connections: Int, cause: TransferFailure?)
    /// So many connections are used from now on, because of the goodput: more would bring no more, or
    /// each of them does; at `bytesPerSecond`, as far as it is known.
    case connections(Int, bytesPerSecond: Double?)
    /// Connections go to this address of the host too, one of several.
    case addressUsed(String)
    /// No more connections go to this address of the host for a while: others do better.
    case addressLeft(String, why: AddressFault)
    /// The session's limit of rate is another one now, in bytes per second; `nil` is none.
    case limitChanged(to: Double?)
    /// The server encodes the file on the way, in this coding, though nobody asked it to: it is decoded.
    case decoding(String)
    /// A strong ETag came with another date: so many bytes that were there were fetched again, and are the
    /// same.
    case sampleAgreed(bytes: Int64)
    /// Whether the file changed while its last bytes came could not be asked in time.
    case endUnchecked(TransferFailure)
    /// A mirror has shown that it has the same bytes, and works on the file from now on.
    case mirrorJoined(url: String)
    /// A standby mirror: nothing proves that it has the same file, and it is used only if the
    /// others fail.
    case mirrorOnStandby(url: String)
    /// A mirror is not used any more.
    case mirrorDropped(url: String, why: MirrorFault)
    /// From now on this mirror is the primary: what is fetched is its version of the file.
    case mirrorIsPrimary(url: String)
    /// The file system takes no extended attributes, or not these; `errno` of setxattr(2).
    case attributesNotWritten(errno: Int32)
    /// The file system cannot reserve space: a full disk shows only when it is full; `errno` of
    /// fallocate(2).
    case spaceNotReserved(errno: Int32)
    /// The file system cannot rename without replacing: the file got its name by link(2) and unlink(2).
    case namedByLink
    /// The file system can neither rename without replacing nor link: the name was free, and then the file was renamed.
    /// A file that another program created in that instant is lost.
    case namedUnguarded
    /// The file system does not take the mode of the finished file; `errno` of fchmod(2).
    case modeNotSet(errno: Int32)
    /// The file system does not take the server's time for the finished file; `errno` of futimens(3).
    case timeNotSet(errno: Int32)
    /// The network is away since a time, in seconds since 1970, and is waited for
    /// (``DownloadOptions/waitsForNetwork``); `cause` is what the last request has met, if it was that.
    case waitingForNetwork(since: Int64, cause: TransferFailure?)
    /// While the network is waited for: somebody else answers in place of the server.
    case networkOccupied
    /// The network is back, after so long: the download goes on.
    case networkIsBack(after: Duration)
    /// A file stands at the destination that is not taken for the one that is asked for.
    case notFinished(FinishedDoubt)
}

/// Why one of a host's addresses is left.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum AddressFault: Sendable, Hashable {
    /// A request ended there without a byte of the file.
    case failed(TransferFailure)
    /// A connection there brings so much, half of the others `others` or more; in bytes per second.
    case slow(Double, others: Double)
}

/// A moment of a download.
public struct DownloadProgress: Sendable, Hashable {
    /// What the download is doing.
    ///
    /// What comes as an event is one of the four in the middle; `Download.progress` knows all.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Phase: String, Sendable, Hashable {
        /// The server is asked, and nothing is fetched yet.
        case starting
        /// Bytes are being fetched (or waited for).
        case downloading
        /// The network is away, and is waited for (``DownloadOptions/waitsForNetwork``).
        case waitingForNetwork = "waiting_for_network"
        /// All bytes are there; the digest is being completed.
        case verifying
        /// The file is being written out and renamed.
        case publishing
        /// The download has ended, well or not.
        case ended
    }

    /// What the download is doing.
    public var phase: Phase
    /// Bytes on disk and checked.
    public var bytesDone: Int64
    /// Size in bytes, `nil` when unknown.
    public var size: Int64?
    /// Bytes from an earlier run that are not yet checked.
    public var bytesVerifying: Int64
    /// Bytes that came over the network in this run.
    public var bytesReceived: Int64
    /// Speed over the last five seconds, in bytes per second.
    public var bytesPerSecond: Double
    /// Connections that are transferring, or waiting for a reply.
    public var connections: Int
    /// The file from start to end in equal cells, each filled from 0 to 8; empty without a size.
    public var map: [UInt8]
    /// The bytes of the file that are on the disk and checked, in ascending order, no two touching.
    ///
    /// Empty while none of them are fetched: before ``DownloadEvent/started(_:)``, and until bytes have come.
    public var done: [ByteRange]
    /// The bytes from an earlier run that are not yet checked, in the same way.
    public var verifying: [ByteRange]
    /// Time since the download began.
    public var elapsed: Duration
    /// The session's limit of rate in bytes per second, `nil` when there is none.
    public var limit: Double?

    /// Makes a moment, of what a download or somebody that follows one has heard.
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

    /// Time to go at the present speed, `nil` when that cannot be said.
    public var timeLeft: Duration? {
        guard let size, bytesPerSecond > 0 else { return nil }
        return Duration(seconds: Double(max(0, size - bytesDone)) / bytesPerSecond)
    }
}

/// A finished download.
public struct DownloadedFile: Sendable, Hashable {
    /// Path of the file; `/dev/stdout` or `/dev/fd/N` when it went to a descriptor.
    public var path: String
    /// Size in bytes.
    public var size: Int64
    /// CRC-32 of the whole file; `nil` when it was not read, as when it is not newer.
    public var crc32: UInt32?
    /// The digests that were verified, expected by the caller or advertised by the server.
    public var verified: [Digest]
    /// Bytes that came over the network in this run.
    public var bytesReceived: Int64
    /// Bytes that an earlier run had brought and that passed their checks.
    public var bytesResumed: Int64
    /// Time that the download took.
    public var duration: Duration
    /// Why nothing had to be fetched; `nil` when the file was fetched.
    public var unchanged: Unchanged?
    /// Whether a sample of the bytes, and not a validator of the server's, held those of different replies
    /// or runs together.
    public var isSampled = false
    /// Whether the time of an existing file was the server's `Last-Modified`, and counted for it.
    public var isDated = false
    /// Whether the file is durable: false where the file system cannot synchronize data (fsync(2)), and a power cut
    /// may take it.
    public var isSynchronized = true
    /// Whether it is an HTML page, although its name or media type promises a model, an archive, a package or a
    /// disk image: perhaps a login page.
    public var isPage = false

    /// Why nothing had to be fetched.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Unchanged: String, Sendable, Hashable {
        /// The file stood there, complete, and its content was checked.
        case alreadyComplete = "already_complete"
        /// With `timestamping`: the remote file is not newer.
        case notNewer = "not_newer"
        /// With `skipsExisting`: a file of that name existed; nothing was asked or checked.
        case skipped
    }
}
