import Assembler
import CCurl

/// One HTTP request, as the decisions see it.
struct TransferRequest: Sendable {
    typealias Method = RequestMethod

    var method = Method.get
    var url: WebURL
    /// The bytes to ask for; `nil` for the whole file.
    var range: ByteRange?
    /// A strong validator for `If-Range`.
    var ifRange: String?
    /// Further header lines; the caller's own are in `connecting`.
    var headers: [String] = []
    /// Whether libcurl decodes the body, should it be encoded (CURLOPT_ACCEPT_ENCODING).
    var isDecoded = false
    /// Whether nothing is sent: the connection alone is made (`CURLOPT_CONNECT_ONLY`).
    var connectsOnly = false
    /// Whether a new connection is made even when an idle one could be used.
    var wantsFreshConnection = false
    /// Whether it may share a connection with others, by HTTP/2.
    var mayMultiplex = false
    /// Whether it must not, because that has failed.
    var needsOwnConnection = false
    /// Whether it goes out over HTTP/2 on a connection of its own, to an origin that has refused HTTP/1.1.
    var wantsHTTP2 = false
    /// Most bytes that are read at a time (`CURLOPT_BUFFERSIZE`); each connection has a buffer.
    var bufferSize = 128 << 10
    /// The address to connect to, of those that the host has; `nil` for any.
    ///
    /// Not used with a proxy.
    var address: String?
    var connecting: Connecting
}

/// What a finished transfer came to.
enum TransferEnd: Sendable, Hashable {
    /// The body is complete, or complete as far as it was wanted.
    case complete
    /// The head was judged, and the body was not wanted.
    case declined
    /// It failed on the way.
    case failed(TransferFailure)
    /// The caller gave it up.
    case cancelled
    /// The server's certificate is not trusted; libcurl's text.
    case untrusted(String)
    /// It led to a private address, which it must not reach.
    case denied(address: String)
    /// The file with trusted certificates cannot be used.
    case badCertificateFile
    /// An access option cannot be used.
    case badSetting(AccessProblem)
    /// The proxy refused a tunnel; whether it asks for digest authentication, and not for basic.
    case proxyRefused(status: Int?, asksForDigest: Bool)
    /// Writing to the disk failed with this `errno`.
    case disk(Int32)
}

extension TransferRequest {
    /// Sets every option of a new easy handle but the callbacks.
    ///
    /// - Returns: Lists that the handle refers to, to be freed after it.
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
            // Rather than open a connection, wait until one says whether it can be shared.
            set(CURLOPT_PIPEWAIT, 1)
        } else if wantsHTTP2 || connecting.memory.versions.needsHTTP2(url.origin) {
            set(
                CURLOPT_HTTP_VERSION,
                url.isSecure ? segget_curl_http_version_2_tls : segget_curl_http_version_2_at_once)
            // libcurl would put it beside others: then one that is paused, stolen from or slow would hold
            // up all. A connection that is made for it and closed behind it, nobody else gets.
            set(CURLOPT_FRESH_CONNECT, 1)
            set(CURLOPT_FORBID_REUSE, 1)
            if url.isSecure { set(CURLOPT_SSL_OPTIONS, segget_curl_ssl_other_connection) }
        } else {
            set(CURLOPT_HTTP_VERSION, segget_curl_http_version_1_1)
            // libcurl 7.88 would use an idle or shared HTTP/2 connection all the same. It shares none
            // between different TLS settings; this one means nothing to OpenSSL.
            if url.isSecure { set(CURLOPT_SSL_OPTIONS, segget_curl_ssl_other_connection) }
        }
        set(CURLOPT_BUFFERSIZE, bufferSize)
        // Whatever libcurl knows; what is asked for stays `identity`, by the header line below.
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
        // One that is given up does not wait for its name server: that would hold up the loop.
        set(CURLOPT_QUICK_EXIT, 1)
        switch method {
        case .head: set(CURLOPT_NOBODY, 1)
        case .get: set(CURLOPT_HTTPGET, 1)
        }
        var lines = permitted.headers + headers + ["Accept-Encoding: identity"]
        if let token = permitted.access.bearerToken {
            lines.append("Authorization: Bearer \(token)")
        }
        if let range { lines.append("Range: \(range.headerValue)") }
        if let ifRange { lines.append("If-Range: \(ifRange)") }
        setter.set(CURLOPT_HTTPHEADER, lines)
        if let address, !mayUseProxy {
            // Any host, any port: the address, the same port.
            setter.set(
                CURLOPT_CONNECT_TO,
                ["::" + (address.contains(":") ? "[\(address)]" : address) + ":"])
        }
        return setter.lists
    }
}

/// libcurl's easy handle.
typealias CURL = UnsafeMutableRawPointer
