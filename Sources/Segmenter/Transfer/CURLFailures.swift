import CCurl
import Glibc

// The meaning of the libcurl codes and messages in a `TransferFailure`.

/// Returns whether a `CURLcode` means that `CURLOPT_INTERFACE` names an unusable interface.
func isInterfaceFailure(_ code: Int) -> Bool { code == Int(CURLE_INTERFACE_FAILED.rawValue) }

/// Returns whether a `CURLcode` means that a connection failed or broke.
///
/// A server that has too many connections causes such failures. If it refuses a connection by
/// plain text without an HTTP head, libcurl takes the text for HTTP/0.9
/// (`CURLE_UNSUPPORTED_PROTOCOL`).
func isConnectionFailure(_ code: Int) -> Bool {
    [
        CURLE_COULDNT_CONNECT, CURLE_OPERATION_TIMEDOUT, CURLE_SSL_CONNECT_ERROR,
        CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_UNSUPPORTED_PROTOCOL,
    ].contains { Int($0.rawValue) == code }
}

/// Returns whether a TLS handshake failed, and would fail in the same way in every later attempt.
///
/// The two sides have no version of TLS in common, or one of them does not speak TLS.
func isHopelessHandshake(_ code: Int, _ message: String) -> Bool {
    code == Int(CURLE_SSL_CONNECT_ERROR.rawValue)
        && [
            "alert protocol version", "unsupported protocol", "no protocols available",
            "wrong version number",
        ].contains { message.contains($0) }
}

extension TransferFailure {
    /// Whether the name of the server or of the proxy could not be resolved, for any reason.
    var isUnresolved: Bool {
        isAny([CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY])
    }

    /// Whether every later attempt would fail in the same way.
    ///
    /// No temporary condition of the server or the network has caused such a failure.
    package var isHopeless: Bool {
        switch self {
        case .network(let code, let text), .proxy(let code, let text):
            isHopelessHandshake(code, text)
                || isAny([CURLE_URL_MALFORMAT, CURLE_NOT_BUILT_IN, CURLE_SSL_CIPHER])
        default: false
        }
    }

    /// Whether libcurl's connect timeout expired before a connection was made.
    var isTimedOut: Bool { isAny([CURLE_OPERATION_TIMEDOUT]) }

    /// Whether the connect timeout expired because the name server did not answer.
    var isSilentNameServer: Bool {
        guard case .network(_, let text) = self else { return false }
        return isTimedOut && text.hasPrefix("Resolving timed out")
    }

    /// Returns the name that libcurl could not resolve.
    ///
    /// - Parameter host: The host of the request.
    /// - Returns: The name; `nil` if the failure has another cause.
    func unresolvedName(host: String?) -> String? {
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
    var isNetworkLoss: Bool {
        switch self {
        case .stalled, .status(511): return true
        case .network(_, let text), .proxy(_, let text):
            if isAny([CURLE_COULDNT_CONNECT]) { return !text.hasSuffix(Self.named(ECONNREFUSED)) }
            if isAny([CURLE_SEND_ERROR, CURLE_RECV_ERROR]) {
                let gone = [ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, ENETDOWN]
                return gone.contains { text.contains(errorText($0)) }
            }
            return isUnresolved || isTimedOut || isAny([CURLE_INTERFACE_FAILED])
        case .status, .truncated, .breach, .retryAfterTooLong, .resting: return false
        }
    }

    /// Returns the suffix of the message for a failed connection, such as ` (Connection refused)`.
    static func named(_ code: Int32) -> String { " (\(errorText( code)))" }

    private func isAny(_ codes: [CURLcode]) -> Bool {
        switch self {
        case .network(let code, _), .proxy(let code, _):
            codes.contains { Int($0.rawValue) == code }
        default: false
        }
    }
}

private func errorText(_ code: Int32) -> String {
    strerror(code).map { String(cString: $0) } ?? "error \(code)"
}

extension TransferRequest {
    /// Returns whether a failure suggests that the server supports HTTP/2 only.
    ///
    /// Over TLS, such a server sends an alert (RFC 7301 §3.2) or closes the connection. Without
    /// TLS, it closes the connection or sends a SETTINGS frame (RFC 9113 §3.4), which libcurl takes
    /// for HTTP/0.9. The failure of a proxy to open a tunnel does not count.
    func mayNeedHTTP2(_ failure: TransferFailure) -> Bool {
        guard case .network(let code, let text) = failure, !wantsHTTP2 else { return false }
        func isAny(_ codes: CURLcode...) -> Bool { codes.contains { Int($0.rawValue) == code } }
        if isAny(CURLE_GOT_NOTHING) { return url.isSecure || !mayUseProxy }
        guard url.isSecure else {
            return isAny(CURLE_UNSUPPORTED_PROTOCOL) && text.contains("HTTP/0.9") && !mayUseProxy
        }
        return isAny(CURLE_RECV_ERROR, CURLE_SEND_ERROR)
            || isAny(CURLE_SSL_CONNECT_ERROR) && text.contains("no application protocol")
    }
}

extension VersionMemory {
    /// Returns whether to repeat a failed request over HTTP/2, as HTTP/1.1 seems to be refused.
    func begins(after failure: TransferFailure, of request: TransferRequest) -> Bool {
        request.mayNeedHTTP2(failure) && begins(request.url.origin, request.method)
    }

    /// Checks whether a request failed because its origin refuses HTTP/1.1.
    ///
    /// - Returns: Whether this was unknown; `nil` if the request failed for another reason.
    func explains(_ failure: TransferFailure, of request: TransferRequest) -> Bool? {
        request.mayNeedHTTP2(failure) ? explains(request.url.origin) : nil
    }
}
