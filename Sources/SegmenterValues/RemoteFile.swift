public import Assembler

/// The result of a probe: the file that a server offers.
public struct RemoteFile: Sendable, Equatable {
    /// The requested URL, without credentials and query.
    public var url: String
    /// The URL after all redirects, without credentials and query.
    public var effectiveURL: String
    /// The number of redirects that were followed.
    public var redirects: Int
    /// The size and validators that distinguish this version of the file from others.
    public var identity: RemoteIdentity
    /// The `Date` field, as sent (RFC 9110 §6.6.1).
    public var date: String?
    /// Whether the server serves byte ranges; `nil` if unknown.
    ///
    /// `true` if it has served one or advertises them, `false` if it refuses them.
    public var acceptsRanges: Bool?
    /// The `Content-Type` field, as sent.
    public var contentType: String?
    /// The suggested file name, from `Content-Disposition` or else from the URL.
    ///
    /// The name is one safe path component.
    public var suggestedName: String
    /// The digests of the whole file that the server advertised and that segget can verify.
    public var digests: [Digest]
    /// The method of the request that returned these facts: `HEAD` or `GET`.
    public var probedBy: String
    /// The reason why `HEAD` was not sufficient; `nil` if it was.
    public var headProblem: String?
    /// Whether the server applies a content coding that segget decodes.
    ///
    /// Size, validators and digests then belong to the encoded bytes, and are omitted.
    public var isDecoded = false

    /// Whether a single request downloads the whole file (``DownloadOptions/singleRequest``).
    package var isSingleRequest = false

    package init(
        url: String, effectiveURL: String, redirects: Int, identity: RemoteIdentity,
        date: String? = nil, acceptsRanges: Bool? = nil, contentType: String? = nil,
        suggestedName: String, digests: [Digest], probedBy: String, headProblem: String? = nil,
        isDecoded: Bool = false, isSingleRequest: Bool = false
    ) {
        self.url = url
        self.effectiveURL = effectiveURL
        self.redirects = redirects
        self.identity = identity
        self.date = date
        self.acceptsRanges = acceptsRanges
        self.contentType = contentType
        self.suggestedName = suggestedName
        self.digests = digests
        self.probedBy = probedBy
        self.headProblem = headProblem
        self.isDecoded = isDecoded
        self.isSingleRequest = isSingleRequest
    }

    /// The length of the representation in bytes; `nil` if the server does not state it.
    public var size: Int64? { identity.size }
    /// The `ETag` field, as sent (RFC 9110 §8.8.3).
    public var etag: String? { identity.etag }
    /// The `Last-Modified` field, as sent (RFC 9110 §8.8.2).
    public var lastModified: String? { identity.lastModified }

    /// Returns the word for the evidence that identifies the version of the file.
    ///
    /// An expected or advertised digest counts as `checksum` if there is no validator.
    package func identity(with checksum: Digest?) -> String {
        let kind = identity.kind
        return kind == "none" && (checksum != nil || !digests.isEmpty) ? "checksum" : kind
    }

    /// The method by which segget downloads a file.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Transfer: Sendable, Hashable {
        /// Concurrent requests for byte ranges.
        case segments
        /// One stream, because the server does not serve ranges.
        case oneStreamNoRanges
        /// One stream, because the server does not state the size.
        case oneStreamUnknownSize
        /// One stream, because ``DownloadOptions/singleRequest`` allows only one request.
        case singleRequest
    }

    /// The method by which segget would download the file.
    public var transfer: Transfer {
        guard size != nil else { return .oneStreamUnknownSize }
        if isSingleRequest { return .singleRequest }
        return acceptsRanges == false ? .oneStreamNoRanges : .segments
    }
}
