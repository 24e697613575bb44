/// The stored form of options, for example in a queue.
///
/// Each option has a key, and related options are an object. docs/options.md lists the keys and
/// their values.
///
/// - A missing key means the default, so options that an older version stored can be read.
/// - An unknown key is kept and written again, so options that a newer version stored are not lost.
/// - An unknown value is an error, because a replacement could be weaker than the stored value.
/// - Secrets are written unless ``Swift/CodingUserInfoKey/leavesOutSecrets`` is set in the encoder.
extension DownloadOptions: CodableOptions {
    static let fields: [OptionField<Self>] = [
        .init("connections", \.connections),
        .init(optional: "min_split_size", \.minSplitSize),
        .init(optional: "checksum", \.checksum),
        .init(optional: "pin", \.pin),
        .init(optional: "hub", \.hub),
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

    /// The options without their secrets, for logs and for files that others may read.
    ///
    /// The following values are omitted:
    ///
    /// - ``AccessOptions/credentials``, ``AccessOptions/bearerToken``, ``AccessOptions/cookies``
    ///   and ``AccessOptions/clientKeyPassword``
    /// - user and password of ``AccessOptions/proxy``, ``AccessOptions/referer`` and ``mirrors``
    /// - ``headers`` that are not known to be harmless
    /// - options that a newer version stored and that this version does not know
    ///
    /// Secrets in files are not affected. The queries of URLs are kept, because a URL without its
    /// query may lead to another file.
    public var withoutSecrets: DownloadOptions { secretsTaken }

    /// Decodes stored options.
    public init(from decoder: any Decoder) throws { try self.init(stored: decoder) }

    /// Encodes the options.
    public func encode(to encoder: any Encoder) throws { try store(in: encoder) }
}

extension CodingUserInfoKey {
    /// Whether an encoder omits the secrets of `DownloadOptions`: only if the value is `true`.
    ///
    /// ``DownloadOptions/withoutSecrets`` lists the omitted values.
    public static let leavesOutSecrets = CodingUserInfoKey("segget.leaves_out_secrets")

    /// Whether an encoder omits options that have their defaults: only if the value is `true`.
    ///
    /// Use it only if the same version decodes the result: another version may have other defaults.
    package static let leavesOutDefaults = CodingUserInfoKey("segget.leaves_out_defaults")

    /// Creates a key; the initializer of the standard library returns an optional but never `nil`.
    fileprivate init(_ text: String) {
        guard let key = CodingUserInfoKey(rawValue: text) else { preconditionFailure(text) }
        self = key
    }
}
