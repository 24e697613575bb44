import CCurl

/// What the easy handles of one loop share: TLS sessions, so that a new connection to a known server
/// resumes one, and what was read of cookie files.
///
/// libcurl 7.88 keeps TLS sessions with each easy handle otherwise; resolved names and connections are
/// the multi handle's. Cookies are no part of it: each download has its own (`CookieMemory`), and each
/// handle begins with those that it may need. Lives on the loop thread, hence without locks.
final class CURLShare {
    private let share: UnsafeMutableRawPointer
    /// The cookies of files, by path; each is read once.
    private var files: [String: CookieLines] = [:]

    init() {
        guard let share = curl_share_init() else { preconditionFailure("out of memory") }
        self.share = share
        _ = segget_curl_share_setopt_data(share, CURL_LOCK_DATA_SSL_SESSION)
    }

    // Refused while a handle uses it; each is gone before, on this thread.
    deinit { curl_share_cleanup(share) }

    /// Has a handle take part, with the cookies that its request may need.
    ///
    /// - Returns: These cookies; `nil` where it takes and sends none but those given as text.
    func attach(_ handle: CURL, for request: TransferRequest) -> [String]? {
        _ = segget_curl_setopt_pointer(handle, CURLOPT_SHARE, share)
        let access = request.connecting.access
        guard access.keepsCookies || access.cookieFile != nil else { return nil }
        let cookies = request.connecting.memory.cookies.lines(
            for: request.url, file: file(access.cookieFile))
        // An empty name has libcurl take and send cookies (CURLOPT_COOKIEFILE).
        _ = segget_curl_setopt_string(handle, CURLOPT_COOKIEFILE, "")
        for line in cookies { _ = segget_curl_setopt_string(handle, CURLOPT_COOKIELIST, line) }
        return cookies
    }

    /// Keeps the cookies that the head of a reply has set, when libcurl has parsed it; `before` is what
    /// `attach` returned.
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

    /// The cookies of a file in Netscape's format; none of a file that cannot be read.
    private func file(_ path: String?) -> CookieLines {
        guard let path else { return CookieLines() }
        if let known = files[path] { return known }
        let cookies = CookieLines(file: path)
        files[path] = cookies
        return cookies
    }

    /// All cookies of a handle, as lines of Netscape's format (`CURLINFO_COOKIELIST`).
    static func cookies(of handle: CURL) -> [String] {
        var list: UnsafeMutablePointer<curl_slist>?
        segget_curl_getinfo_list(handle, CURLINFO_COOKIELIST, &list)
        defer { curl_slist_free_all(list) }
        var lines: [String] = []
        var item = list
        while let line = item?.pointee {
            // One that is no UTF-8 cannot be kept as it is.
            if let text = line.data.flatMap({ String(validatingCString: $0) }) {
                lines.append(text)
            }
            item = line.next
        }
        return lines
    }
}
