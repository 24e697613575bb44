public import Assembler

/// Why a download failed, with what it leaves behind.
public struct DownloadError: Error, Sendable, Hashable {
    /// What happened.
    ///
    /// Carries facts; wording is the caller's business.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Reason: Error, Sendable, Hashable {
        /// The URL is malformed, or not http or https; carries what of it may be shown.
        case invalidURL(String)
        /// It is no URL that can be fetched, and known to be something else; carries what of it may be
        /// shown.
        case foreignURL(ForeignURL, shown: String)
        /// A header of the caller's is malformed.
        case invalidHeader(HeaderSyntaxError)
        /// An access option cannot be used.
        case access(AccessProblem)
        /// The file with trusted certificates cannot be used.
        case certificateFile(path: String)
        /// The certificates to trust cannot be read: the file that this environment variable names, or where that is
        /// `nil`, the one that libcurl was built to read.
        case noCertificates(path: String, variable: String?)
        /// The file on the disk could not be made, written or published.
        case assembly(AssemblyError)
        /// An earlier file of the same batch goes to this path.
        case nameTaken(path: String)
        /// The request failed for good: a status, the network or its retries are used up.
        case transfer(TransferFailure, attempts: Int)
        /// The server refused access (401, 403).
        case refused(status: Int)
        /// The server accepts only logins of these schemes, and none of them was used (401).
        case unusableScheme([String])
        /// The proxy refused its service (407, or 401 or 403 to a tunnel); a SOCKS proxy has no status.
        case proxyRefused(status: Int?)
        /// The server's certificate is not trusted.
        case untrusted(String)
        /// It may lead to a private address (`AccessOptions.deniesPrivate`).
        case addressDenied(AddressDenial)
        /// A redirect led from https to http, or to another scheme.
        case unsafeRedirect(to: String)
        /// More redirects than are followed.
        case tooManyRedirects(Int)
        /// The remote file changed while it was fetched, and again after starting over.
        case remoteChanged(ContractBreach)
        /// The server's replies broke the range contract.
        case contract(ContractBreach)
        /// The file is larger than it may be (`LimitOptions.maxSize`). In bytes; a size of `nil`
        /// was not known before.
        case tooLarge(size: Int64?, limit: Int64)
        /// The download was slower than it may be (`LimitOptions.minRate`), for so long and then, over
        /// other connections, for as long again. In bytes per second.
        case tooSlow(bytesPerSecond: Double, minimum: Double, period: Duration)
        /// The time that the download might take is over (`LimitOptions.maxTime`).
        case timeIsUp(after: Duration)
        /// An HTML page arrived where something else was promised (`FileOptions.refusesHTML`).
        case htmlPage
        /// A file cannot be repaired.
        case unrepairable(RepairObstacle)
        /// Nothing shows that a part is of the file that the new link leads to, or something shows that it is
        /// not; it stays as it is.
        case notContinued(StartOverReason)
        /// The download was stopped by the caller.
        case cancelled
    }

    /// What happened.
    public var reason: Reason
    /// The URL, without credentials and query.
    public var url: String
    /// Path of the finished file, once it is known.
    public var path: String?
    /// Bytes that are kept on disk, recorded for the next run.
    public var bytesKept: Int64
    /// Why the same download, begun again, starts over although bytes are kept.
    ///
    /// As far as that can be known: if the server then offers what it has offered. `nil` where it continues, and
    /// where nothing is kept.
    public var startsOver: StartOverReason?
    /// Bytes that had gone out through the descriptor; `nil` when the destination was none.
    public var bytesWritten: Int64?
    /// Whether the complete file has its name already: making that durable or tidying up failed.
    public var isPublished = false
    /// Whether the link was refused, and says that it has expired: a fresh one goes on.
    public var isLinkExpired = false
    /// Whether the network was lost after the download had begun: ``DownloadOptions/waitsForNetwork`` would
    /// have waited for it.
    public var isNetworkLost = false
    /// Whether the link led nowhere any more (404, 410) after the server had sent bytes of the file: perhaps it
    /// counts downloads, and ``DownloadOptions/singleRequest`` is for it.
    public var isLinkUsedUp = false
    /// Where several URLs were given: each one that failed, in their order, and why.
    public var mirrors: [FailedMirror] = []

    package init(
        reason: Reason, url: String, path: String?, bytesKept: Int64, bytesWritten: Int64? = nil,
        mirrors: [FailedMirror] = []
    ) {
        self.reason = reason
        self.url = url
        self.path = path
        self.bytesKept = bytesKept
        self.bytesWritten = bytesWritten
        self.mirrors = mirrors
    }
}

/// Why something is not fetched that must not come from a private address.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum AddressDenial: Error, Sendable, Hashable {
    /// It was to be fetched from this address.
    case privateAddress(String)
    /// A proxy may be used, and nobody knows which address that connects to.
    case proxy
}

/// Why a file cannot be repaired; it is left as it was.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum RepairObstacle: Error, Sendable, Hashable {
    /// There is no manifest to show what of it is damaged. `isFileThere`: whether there is a file.
    case noManifest(isFileThere: Bool)
    /// The server offers another version, or nothing proves that it is the same.
    case otherVersion(StartOverReason)
    /// The file is as its manifest says, and has another digest than expected.
    case otherDigest(expected: Digest, actual: Digest)
}

/// Why one request failed.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum TransferFailure: Error, Sendable, Hashable {
    /// libcurl's error (`CURLcode`) with its text.
    case network(code: Int, message: String)
    /// The proxy cannot be reached or used: libcurl's error (`CURLcode`) with its text.
    case proxy(code: Int, message: String)
    /// The server answered with this status.
    case status(Int)
    /// No byte arrived within the stall timeout.
    case stalled(for: Duration)
    /// The body ended before the range did. In bytes.
    case truncated(missing: Int64)
    /// The reply was not what had been asked for.
    case breach(ContractBreach)
    /// The server asked to wait longer than segget waits.
    case retryAfterTooLong(Duration)
    /// The server forbids what it has served before, and is sent nothing for so long
    /// (``DownloadOptions/endsToRest``).
    case resting(for: Duration)
}

/// How a reply broke the contract of a ranged request.
///
/// Nothing of such a reply is written.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum ContractBreach: Error, Sendable, Hashable {
    /// 200 in place of 206.
    case wholeFileForRange
    /// A status that answers no range, such as 204, 206 without being asked or 304.
    case unexpectedStatus(Int)
    /// 416: the range lies outside the file.
    case rangeNotSatisfiable
    /// 416 to a range that lies inside the size which the same reply states.
    case rangeRefused
    /// `Content-Range` is missing or malformed; carries what was sent.
    case contentRangeUnusable(String?)
    /// `Content-Length` is no number, several that differ, or more than any file has; carries what was
    /// sent.
    case contentLengthUnusable(String)
    /// `multipart/byteranges`, which nobody had asked for.
    case severalRanges
    /// The header section has no end: more lines, or more bytes, than any reply needs.
    case headTooLong
    /// Another range than was asked for.
    case otherRange(asked: ByteRange, got: ByteRange)
    /// The total size is another one. In bytes, `nil` is unknown.
    case otherSize(expected: Int64?, got: Int64?)
    /// `Content-Length` disagrees with the range. In bytes.
    case otherLength(expected: Int64, got: Int64)
    /// Another entity tag; `nil` is none.
    case otherETag(expected: String?, got: String?)
    /// Another `Last-Modified`; `nil` is none.
    case otherLastModified(expected: String?, got: String?)
    /// A content coding that was not asked for.
    case contentCoding(String)
    /// The bytes of the range do not have the digest that came with them (`Content-Digest`).
    case otherContentDigest(ByteRange)
    /// More bytes came than the reply had announced; those that it had announced are kept.
    case bodyTooLong

    /// Whether this says that the file itself is another one than before.
    public var isAnotherVersion: Bool {
        switch self {
        case .otherSize, .otherETag, .otherLastModified, .rangeNotSatisfiable: true
        default: false
        }
    }
}
