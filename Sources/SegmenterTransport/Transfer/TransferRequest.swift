import CCurl

/// One HTTP request, independent of libcurl.
package struct TransferRequest: Sendable {
    package typealias Method = RequestMethod

    package var method = Method.get
    package var url: WebURL
    /// The requested bytes; `nil` for the whole file.
    package var range: ByteRange?
    /// The strong validator for `If-Range`; `nil` for none.
    package var ifRange: String?
    /// The header lines in addition to the caller's, which are in `connecting`.
    package var headers: [String] = []
    /// Whether libcurl decodes a body with a content coding (`CURLOPT_ACCEPT_ENCODING`).
    package var isDecoded = false
    /// Whether to connect only, without sending a request (`CURLOPT_CONNECT_ONLY`).
    package var connectsOnly = false
    /// Whether to open a new connection even if an idle one could be reused.
    package var wantsFreshConnection = false
    /// Whether the request may share an HTTP/2 connection with other requests.
    package var mayMultiplex = false
    /// Whether the request must not share a connection, because sharing has failed.
    package var needsOwnConnection = false
    /// Whether to use HTTP/2 on a separate connection, because the origin refused HTTP/1.1.
    package var wantsHTTP2 = false
    /// The size of libcurl's receive buffer in bytes (`CURLOPT_BUFFERSIZE`), one per connection.
    package var bufferSize = 128 << 10
    /// The address to connect to, one of those of the host; `nil` for any.
    ///
    /// Ignored if the request may use a proxy.
    package var address: String?
    package var connecting: Connecting

    package init(
        method: Method = Method.get, url: WebURL, range: ByteRange? = nil, ifRange: String? = nil,
        headers: [String] = [], isDecoded: Bool = false, connectsOnly: Bool = false,
        wantsFreshConnection: Bool = false, mayMultiplex: Bool = false,
        needsOwnConnection: Bool = false, wantsHTTP2: Bool = false, bufferSize: Int = 128 << 10,
        address: String? = nil, connecting: Connecting
    ) {
        self.method = method
        self.url = url
        self.range = range
        self.ifRange = ifRange
        self.headers = headers
        self.isDecoded = isDecoded
        self.connectsOnly = connectsOnly
        self.wantsFreshConnection = wantsFreshConnection
        self.mayMultiplex = mayMultiplex
        self.needsOwnConnection = needsOwnConnection
        self.wantsHTTP2 = wantsHTTP2
        self.bufferSize = bufferSize
        self.address = address
        self.connecting = connecting
    }
}

extension TransferRequest {
    /// The requested bytes of the remote file; `nil` for the whole file, and if there is no body.
    private var remoteRange: ByteRange? {
        guard let window = connecting.window else { return range }
        return method == .head ? nil : window.remote(range)
    }

    /// Sets all options of a new easy handle, except the callbacks.
    ///
    /// - Returns: The lists that the handle refers to; the caller frees them after the handle.
    func configure(_ handle: CURL) -> [UnsafeMutablePointer<curl_slist>] {
        var setter = OptionSetter(handle)
        func set(_ option: CURLoption, _ value: Int) { setter.set(option, value) }
        func set(_ option: CURLoption, _ value: String) { setter.set(option, value) }
        let permitted = connecting.permitted(for: url)
        set(CURLOPT_URL, url.text)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_FOLLOWLOCATION, 0)
        if mayMultiplex {
            set(CURLOPT_HTTP_VERSION, segget_curl_http_version_2_tls)
            // Wait until it is known whether a pending connection can be shared, instead of opening
            // another one.
            set(CURLOPT_PIPEWAIT, 1)
        } else if wantsHTTP2 || connecting.memory.versions.needsHTTP2(url.origin) {
            set(
                CURLOPT_HTTP_VERSION,
                url.isSecure ? segget_curl_http_version_2_tls : segget_curl_http_version_2_at_once)
            // libcurl would multiplex the request with others on one connection. A slow, paused or
            // aborted transfer would then delay all of them. This request therefore gets a new
            // connection that no other request reuses.
            set(CURLOPT_FRESH_CONNECT, 1)
            set(CURLOPT_FORBID_REUSE, 1)
            if url.isSecure { set(CURLOPT_SSL_OPTIONS, segget_curl_ssl_other_connection) }
        } else {
            set(CURLOPT_HTTP_VERSION, segget_curl_http_version_1_1)
            // libcurl 7.88 would still reuse an existing HTTP/2 connection. It reuses none with
            // different TLS options, and OpenSSL ignores this option.
            if url.isSecure { set(CURLOPT_SSL_OPTIONS, segget_curl_ssl_other_connection) }
        }
        set(CURLOPT_BUFFERSIZE, bufferSize)
        // The empty value enables all codings that libcurl supports. The header line below still
        // requests `identity`.
        if isDecoded { set(CURLOPT_ACCEPT_ENCODING, "") }
        set(CURLOPT_CONNECTTIMEOUT_MS, Int(connecting.connectTimeout * 1000))
        set(CURLOPT_TCP_KEEPALIVE, 1)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        set(CURLOPT_USERAGENT, "segget/\(seggetVersion)")
        if let file = connecting.caCertificate {
            set(CURLOPT_CAINFO, file)
            set(CURLOPT_PROXY_CAINFO, file)
        } else {
            let trusted = TrustedCertificates.own
            if let file = trusted.file {
                set(CURLOPT_CAINFO, file)
                set(CURLOPT_PROXY_CAINFO, file)
            }
            if let folder = trusted.folder {
                set(CURLOPT_CAPATH, folder)
                set(CURLOPT_PROXY_CAPATH, folder)
            }
        }
        permitted.access.configure(&setter, url: url, digests: connecting.memory.digests)
        if wantsFreshConnection { set(CURLOPT_FRESH_CONNECT, 1) }
        if connectsOnly { set(CURLOPT_CONNECT_ONLY, 1) }
        // Without this option, ending a transfer would block the loop until its name lookup ends.
        set(CURLOPT_QUICK_EXIT, 1)
        switch method {
        case .head: set(CURLOPT_NOBODY, 1)
        case .get: set(CURLOPT_HTTPGET, 1)
        }
        var lines = permitted.headers + headers + ["Accept-Encoding: identity"]
        if let token = permitted.access.bearerToken {
            lines.append("Authorization: Bearer \(token)")
        }
        if let range = remoteRange { lines.append("Range: \(range.headerValue)") }
        if let ifRange { lines.append("If-Range: \(ifRange)") }
        setter.set(CURLOPT_HTTPHEADER, lines)
        if let address, !mayUseProxy {
            // For any host and port, connect to this address on the same port.
            setter.set(
                CURLOPT_CONNECT_TO,
                ["::" + (address.contains(":") ? "[\(address)]" : address) + ":"])
        }
        return setter.lists
    }
}

/// libcurl's easy handle.
typealias CURL = UnsafeMutableRawPointer
