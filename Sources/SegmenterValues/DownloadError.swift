public import Assembler

/// The error of a failed download, with the state that it leaves on disk.
public struct DownloadError: Error, Sendable, Hashable {
    /// The reason of a failure, as facts; the caller decides on the wording.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Reason: Error, Sendable, Hashable {
        /// The URL is malformed, or not http or https; carries the part of it that may be shown.
        case invalidURL(String)
        /// The text is not an http or https URL, but known to be something else.
        ///
        /// `shown` is the part of it that may be shown.
        case foreignURL(ForeignURL, shown: String)
        /// A header of the caller is malformed.
        case invalidHeader(HeaderSyntaxError)
        /// An access option cannot be used.
        case access(AccessProblem)
        /// The file with the trusted certificates cannot be used.
        case certificateFile(path: String)
        /// The trusted certificates cannot be read.
        ///
        /// `variable` is the environment variable that names the file. If it is `nil`, the path is
        /// libcurl's built-in default.
        case noCertificates(path: String, variable: String?)
        /// The file on disk could not be created, written or published.
        case assembly(AssemblyError)
        /// An earlier file of the same batch has this path.
        case nameTaken(path: String)
        /// The request failed permanently: by a status, a network error, or because no attempts
        /// remain.
        case transfer(TransferFailure, attempts: Int)
        /// The server refused access (401, 403).
        case refused(status: Int)
        /// The server accepts only these authentication schemes, and none of them was used (401).
        case unusableScheme([String])
        /// The proxy refused the request; the status of a SOCKS proxy is `nil`.
        ///
        /// The status is 407, or 401 or 403 for a tunnel.
        case proxyRefused(status: Int?)
        /// The certificate of the server is not trusted.
        case untrusted(String)
        /// The URL may lead to a private address (`AccessOptions.deniesPrivate`).
        case addressDenied(AddressDenial)
        /// A redirect led from https to http, or to another scheme; then the URL is empty.
        case unsafeRedirect(to: String)
        /// There were more redirects than this limit.
        case tooManyRedirects(Int)
        /// The remote file changed during the download, and again after a new start.
        case remoteChanged(ContractBreach)
        /// The responses of the server violated the contract of range requests.
        case contract(ContractBreach)
        /// The server has another version of the file than ``DownloadOptions/pin`` states.
        case otherVersion(ContractBreach)
        /// The file is larger than `LimitOptions.maxSize`, in bytes.
        ///
        /// A `size` of `nil` means that the size was unknown before the download.
        case tooLarge(size: Int64?, limit: Int64)
        /// The download was slower than `LimitOptions.minRate` for two periods, in bytes per
        /// second.
        ///
        /// In the second period, it used new connections.
        case tooSlow(bytesPerSecond: Double, minimum: Double, period: Duration)
        /// The download took longer than `LimitOptions.maxTime`.
        case timeIsUp(after: Duration)
        /// An HTML page arrived instead of the expected file (`FileOptions.refusesHTML`).
        case htmlPage
        /// The file cannot be repaired.
        case unrepairable(RepairObstacle)
        /// The part does not belong to the file at the new link, or nothing shows that it does.
        ///
        /// The part remains unchanged.
        case notContinued(StartOverReason)
        /// The caller stopped the download.
        case cancelled
    }

    /// The reason of the failure.
    public var reason: Reason
    /// The URL, without credentials and query.
    public var url: String
    /// The path of the finished file; `nil` if it is not known yet.
    public var path: String?
    /// The number of bytes that are kept on disk and recorded for the next run.
    public var bytesKept: Int64
    /// The reason why the same download would start over although bytes are kept.
    ///
    /// The value is a prediction: it assumes that the server offers the same file as before. `nil`
    /// if the download would resume, or if nothing is kept.
    public var startsOver: StartOverReason?
    /// The number of bytes that were written to the descriptor; `nil` for other destinations.
    public var bytesWritten: Int64?
    /// Whether the complete file already has its name; only synchronization or cleanup failed.
    public var isPublished = false
    /// Whether the server refused an expired link; a fresh link can resume the download.
    ///
    /// The link itself states when it expires.
    public var isLinkExpired = false
    /// Whether the network was lost after the download had started.
    ///
    /// With ``DownloadOptions/waitsForNetwork``, the download would have waited.
    public var isNetworkLost = false
    /// Whether the link failed (404, 410) after the server had sent bytes of the file.
    ///
    /// The server may count downloads of the link; ``DownloadOptions/singleRequest`` is meant for
    /// such links.
    public var isLinkUsedUp = false
    /// The URLs that failed, in their order and with their faults, if several URLs were given.
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

/// The reason why a download is refused with ``AccessOptions/deniesPrivate``.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum AddressDenial: Error, Sendable, Hashable {
    /// The server has this private address.
    case privateAddress(String)
    /// A proxy may be used, and the address to which it connects is unknown.
    case proxy
}

/// The reason why a file cannot be repaired; the file remains unchanged.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum RepairObstacle: Error, Sendable, Hashable {
    /// There is no manifest that could show the damaged bytes.
    ///
    /// `isFileThere` is whether the file exists.
    case noManifest(isFileThere: Bool)
    /// The server offers another version, or nothing shows that the version is the same.
    case otherVersion(StartOverReason)
    /// The file matches its manifest but does not have the expected digest.
    case otherDigest(expected: Digest, actual: Digest)
}

/// The reason why a single request failed.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum TransferFailure: Error, Sendable, Hashable {
    /// An error of libcurl (`CURLcode`), with its text.
    case network(code: Int, message: String)
    /// The proxy cannot be reached or used: an error of libcurl (`CURLcode`), with its text.
    case proxy(code: Int, message: String)
    /// The server responded with this status code.
    case status(Int)
    /// No byte arrived within the stall timeout.
    case stalled(for: Duration)
    /// The body ended before the end of the range; in bytes.
    case truncated(missing: Int64)
    /// The response does not match the request.
    case breach(ContractBreach)
    /// `Retry-After` asks for a longer wait than segget accepts.
    case retryAfterTooLong(Duration)
    /// The server refuses (403) requests like those that it served before.
    ///
    /// segget sends it no request for this time. Downloads fail for this reason only with
    /// ``DownloadOptions/endsToRest``.
    case resting(for: Duration)
}

/// A violation of the contract of range requests by a response.
///
/// Nothing of such a response is written.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum ContractBreach: Error, Sendable, Hashable {
    /// The status is 200 instead of 206.
    case wholeFileForRange
    /// The status does not match the request, such as 204, 304, or 206 without a requested range.
    case unexpectedStatus(Int)
    /// The status is 416: the range is outside the file.
    case rangeNotSatisfiable
    /// The status is 416, but the range is inside the size that the same response states.
    case rangeRefused
    /// `Content-Range` is missing or malformed; carries the received value.
    case contentRangeUnusable(String?)
    /// `Content-Length` is not a number, has several different values, or is larger than any file.
    ///
    /// Carries the received value.
    case contentLengthUnusable(String)
    /// The response is `multipart/byteranges`, which was not requested.
    case severalRanges
    /// The header section is too long; it has more lines or bytes than any valid response.
    case headTooLong
    /// The range differs from the requested one.
    case otherRange(asked: ByteRange, got: ByteRange)
    /// The total size differs; in bytes, `nil` is unknown.
    case otherSize(expected: Int64?, got: Int64?)
    /// `Content-Length` contradicts the range; in bytes.
    case otherLength(expected: Int64, got: Int64)
    /// The entity tag differs; `nil` is none.
    case otherETag(expected: String?, got: String?)
    /// `Last-Modified` differs; `nil` is none.
    case otherLastModified(expected: String?, got: String?)
    /// The content coding was not requested.
    case contentCoding(String)
    /// The bytes of the range do not have the digest in `Content-Digest`.
    case otherContentDigest(ByteRange)
    /// The body is longer than announced; the announced bytes are kept.
    case bodyTooLong

    /// Whether the violation shows that the file itself has changed.
    public var isAnotherVersion: Bool {
        switch self {
        case .otherSize, .otherETag, .otherLastModified, .rangeNotSatisfiable: true
        default: false
        }
    }
}
