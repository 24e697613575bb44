import CCurl

// Facts about a transfer that libcurl provides (curl_easy_getinfo(3)).
extension Transfer {
    /// Whether the connection is made, so that the request can be sent.
    package var isConnected: Bool { time(CURLINFO_PRETRANSFER_TIME_T) > 0 }

    /// Whether the TCP connection is not made yet.
    package var isConnecting: Bool { time(CURLINFO_CONNECT_TIME_T) == 0 && !isConnected }

    /// The time for name lookup, connection and TLS handshake, in seconds.
    package var connectingSeconds: Double { Double(time(CURLINFO_PRETRANSFER_TIME_T)) * 1e-6 }

    /// The time to connect in seconds, without name lookup and TLS handshake.
    ///
    /// The value is `nil` if the connection is reused or not made yet.
    package var connectSeconds: Double? {
        var made = 0
        segget_curl_getinfo_long(handle, CURLINFO_NUM_CONNECTS, &made)
        let (resolved, connected) = (
            time(CURLINFO_NAMELOOKUP_TIME_T), time(CURLINFO_CONNECT_TIME_T)
        )
        guard made > 0, connected > resolved else { return nil }
        return Double(connected - resolved) * 1e-6
    }

    /// The time to first byte: seconds from the request to the first byte of the response.
    ///
    /// The value is `nil` before that byte arrives.
    var waitedSeconds: Double? {
        let (sent, begun) = (time(CURLINFO_PRETRANSFER_TIME_T), time(CURLINFO_STARTTRANSFER_TIME_T))
        return sent > 0 && begun > sent ? Double(begun - sent) * 1e-6 : nil
    }

    /// Whether other transfers may share the connection.
    package var isMultiplexed: Bool { request.mayMultiplex && isHTTP2 }

    /// Whether the response was received over HTTP/2.
    package var isHTTP2: Bool { versionNumber >= segget_curl_http_version_2 }

    /// The HTTP version of the response, such as `1.1`; `nil` before the response.
    package var httpVersion: String? {
        switch versionNumber {
        case segget_curl_http_version_1_0: "1.0"
        case segget_curl_http_version_1_1: "1.1"
        case segget_curl_http_version_2: "2"
        case segget_curl_http_version_3: "3"
        default: nil
        }
    }

    /// The HTTP version as a constant of libcurl (`CURL_HTTP_VERSION_…`); 0 before the response.
    private var versionNumber: Int {
        var version = 0
        segget_curl_getinfo_long(handle, CURLINFO_HTTP_VERSION, &version)
        return version
    }

    /// The remote address of the connection; `nil` before there is one.
    package var address: String? {
        var text: UnsafePointer<CChar>?
        segget_curl_getinfo_string(handle, CURLINFO_PRIMARY_IP, &text)
        return text.map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The local port of the connection; 0 before the connection is made.
    package var ownPort: Int {
        var port = 0
        segget_curl_getinfo_long(handle, CURLINFO_LOCAL_PORT, &port)
        return port
    }

    private func time(_ info: CURLINFO) -> Int {
        var value: curl_off_t = 0
        segget_curl_getinfo_off_t(handle, info, &value)
        return Int(value)
    }

    /// The status code of the proxy's response to `CONNECT` (RFC 9110 §9.3.6); 0 for no response.
    var connectStatus: Int {
        var status = 0
        segget_curl_getinfo_long(handle, CURLINFO_HTTP_CONNECTCODE, &status)
        return status
    }

    /// Whether a SOCKS proxy refused the credentials, or access without credentials.
    ///
    /// RFC 1928 §3 and RFC 1929 §2 define these refusals.
    var isRefusedBySOCKS: Bool {
        var problem = 0
        segget_curl_getinfo_long(handle, CURLINFO_PROXY_ERROR, &problem)
        return [CURLPX_USER_REJECTED, CURLPX_NO_AUTH].contains { Int($0.rawValue) == problem }
    }

    /// Returns libcurl's message for the failure of the transfer, without URLs.
    func message(for code: CURLcode) -> String {
        var text = String(cString: errorText)
        // "Unsupported proxy scheme for 'URL'": the URL may contain credentials.
        if text.hasPrefix("Unsupported proxy") { text = String(text.prefix { $0 != "\'" }) + "URL" }
        if text.isEmpty { text = String(cString: curl_easy_strerror(code)) }
        var problem = 0
        segget_curl_getinfo_long(handle, CURLINFO_OS_ERRNO, &problem)
        // libcurl's text does not distinguish a refused connection from an unreachable host.
        guard code == CURLE_COULDNT_CONNECT, problem > 0 else { return text }
        return text + errnoSuffix(Int32(problem))
    }

    /// Returns the transfer to which an easy handle belongs.
    static func owner(of handle: CURL) -> Transfer? {
        var context: UnsafeMutableRawPointer?
        segget_curl_getinfo_pointer(handle, CURLINFO_PRIVATE, &context)
        return context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }
}
