/// The server of the Hugging Face Hub that a download uses, and where its token is found.
///
/// The token itself is not stored: it is looked up when the download runs.
public struct HubGrant: Sendable, Hashable, Codable {
    /// The URL of the server; `nil` for the Hub itself.
    public var endpoint: String?
    /// The environment variable that has the token; `nil` if none has.
    public var variable: String?
    /// The path of the file that has the token; `nil` if none has.
    public var file: String?
    /// The path of the Hub's cache into which the files are downloaded; `nil` for a folder of their
    /// own.
    public var cache: String?

    /// Creates a grant, by default one without a token.
    public init(
        endpoint: String? = nil, variable: String? = nil, file: String? = nil, cache: String? = nil
    ) {
        (self.endpoint, self.variable, self.file) = (endpoint, variable, file)
        self.cache = cache
    }
}
