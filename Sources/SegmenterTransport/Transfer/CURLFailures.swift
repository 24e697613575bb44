import CCurl

// The failures that suggest that a server supports HTTP/2 only.

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
    package func begins(after failure: TransferFailure, of request: TransferRequest) -> Bool {
        request.mayNeedHTTP2(failure) && begins(request.url.origin, request.method)
    }

    /// Checks whether a request failed because its origin refuses HTTP/1.1.
    ///
    /// - Returns: Whether this was unknown; `nil` if the request failed for another reason.
    package func explains(_ failure: TransferFailure, of request: TransferRequest) -> Bool? {
        request.mayNeedHTTP2(failure) ? explains(request.url.origin) : nil
    }
}
