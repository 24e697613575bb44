import CCurl

/// The content codings that this libcurl decodes (CURLOPT_ACCEPT_ENCODING).
let curlCodings: Set<String> = {
    guard let features = curl_version_info(segget_curl_version_now)?.pointee.features else {
        return []
    }
    var codings: Set<String> = []
    if features & CURL_VERSION_LIBZ != 0 { codings.formUnion(["gzip", "x-gzip", "deflate"]) }
    if features & CURL_VERSION_BROTLI != 0 { codings.insert("br") }
    if features & CURL_VERSION_ZSTD != 0 { codings.insert("zstd") }
    return codings
}()

/// Whether a `CURLcode` says that a body is not in the coding that it is said to be in.
///
/// Of several gzip streams in a row libcurl 7.88 says that it could not write.
func isUndecodable(_ code: CURLcode) -> Bool {
    code == CURLE_BAD_CONTENT_ENCODING || code == CURLE_WRITE_ERROR
}
