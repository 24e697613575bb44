import Assembler
import CCurl
import Glibc

/// One HTTP request, as the decisions see it.
struct TransferRequest: Sendable {
    enum Method: Sendable { case head, get }

    /// How connections are made; the same for all requests of a download.
    struct Connecting: Sendable {
        /// PEM file with trusted certificates, `nil` for the system's.
        var caCertificate: String?
        /// Longest time to connect, TLS handshake included, in seconds.
        var connectTimeout: Double
        /// Longest time without a byte, in seconds.
        var stallTimeout: Double
    }

    var method = Method.get
    var url: WebURL
    /// The bytes to ask for; `nil` for the whole file.
    var range: ByteRange?
    /// A strong validator for `If-Range`.
    var ifRange: String?
    /// Further header lines.
    var headers: [String] = []
    /// Whether a new connection is made even when an idle one could be used.
    var wantsFreshConnection = false
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
    /// The file with trusted certificates cannot be used.
    case badCertificateFile
    /// Writing to the disk failed with this `errno`.
    case disk(Int32)
}

extension TransferRequest {
    /// Sets every option of a new easy handle but the callbacks.
    ///
    /// - Returns: Lists that the handle refers to, to be freed after it.
    func configure(_ handle: CURL) -> [UnsafeMutablePointer<curl_slist>] {
        func set(_ option: CURLoption, _ value: Int) {
            let code = segget_curl_setopt_long(handle, option, value)
            precondition(code == CURLE_OK, "libcurl refuses option \(option.rawValue)")
        }
        func set(_ option: CURLoption, _ value: String) {
            let code = segget_curl_setopt_string(handle, option, value)
            precondition(code == CURLE_OK, "libcurl refuses option \(option.rawValue)")
        }
        set(CURLOPT_URL, url.text)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_HTTP_VERSION, segget_curl_http_version_1_1)
        set(CURLOPT_SSLVERSION, segget_curl_sslversion_tls1_2)
        set(CURLOPT_BUFFERSIZE, 128 << 10)
        set(CURLOPT_CONNECTTIMEOUT_MS, Int(connecting.connectTimeout * 1000))
        set(CURLOPT_TCP_KEEPALIVE, 1)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        set(CURLOPT_USERAGENT, "segget/\(seggetVersion)")
        if let file = connecting.caCertificate { set(CURLOPT_CAINFO, file) }
        if wantsFreshConnection { set(CURLOPT_FRESH_CONNECT, 1) }
        switch method {
        case .head: set(CURLOPT_NOBODY, 1)
        case .get: set(CURLOPT_HTTPGET, 1)
        }
        var lines = headers + ["Accept-Encoding: identity"]
        if let range { lines.append("Range: \(range.headerValue)") }
        if let ifRange { lines.append("If-Range: \(ifRange)") }
        var lists: [UnsafeMutablePointer<curl_slist>] = []
        func set(_ option: CURLoption, _ lines: [String]) {
            var list: UnsafeMutablePointer<curl_slist>?
            for line in lines { list = curl_slist_append(list, line) ?? list }
            let code = segget_curl_setopt_list(handle, option, list)
            precondition(code == CURLE_OK, "libcurl refuses option \(option.rawValue)")
            if let list { lists.append(list) }
        }
        set(CURLOPT_HTTPHEADER, lines)
        if let address, !Self.usesProxy {
            // Any host, any port: the address, the same port.
            set(
                CURLOPT_CONNECT_TO,
                ["::" + (address.contains(":") ? "[\(address)]" : address) + ":"])
        }
        return lists
    }

    /// Whether the environment names a proxy: then addresses are the proxy's business.
    private static let usesProxy =
        (["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] as [String])
        .contains { getenv($0) != nil }
}

/// The version that `User-Agent` and `--version` tell.
public let seggetVersion = "0.1.0"

/// libcurl's easy handle.
typealias CURL = UnsafeMutableRawPointer
