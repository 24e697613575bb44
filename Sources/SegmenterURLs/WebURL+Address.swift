import CCurl

/// The kind of a text that was given as an address, for modules that download nothing themselves.
package enum WebAddress: Sendable, Hashable {
    /// An http or https URL; the host does not include the port.
    case web(host: String, isSecure: Bool)
    /// A magnet link of BitTorrent.
    case magnet
    /// A URL of another protocol, with its scheme in lower case.
    case other(scheme: String)
    /// Not a URL: the text has no scheme or cannot be parsed.
    case none

    /// Classifies a text; does not guess a missing scheme.
    package init(_ text: String) {
        let text = Self.trimmed(text)
        switch ForeignURL(text, isFile: { _ in false }) {
        case .magnet: self = .magnet
        case .scheme(let scheme), .object(let scheme): self = .other(scheme: scheme)
        case .localFile:
            self = text.lowercased().hasPrefix("file:") ? .other(scheme: "file") : .none
        case .controlCharacter: self = .none
        case nil:
            let start = text.prefix(8).lowercased()
            guard start.hasPrefix("http://") || start == "https://", let url = WebURL(text) else {
                self = .none
                return
            }
            let host = url.origin.split(separator: "/").last.map {
                $0[..<($0.lastIndex(of: ":") ?? $0.endIndex)]
            }
            self = .web(host: String(host ?? ""), isSecure: url.isSecure)
        }
    }

    /// Returns a URL without leading and trailing whitespace.
    package static func trimmed(_ text: String) -> String { trimmedURL(text) }

    /// Returns whether a URL contains a user or a password.
    package static func hasUser(_ text: String) -> Bool { WebURL(text)?.login != nil }

    /// Returns a URL without user and password, otherwise unchanged where possible.
    ///
    /// - Parameters:
    ///   - text: The URL; the function also works on texts that are not URLs.
    ///   - keepsQuery: Whether to keep query and fragment, which may contain secrets.
    /// - Returns: The URL.
    package static func withoutSecrets(_ text: String, keepsQuery: Bool = true) -> String {
        var text = text
        if text.utf8.contains(UInt8(ascii: "@")) {
            let url = WebURL(text)
            text = withoutUser(text)
            // The user is where only libcurl's parser finds it, for example after `http:/`.
            if let url, WebURL(text)?.text != url.text || WebURL(text)?.login != nil {
                text = url.text
            }
        }
        guard !keepsQuery, let end = text.firstIndex(where: { $0 == "?" || $0 == "#" }) else {
            return text
        }
        return String(text[..<end])
    }

    /// Returns a URL with `***` instead of its user and password, otherwise unchanged.
    package static func withoutPassword(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "@")), hasUser(text) else { return text }
        let bare = withoutSecrets(text)
        guard let start = bare.firstRange(of: "://")?.upperBound else { return bare }
        return "\(bare[..<start])***@\(bare[start...])"
    }

    /// Returns a URL for a `Referer` field (RFC 9110 §10.1.3): without user, password and fragment.
    package static func referer(_ text: String) -> String { WebURL(text)?.text ?? "" }

    /// Returns the URL of a proxy with a user and a password.
    ///
    /// - Parameters:
    ///   - text: The URL; the default scheme is http.
    ///   - user: The user, not encoded; `nil` keeps the one in the URL.
    ///   - password: The password, not encoded; `nil` keeps the one in the URL.
    /// - Returns: The normalized URL; `nil` if the text is not a URL.
    package static func proxy(_ text: String, user: String? = nil, password: String? = nil)
        -> String?
    {
        guard let handle = curl_url() else { return nil }
        defer { curl_url_cleanup(handle) }
        let text = encodingEarlierAts(in: text.contains("://") ? text : "http://\(text)")
        guard isProxyURL(text),
            curl_url_set(handle, CURLUPART_URL, text, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK
        else { return nil }
        for (part, value) in [(CURLUPART_USER, user), (CURLUPART_PASSWORD, password)] {
            guard let value else { continue }
            guard curl_url_set(handle, part, value, UInt32(CURLU_URLENCODE)) == CURLUE_OK else {
                return nil
            }
        }
        var full: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, CURLUPART_URL, &full, 0) == CURLUE_OK, let full else {
            return nil
        }
        defer { curl_free(full) }
        return String(cString: full)
    }
}
