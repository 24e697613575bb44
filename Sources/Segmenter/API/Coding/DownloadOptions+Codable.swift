/// How options are stored, in a queue for example.
///
/// Each option has a key, and options that belong together are an object. docs/options.md lists the keys and their
/// values.
///
/// - A key that is missing stands for the default; so what an older version stored can be read.
/// - A key that is not known is kept, and written again: what a newer version stored is not lost.
/// - A value that is not known is an error: another one in its place might be less than was asked for.
/// - Secrets are written unless ``Swift/CodingUserInfoKey/leavesOutSecrets`` is set in the encoder.
extension DownloadOptions: CodableOptions {
    static let fields: [OptionField<Self>] = [
        .init("connections", \.connections),
        .init(optional: "min_split_size", \.minSplitSize),
        .init(optional: "checksum", \.checksum),
        .init("overwrite", \.overwrite),
        .init("resume", \.resume),
        .init("resume_unverified", \.resumeUnverified),
        .init("single_request", \.singleRequest),
        .init("continues_other_url", \.continuesOtherURL),
        .init(optional: "adopt", \.adopt),
        .init("takes_over", \.takesOver),
        .init("continues_existing", \.continuesExisting),
        .init("waits_for_network", \.waitsForNetwork),
        .init("waits_for_network_first", \.waitsForNetworkFirst),
        .init("ends_to_rest", \.endsToRest),
        .options("naming", \.naming),
        .init("headers", \.headers) { TravellingHeaders.publicLines($0) },
        .init(optional: "ca_certificate", \.caCertificate),
        .init("connect_timeout", \.connectTimeout.stored),
        .init("stall_timeout", \.stallTimeout.stored),
        .init(optional: "retries", \.givenRetries),
        .init("retry_wait", \.retryWait.stored),
        .options("stream", \.stream),
        .options("access", \.access),
        .options("limits", \.limits),
        .init("mirrors", \.mirrors) { $0.map(withoutUser) },
        .options("files", \.files),
    ]

    /// The options without what is secret in them: fit for logs, and for files that others may read.
    ///
    /// Left out are ``AccessOptions/credentials``, ``AccessOptions/bearerToken``,
    /// ``AccessOptions/cookies`` and ``AccessOptions/clientKeyPassword``; user and password of
    /// ``AccessOptions/proxy``, ``AccessOptions/referer`` and ``mirrors``; the ``headers`` that are not
    /// known to be harmless; and what a newer version stored and this one does not know. What files
    /// hold stays there. The queries of URLs stay: without them another file is asked for.
    public var withoutSecrets: DownloadOptions { secretsTaken }

    /// Reads stored options.
    public init(from decoder: any Decoder) throws { try self.init(stored: decoder) }

    /// Stores the options.
    public func encode(to encoder: any Encoder) throws { try store(in: encoder) }
}

extension CodingUserInfoKey {
    /// Whether an encoder leaves out the secrets of `DownloadOptions`: `true`, or else they are written.
    ///
    /// What is left out is listed at ``DownloadOptions/withoutSecrets``.
    public static let leavesOutSecrets = CodingUserInfoKey("segget.leaves_out_secrets")

    /// Whether an encoder leaves out the options that have their defaults: `true`, or else they are written.
    ///
    /// For what is read at once, by the same version: another one may have another default.
    package static let leavesOutDefaults = CodingUserInfoKey("segget.leaves_out_defaults")

    /// The standard library's initializer refuses no text.
    fileprivate init(_ text: String) {
        guard let key = CodingUserInfoKey(rawValue: text) else { preconditionFailure(text) }
        self = key
    }
}
