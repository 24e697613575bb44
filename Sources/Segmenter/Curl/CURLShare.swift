import CCurl

/// What the easy handles of one loop share: TLS sessions, so that a new connection to a known server
/// resumes one, and where a cookie file is used, its cookies.
///
/// libcurl 7.88 keeps TLS sessions with each easy handle otherwise; resolved names and connections are
/// the multi handle's. Lives on the loop thread, hence without locks.
final class CURLShare {
    private let share: UnsafeMutableRawPointer

    /// Makes a share; cookies are read from `cookieFile`, in Netscape's format.
    init(cookieFile: String?) {
        guard let share = curl_share_init() else { preconditionFailure("out of memory") }
        self.share = share
        _ = segget_curl_share_setopt_data(share, CURL_LOCK_DATA_SSL_SESSION)
        guard let cookieFile, let handle = curl_easy_init() else { return }
        _ = segget_curl_share_setopt_data(share, CURL_LOCK_DATA_COOKIE)
        attach(handle)
        _ = segget_curl_setopt_string(handle, CURLOPT_COOKIEFILE, cookieFile)
        _ = segget_curl_setopt_string(handle, CURLOPT_COOKIELIST, "RELOAD")
        curl_easy_cleanup(handle)
    }

    // Refused while a handle uses it; each is gone before, on this thread.
    deinit { curl_share_cleanup(share) }

    /// Has a handle take part.
    func attach(_ handle: CURL) {
        _ = segget_curl_setopt_pointer(handle, CURLOPT_SHARE, share)
    }
}
