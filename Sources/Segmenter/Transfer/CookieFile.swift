import CCurl

extension CookieLines {
    /// The cookies of a file in Netscape's format; none of a file that cannot be read.
    ///
    /// Blocks.
    init(file path: String) {
        self.init()
        guard let handle = curl_easy_init() else { return }
        defer { curl_easy_cleanup(handle) }
        _ = segget_curl_setopt_string(handle, CURLOPT_COOKIEFILE, path)
        _ = segget_curl_setopt_string(handle, CURLOPT_COOKIELIST, "RELOAD")
        self.init(CURLShare.cookies(of: handle))
    }
}

extension CookieJars {
    /// The cookies of downloads that have these options, those of ``AccessOptions/cookieFile`` included, as
    /// curl's `--cookie-jar` has them.
    ///
    /// Those of mirrors, and of servers behind a redirect from https to http, are left out. Blocks.
    ///
    /// - Parameters:
    ///   - options: The options of the downloads.
    ///   - url: The URL, for the user in it; `nil` for none.
    /// - Returns: A file in Netscape's format.
    package func netscapeFile(_ options: DownloadOptions, url: String?) -> String {
        let given = options.access.cookieFile.map(CookieLines.init(file:)) ?? CookieLines()
        let lines = cookies(of: options, url.flatMap { WebURL($0) }).allLines(file: given)
        return ([Self.title, ""] + Self.settled(lines)).map { $0 + "\n" }.joined()
    }

    private static let title = """
        # Netscape HTTP Cookie File
        # Written by segget with cookies of servers; whoever has them may be logged in.
        """

    /// The lines as libcurl reads them: each cookie once, and none whose time is over.
    private static func settled(_ lines: [String]) -> [String] {
        guard let handle = curl_easy_init() else { return [] }
        defer { curl_easy_cleanup(handle) }
        _ = segget_curl_setopt_string(handle, CURLOPT_COOKIEFILE, "")
        for line in lines { _ = segget_curl_setopt_string(handle, CURLOPT_COOKIELIST, line) }
        return CURLShare.cookies(of: handle)
    }
}
