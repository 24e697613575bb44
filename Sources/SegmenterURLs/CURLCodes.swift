import CCurl
import Glibc

// The meaning of the codes and messages by which libcurl reports a failed transfer.

/// Returns whether a `CURLcode` means that `CURLOPT_INTERFACE` names an unusable interface.
package func isInterfaceFailure(_ code: Int) -> Bool { isAny(code, [CURLE_INTERFACE_FAILED]) }

/// Returns whether a `CURLcode` means that a connection failed or broke.
///
/// A server that has too many connections causes such failures. If it refuses a connection by
/// plain text without an HTTP head, libcurl takes the text for HTTP/0.9
/// (`CURLE_UNSUPPORTED_PROTOCOL`).
package func isConnectionFailure(_ code: Int) -> Bool {
    isAny(
        code,
        [
            CURLE_COULDNT_CONNECT, CURLE_OPERATION_TIMEDOUT, CURLE_SSL_CONNECT_ERROR,
            CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_UNSUPPORTED_PROTOCOL,
        ])
}

/// Returns whether a `CURLcode` means that the name of the server or of the proxy was not resolved.
package func isNameFailure(_ code: Int) -> Bool {
    isAny(code, [CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY])
}

/// Returns whether a `CURLcode` means that the connect timeout expired.
package func isTimeout(_ code: Int) -> Bool { isAny(code, [CURLE_OPERATION_TIMEDOUT]) }

/// Returns whether every later attempt would fail in the same way.
package func isHopelessFailure(_ code: Int, _ message: String) -> Bool {
    isHopelessHandshake(code, message)
        || isAny(code, [CURLE_URL_MALFORMAT, CURLE_NOT_BUILT_IN, CURLE_SSL_CIPHER])
}

/// Returns whether a TLS handshake failed, and would fail in the same way in every later attempt.
///
/// The two sides have no version of TLS in common, or one of them does not speak TLS.
package func isHopelessHandshake(_ code: Int, _ message: String) -> Bool {
    isAny(code, [CURLE_SSL_CONNECT_ERROR])
        && [
            "alert protocol version", "unsupported protocol", "no protocols available",
            "wrong version number",
        ].contains { message.contains($0) }
}

/// Returns whether a failure looks like a loss of the network: no host answered.
///
/// A refused connection counts as an answer.
package func isNetworkLoss(_ code: Int, _ message: String) -> Bool {
    if isAny(code, [CURLE_COULDNT_CONNECT]) { return !message.hasSuffix(errnoSuffix(ECONNREFUSED)) }
    if isAny(code, [CURLE_SEND_ERROR, CURLE_RECV_ERROR]) {
        let gone = [ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, ENETDOWN]
        return gone.contains { message.contains(errnoText($0)) }
    }
    return isNameFailure(code) || isTimeout(code) || isInterfaceFailure(code)
}

/// Returns the suffix of the message for a failed connection, such as ` (Connection refused)`.
package func errnoSuffix(_ code: Int32) -> String { " (\(errnoText(code)))" }

private func errnoText(_ code: Int32) -> String {
    strerror(code).map { String(cString: $0) } ?? "error \(code)"
}

private func isAny(_ code: Int, _ codes: [CURLcode]) -> Bool {
    codes.contains { Int($0.rawValue) == code }
}
