/// The result of a transfer.
package enum TransferEnd: Sendable, Hashable {
    /// The body is complete, or the part of it that was needed.
    case complete
    /// The head was received, and the body is not needed.
    case declined
    /// The server, the network or a proxy caused a failure.
    case failed(TransferFailure)
    /// The caller cancelled the transfer.
    case cancelled
    /// The server's certificate is not trusted; the value is libcurl's message.
    case untrusted(String)
    /// The host has a private address, and the request must not reach private addresses.
    case denied(address: String)
    /// The file with trusted certificates cannot be used.
    case badCertificateFile
    /// An access option cannot be used.
    case badSetting(AccessProblem)
    /// The proxy refused a tunnel or, over SOCKS, the credentials.
    ///
    /// `status` is `nil` for SOCKS. `asksForDigest` is whether the proxy offers digest but not
    /// basic authentication.
    case proxyRefused(status: Int?, asksForDigest: Bool)
    /// Writing to the disk failed with this `errno`.
    case disk(Int32)
}
