import CCurl

/// The version and the features of the loaded libcurl.
package enum CURLVersion {
    /// The versions of libcurl and of the libraries that it uses (curl_version(3)).
    ///
    /// For example `libcurl/7.88.1 OpenSSL/3.0.15 zlib/1.2.13`.
    package static var text: String { String(cString: curl_version()) }

    /// The URL schemes that libcurl supports, of `http` and `https`; segget uses no others.
    package static var protocols: [String] {
        var protocols: [String] = []
        var next = curl_version_info(segget_curl_version_now)?.pointee.protocols
        while let name = next?.pointee {
            protocols.append(String(cString: name))
            next = next?.advanced(by: 1)
        }
        return protocols.filter { ["http", "https"].contains($0) }.sorted()
    }

    /// The features of libcurl that segget can use, named as in the output of `curl -V`
    /// (curl_version_info(3)).
    package static var features: [String] {
        guard let features = curl_version_info(segget_curl_version_now)?.pointee.features else {
            return []
        }
        let names: [(Int32, String)] = [
            (CURL_VERSION_ASYNCHDNS, "AsynchDNS"), (CURL_VERSION_BROTLI, "brotli"),
            (CURL_VERSION_HTTP2, "HTTP2"), (CURL_VERSION_IDN, "IDN"),
            (CURL_VERSION_IPV6, "IPv6"), (CURL_VERSION_LIBZ, "libz"), (CURL_VERSION_PSL, "PSL"),
            (CURL_VERSION_SPNEGO, "SPNEGO"), (CURL_VERSION_SSL, "SSL"),
            (CURL_VERSION_ZSTD, "zstd"),
        ]
        return names.filter { features & $0.0 != 0 }.map(\.1)
    }
}
