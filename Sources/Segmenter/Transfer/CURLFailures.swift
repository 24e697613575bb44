import CCurl
import Glibc

// What the codes and texts of libcurl mean that a `TransferFailure` carries.

/// Whether a `CURLcode` says that the interface to go out from cannot be used.
func isInterfaceFailure(_ code: Int) -> Bool { code == Int(CURLE_INTERFACE_FAILED.rawValue) }

/// Whether a `CURLcode` says that a connection was not made, or broke: what a server does that has
/// too many.
///
/// One that says so in words, without HTTP around them, speaks HTTP/0.9 for libcurl.
func isConnectionFailure(_ code: Int) -> Bool {
    [
        CURLE_COULDNT_CONNECT, CURLE_OPERATION_TIMEDOUT, CURLE_SSL_CONNECT_ERROR,
        CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_UNSUPPORTED_PROTOCOL,
    ].contains { Int($0.rawValue) == code }
}

/// Whether a `CURLcode` with its text says that the two sides have no version of TLS in common, or
/// that one of them does not speak TLS: the next attempt would end in the same way.
func isHopelessHandshake(_ code: Int, _ message: String) -> Bool {
    code == Int(CURLE_SSL_CONNECT_ERROR.rawValue)
        && [
            "alert protocol version", "unsupported protocol", "no protocols available",
            "wrong version number",
        ].contains { message.contains($0) }
}

extension TransferFailure {
    /// Whether a name was not resolved, the server's or the proxy's, whatever the reason.
    var isUnresolved: Bool {
        isAny([CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY])
    }

    /// Whether no later attempt can end otherwise, as nothing about the server or the network is to blame that
    /// passes.
    package var isHopeless: Bool {
        switch self {
        case .network(let code, let text), .proxy(let code, let text):
            isHopelessHandshake(code, text)
                || isAny([CURLE_URL_MALFORMAT, CURLE_NOT_BUILT_IN, CURLE_SSL_CIPHER])
        default: false
        }
    }

    /// Whether a limit of libcurl's was reached before a connection was made.
    var isTimedOut: Bool { isAny([CURLE_OPERATION_TIMEDOUT]) }

    /// Whether it was the name server that said nothing: libcurl's resolver runs into the limit of
    /// connecting.
    var isSilentNameServer: Bool {
        guard case .network(_, let text) = self else { return false }
        return isTimedOut && text.hasPrefix("Resolving timed out")
    }

    /// The name that libcurl could not resolve.
    ///
    /// - Parameter host: The host that was asked for.
    /// - Returns: `nil` when it was something else.
    func unresolvedName(host: String?) -> String? {
        guard isUnresolved else { return nil }
        // "Could not resolve proxy: NAME", as the environment may name it, too.
        guard case .proxy(_, let text) = self else { return host }
        return text.firstRange(of: ": ").map { String(text[$0.upperBound...]) }
    }

    /// Whether it looks as if the network was away: nobody has answered, or somebody who says that one has to
    /// log in to the network first (511, RFC 6585 §6).
    ///
    /// A connection that was refused is an answer.
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

    /// What stands at the end of a message that says why no connection was made.
    static func named(_ code: Int32) -> String { " (\(errorText( code)))" }

    private func isAny(_ codes: [CURLcode]) -> Bool {
        switch self {
        case .network(let code, _), .proxy(let code, _):
            codes.contains { Int($0.rawValue) == code }
        default: false
        }
    }
}

/// The text of an `errno`.
private func errorText(_ code: Int32) -> String {
    strerror(code).map { String(cString: $0) } ?? "error \(code)"
}

extension TransferRequest {
    /// Whether a failure looks as if the server does not speak HTTP/1.1, and HTTP/2 may be tried.
    ///
    /// Over TLS it says so by an alert (RFC 7301 §3.2), or closes the connection; without it, it closes
    /// the connection, or its SETTINGS frame (RFC 9113 §3.4) is HTTP/0.9 for libcurl. What a proxy does
    /// instead of a tunnel is not the server's.
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
    /// Whether a failed request is to be made again over HTTP/2, because it looks as if HTTP/1.1 was
    /// refused.
    func begins(after failure: TransferFailure, of request: TransferRequest) -> Bool {
        request.mayNeedHTTP2(failure) && begins(request.url.origin, request.method)
    }

    /// Whether a request that went out over HTTP/1.1 has failed because of that.
    ///
    /// - Returns: Whether that is news; `nil` where it failed for another reason.
    func explains(_ failure: TransferFailure, of request: TransferRequest) -> Bool? {
        request.mayNeedHTTP2(failure) ? explains(request.url.origin) : nil
    }
}
