public import Assembler

/// What the server says about a file: the outcome of a probe.
public struct RemoteFile: Sendable, Equatable {
    /// The URL that was asked for, without credentials and query.
    public var url: String
    /// Where the redirects led, without credentials and query.
    public var effectiveURL: String
    /// Number of redirects that were followed.
    public var redirects: Int
    /// Size and validators: what distinguishes this version of the file from others.
    public var identity: RemoteIdentity
    /// The `Date` field, as sent (RFC 9110 §6.6.1).
    public var date: String?
    /// Whether byte ranges are served: proven or advertised (`true`), refused (`false`), or unknown.
    public var acceptsRanges: Bool?
    /// The `Content-Type` field, as sent.
    public var contentType: String?
    /// The name for the file: from `Content-Disposition`, else from the URL; one safe component.
    public var suggestedName: String
    /// Whole-file digests that the server advertised and segget can verify.
    public var digests: [Digest]
    /// The request that brought these facts: `HEAD` or `GET`.
    public var probedBy: String
    /// Why `HEAD` was not enough, when it was not.
    public var headProblem: String?
    /// Whether the server encodes the file on the way and segget decodes it: size, validators and digests
    /// belong to the encoded bytes then, and are left out.
    public var isDecoded = false

    /// Whether one request is to bring the whole file (``DownloadOptions/singleRequest``).
    var isSingleRequest = false

    /// Length of the representation in bytes, `nil` when the server does not state it.
    public var size: Int64? { identity.size }
    /// The `ETag` field, as sent (RFC 9110 §8.8.3).
    public var etag: String? { identity.etag }
    /// The `Last-Modified` field, as sent (RFC 9110 §8.8.2).
    public var lastModified: String? { identity.lastModified }

    /// What identifies the version for a download, in a word: a digest that is stated does where no
    /// validator does.
    func identity(with checksum: Digest?) -> String {
        let kind = identity.kind
        return kind == "none" && (checksum != nil || !digests.isEmpty) ? "checksum" : kind
    }

    /// A way to download a file.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Transfer: Sendable, Hashable {
        /// Byte ranges, concurrently.
        case segments
        /// One stream, because the server does not serve ranges.
        case oneStreamNoRanges
        /// One stream, because the server does not state the size.
        case oneStreamUnknownSize
        /// One stream, because ``DownloadOptions/singleRequest`` asks for no more than one request.
        case singleRequest
    }

    /// How segget downloads the file.
    public var transfer: Transfer {
        guard size != nil else { return .oneStreamUnknownSize }
        if isSingleRequest { return .singleRequest }
        return acceptsRanges == false ? .oneStreamNoRanges : .segments
    }
}
