import CCurl

/// The TLS sessions and the contents of cookie files that the easy handles of one loop share.
///
/// With a shared session, a new connection to a known server resumes TLS; without a share, libcurl
/// 7.88 keeps the sessions in each easy handle. The multi handle already shares resolved names and
/// connections. The cookies in use are not shared: each download has a `CookieMemory`, and each
/// handle starts with the cookies that its request may need. This class is used on the loop thread
/// only, and needs no locks.
final class CURLShare {
    private let share: UnsafeMutableRawPointer
    /// The cookies of each file, by path; a file is read once.
    private var files: [String: CookieLines] = [:]

    init() {
        guard let share = curl_share_init() else { preconditionFailure("out of memory") }
        self.share = share
        _ = segget_curl_share_setopt_data(share, CURL_LOCK_DATA_SSL_SESSION)
    }

    // libcurl refuses this while a handle uses the share. All handles were freed before, on this
    // thread.
    deinit { curl_share_cleanup(share) }

    /// Attaches the share to a handle, and adds the cookies that its request may need.
    ///
    /// - Returns: These cookies; `nil` if libcurl's cookie engine is off for this handle. It then
    ///   sends only the cookies of `CURLOPT_COOKIE`.
    func attach(_ handle: CURL, for request: TransferRequest) -> [String]? {
        _ = segget_curl_setopt_pointer(handle, CURLOPT_SHARE, share)
        let access = request.connecting.access
        guard access.keepsCookies || access.cookieFile != nil else { return nil }
        let cookies = request.connecting.memory.cookies.lines(
            for: request.url, file: file(access.cookieFile))
        // An empty file name turns on the cookie engine (CURLOPT_COOKIEFILE).
        _ = segget_curl_setopt_string(handle, CURLOPT_COOKIEFILE, "")
        for line in cookies { _ = segget_curl_setopt_string(handle, CURLOPT_COOKIELIST, line) }
        return cookies
    }

    /// Stores the cookies that a response has set.
    ///
    /// - Parameters:
    ///   - handle: The handle, after libcurl has parsed the whole head.
    ///   - request: The request.
    ///   - before: The cookies that `attach` returned.
    func keepCookies(of handle: CURL, _ request: TransferRequest, before: [String]) {
        let access = request.connecting.access
        var header: UnsafeMutablePointer<curl_header>?
        guard access.keepsCookies,
            curl_easy_header(handle, "Set-Cookie", 0, segget_curl_headers_of_reply, -1, &header)
                == CURLHE_OK
        else { return }
        request.connecting.memory.cookies.learn(
            before, now: Self.cookies(of: handle), from: request.url, file: file(access.cookieFile))
    }

    /// Returns the cookies of a file in Netscape's format; none if the file cannot be read.
    private func file(_ path: String?) -> CookieLines {
        guard let path else { return CookieLines() }
        if let known = files[path] { return known }
        let cookies = CookieLines(file: path)
        files[path] = cookies
        return cookies
    }

    /// Returns all cookies of a handle, as lines in Netscape's format (`CURLINFO_COOKIELIST`).
    static func cookies(of handle: CURL) -> [String] {
        var list: UnsafeMutablePointer<curl_slist>?
        segget_curl_getinfo_list(handle, CURLINFO_COOKIELIST, &list)
        defer { curl_slist_free_all(list) }
        var lines: [String] = []
        var item = list
        while let line = item?.pointee {
            // A String cannot store a cookie that is not valid UTF-8.
            if let text = line.data.flatMap({ String(validatingCString: $0) }) {
                lines.append(text)
            }
            item = line.next
        }
        return lines
    }
}
