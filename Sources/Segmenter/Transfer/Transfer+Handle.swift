import CCurl

// What libcurl says of a transfer.
extension Transfer {
    /// Whether the connection is made and the request is under way.
    var isConnected: Bool { time(CURLINFO_PRETRANSFER_TIME_T) > 0 }

    /// Whether the connection is not made yet, TLS left aside.
    var isConnecting: Bool { time(CURLINFO_CONNECT_TIME_T) == 0 && !isConnected }

    /// Seconds until the request could go out: name, connection, TLS.
    var connectingSeconds: Double { Double(time(CURLINFO_PRETRANSFER_TIME_T)) * 1e-6 }

    /// Seconds that it took to make the connection, without the name server and TLS; `nil` when it was
    /// there already, or is not yet.
    var connectSeconds: Double? {
        var made = 0
        segget_curl_getinfo_long(handle, CURLINFO_NUM_CONNECTS, &made)
        let (resolved, connected) = (
            time(CURLINFO_NAMELOOKUP_TIME_T), time(CURLINFO_CONNECT_TIME_T)
        )
        guard made > 0, connected > resolved else { return nil }
        return Double(connected - resolved) * 1e-6
    }

    /// Seconds from when the request could go out to the first byte of the reply; `nil` before that.
    var waitedSeconds: Double? {
        let (sent, begun) = (time(CURLINFO_PRETRANSFER_TIME_T), time(CURLINFO_STARTTRANSFER_TIME_T))
        return sent > 0 && begun > sent ? Double(begun - sent) * 1e-6 : nil
    }

    /// Whether others may share its connection.
    var isMultiplexed: Bool { request.mayMultiplex && isHTTP2 }

    /// Whether the reply came over HTTP/2.
    var isHTTP2: Bool { versionNumber >= segget_curl_http_version_2 }

    /// The version of HTTP that the reply came over, such as `1.1`; `nil` before it.
    var httpVersion: String? {
        switch versionNumber {
        case segget_curl_http_version_1_0: "1.0"
        case segget_curl_http_version_1_1: "1.1"
        case segget_curl_http_version_2: "2"
        case segget_curl_http_version_3: "3"
        default: nil
        }
    }

    /// The version of HTTP that the reply came over, as a number of libcurl's; 0 before it.
    private var versionNumber: Int {
        var version = 0
        segget_curl_getinfo_long(handle, CURLINFO_HTTP_VERSION, &version)
        return version
    }

    /// The address that the connection leads to.
    var address: String? {
        var text: UnsafePointer<CChar>?
        segget_curl_getinfo_string(handle, CURLINFO_PRIMARY_IP, &text)
        return text.map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The port of this machine that the connection comes from; 0 as long as it is not made.
    var ownPort: Int {
        var port = 0
        segget_curl_getinfo_long(handle, CURLINFO_LOCAL_PORT, &port)
        return port
    }

    private func time(_ info: CURLINFO) -> Int {
        var value: curl_off_t = 0
        segget_curl_getinfo_off_t(handle, info, &value)
        return Int(value)
    }

    /// What a proxy answered when it was asked for a tunnel (RFC 9110 §9.3.6); 0 for nothing.
    var connectStatus: Int {
        var status = 0
        segget_curl_getinfo_long(handle, CURLINFO_HTTP_CONNECTCODE, &status)
        return status
    }

    /// Whether a SOCKS proxy refused the user, or to go without one (RFC 1928 §3, RFC 1929 §2).
    var isRefusedBySOCKS: Bool {
        var problem = 0
        segget_curl_getinfo_long(handle, CURLINFO_PROXY_ERROR, &problem)
        return [CURLPX_USER_REJECTED, CURLPX_NO_AUTH].contains { Int($0.rawValue) == problem }
    }

    func message(for code: CURLcode) -> String {
        var text = String(cString: errorText)
        // "Unsupported proxy scheme for 'URL'": with all that is in the URL.
        if text.hasPrefix("Unsupported proxy") { text = String(text.prefix { $0 != "\'" }) + "URL" }
        if text.isEmpty { text = String(cString: curl_easy_strerror(code)) }
        var problem = 0
        segget_curl_getinfo_long(handle, CURLINFO_OS_ERRNO, &problem)
        // Whether somebody has refused the connection, or nobody is there, libcurl does not say.
        guard code == CURLE_COULDNT_CONNECT, problem > 0 else { return text }
        return text + TransferFailure.named(Int32(problem))
    }

    /// The owner of an easy handle.
    static func owner(of handle: CURL) -> Transfer? {
        var context: UnsafeMutableRawPointer?
        segget_curl_getinfo_pointer(handle, CURLINFO_PRIVATE, &context)
        return context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }
}
