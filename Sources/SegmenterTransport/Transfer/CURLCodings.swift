import CCurl

/// The content codings that the loaded libcurl can decode (`CURLOPT_ACCEPT_ENCODING`).
package let curlCodings: Set<String> = {
    guard let features = curl_version_info(segget_curl_version_now)?.pointee.features else {
        return []
    }
    var codings: Set<String> = []
    if features & CURL_VERSION_LIBZ != 0 { codings.formUnion(["gzip", "x-gzip", "deflate"]) }
    if features & CURL_VERSION_BROTLI != 0 { codings.insert("br") }
    if features & CURL_VERSION_ZSTD != 0 { codings.insert("zstd") }
    return codings
}()

/// Returns whether a `CURLcode` means that a body is not encoded as its `Content-Encoding` states.
///
/// libcurl 7.88 reports `CURLE_WRITE_ERROR` for several concatenated gzip streams.
func isUndecodable(_ code: CURLcode) -> Bool {
    code == CURLE_BAD_CONTENT_ENCODING || code == CURLE_WRITE_ERROR
}
