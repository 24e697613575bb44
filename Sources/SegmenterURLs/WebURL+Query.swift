import CCurl

extension WebURL {
    /// The parameters of the query, in order and percent-decoded; without `=`, the value is empty.
    var queryParameters: [(name: String, value: String)] {
        guard let handle = curl_url() else { return [] }
        defer { curl_url_cleanup(handle) }
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_set(handle, CURLUPART_URL, self.text, 0) == CURLUE_OK,
            curl_url_get(handle, CURLUPART_QUERY, &text, 0) == CURLUE_OK, let text
        else { return [] }
        defer { curl_free(text) }
        return String(cString: text).split(separator: "&").map { parameter in
            let parts = parameter.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (
                percentDecoded(String(parts[0])),
                parts.count > 1 ? percentDecoded(String(parts[1])) : ""
            )
        }
    }
}
