extension TransferFailure {
    /// The code and the message of a failure that libcurl reported.
    private var reported: (code: Int, message: String)? {
        switch self {
        case .network(let code, let message), .proxy(let code, let message): (code, message)
        default: nil
        }
    }

    /// Whether the name of the server or of the proxy could not be resolved, for any reason.
    package var isUnresolved: Bool { reported.map { isNameFailure($0.code) } ?? false }

    /// Whether every later attempt would fail in the same way.
    ///
    /// No temporary condition of the server or the network has caused such a failure.
    package var isHopeless: Bool {
        reported.map { isHopelessFailure($0.code, $0.message) } ?? false
    }

    /// Whether libcurl's connect timeout expired before a connection was made.
    package var isTimedOut: Bool { reported.map { isTimeout($0.code) } ?? false }

    /// Whether the connect timeout expired because the name server did not answer.
    package var isSilentNameServer: Bool {
        guard case .network(_, let text) = self else { return false }
        return isTimedOut && text.hasPrefix("Resolving timed out")
    }

    /// Returns the name that libcurl could not resolve.
    ///
    /// - Parameter host: The host of the request.
    /// - Returns: The name; `nil` if the failure has another cause.
    package func unresolvedName(host: String?) -> String? {
        guard isUnresolved else { return nil }
        // "Could not resolve proxy: NAME". Only the message always has the name, because an
        // environment variable may name the proxy.
        guard case .proxy(_, let text) = self else { return host }
        return text.firstRange(of: ": ").map { String(text[$0.upperBound...]) }
    }

    /// Whether the failure looks like a loss of the network.
    ///
    /// Either no host answered, or the network requires a login first (status 511, RFC 6585 §6). A
    /// refused connection counts as an answer.
    package var isNetworkLoss: Bool {
        switch self {
        case .stalled, .status(511): true
        case .network(let code, let text), .proxy(let code, let text):
            SegmenterURLs.isNetworkLoss(code, text)
        case .status, .truncated, .breach, .retryAfterTooLong, .resting: false
        }
    }
}
