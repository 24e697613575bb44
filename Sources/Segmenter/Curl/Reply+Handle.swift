import CCurl

extension Reply {
    /// Takes the fields that segget looks at from the final head that a handle has received.
    init(status: Int, readFrom handle: CURL) {
        self.init(status: status)
        var header: UnsafeMutablePointer<curl_header>?
        for name in Reply.fieldNames {
            var values: [String] = []
            var index = 0
            while index < 16,
                curl_easy_header(
                    handle, name, index, segget_curl_headers_of_reply, -1, &header) == CURLHE_OK,
                let value = header?.pointee.value
            {
                // Of an empty value libcurl 7.88 leaves a carriage return.
                let text = headerText(value)
                if !text.allSatisfy(\.isWhitespace), !values.contains(text) { values.append(text) }
                index += 1
            }
            if !values.isEmpty { fields[name] = values.joined(separator: ", ") }
        }
        var seconds: curl_off_t = 0
        segget_curl_getinfo_off_t(handle, CURLINFO_RETRY_AFTER, &seconds)
        if seconds > 0 { retryAfter = Double(seconds) }
        if [401, 407].contains(status) {
            asksForDigest = Self.asksForDigest(handle, proxy: status == 407)
        }
    }

    /// Whether digest is the only scheme that was offered of those that segget knows.
    static func asksForDigest(_ handle: CURL, proxy: Bool) -> Bool {
        var offered = 0
        segget_curl_getinfo_long(
            handle, proxy ? CURLINFO_PROXYAUTH_AVAIL : CURLINFO_HTTPAUTH_AVAIL, &offered)
        return offered & segget_curl_auth_digest != 0 && offered & segget_curl_auth_basic == 0
    }
}
