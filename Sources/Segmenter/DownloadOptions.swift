public import Assembler

/// How one file is fetched.
public struct DownloadOptions: Sendable {
    /// Concurrent connections, 1…64.
    public var connections = 8
    /// The digest that the finished file must have.
    public var checksum: Digest?
    /// Replace what stands at the destination, at the moment of publishing.
    public var overwrite = false
    /// Continue an earlier run's part.
    public var resume = true
    /// Further request headers, as `Name: value`; sent to the origin of the URL only.
    public var headers: [String] = []
    /// PEM file with the certificates to trust, in place of the system's.
    public var caCertificate: String?
    /// Longest time to connect, TLS handshake included, in seconds.
    public var connectTimeout = 10.0
    /// Longest time without a byte on a connection, in seconds.
    public var stallTimeout = 15.0
    /// Attempts without progress before the download fails.
    public var retries = 10
    /// Further URLs of the same file.
    public var mirrors: [String] = []

    /// Makes the default options.
    public init() {}
}

/// Where the finished file goes.
public enum Destination: Sendable, Hashable {
    /// This path.
    case file(String)
    /// This folder, under the name that the server or the URL suggests.
    case folder(String)
}
