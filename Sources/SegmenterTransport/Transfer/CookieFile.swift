import CCurl

extension CookieLines {
    /// Reads the cookies of a file in Netscape's format; none if the file cannot be read.
    ///
    /// Blocks while it reads.
    package init(file path: String) {
        self.init()
        guard let handle = curl_easy_init() else { return }
        defer { curl_easy_cleanup(handle) }
        _ = segget_curl_setopt_string(handle, CURLOPT_COOKIEFILE, path)
        _ = segget_curl_setopt_string(handle, CURLOPT_COOKIELIST, "RELOAD")
        self.init(CURLShare.cookies(of: handle))
    }
}

extension CookieJars {
    /// Returns the cookies of downloads with these options, in the format of curl's `--cookie-jar`.
    ///
    /// The result includes the cookies of ``AccessOptions/cookieFile``. It excludes cookies of
    /// mirrors, and of servers behind a redirect from https to http. The call blocks while it reads
    /// the file.
    ///
    /// - Parameters:
    ///   - options: The options of the downloads.
    ///   - url: The URL of a download, whose user name selects the cookies; `nil` for none.
    /// - Returns: The content of a file in Netscape's format.
    package func netscapeFile(_ options: DownloadOptions, url: String?) -> String {
        let given = options.access.cookieFile.map(CookieLines.init(file:)) ?? CookieLines()
        let lines = cookies(of: options, url.flatMap { WebURL($0) }).allLines(file: given)
        return ([Self.title, ""] + Self.settled(lines)).map { $0 + "\n" }.joined()
    }

    private static let title = """
        # Netscape HTTP Cookie File
        # Written by segget with cookies of servers; anyone who has them may be logged in.
        """

    /// Returns the lines without duplicate and expired cookies, as libcurl reads them.
    private static func settled(_ lines: [String]) -> [String] {
        guard let handle = curl_easy_init() else { return [] }
        defer { curl_easy_cleanup(handle) }
        _ = segget_curl_setopt_string(handle, CURLOPT_COOKIEFILE, "")
        for line in lines { _ = segget_curl_setopt_string(handle, CURLOPT_COOKIELIST, line) }
        return CURLShare.cookies(of: handle)
    }
}
