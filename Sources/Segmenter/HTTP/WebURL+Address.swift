import CCurl

/// What a text is that somebody gave for the address of a file, for modules that fetch nothing themselves.
package enum WebAddress: Sendable, Hashable {
    /// An http or https URL; the host is without its port.
    case web(host: String, isSecure: Bool)
    /// A link for BitTorrent.
    case magnet
    /// The URL of another protocol, by its scheme in lower case.
    case other(scheme: String)
    /// No URL: it has no scheme, or cannot be read.
    case none

    /// Finds out what a text is; nothing is guessed where it has no scheme.
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

    /// A URL without the blanks and line breaks around it.
    package static func trimmed(_ text: String) -> String { trimmedURL(text) }

    /// Whether a URL has a user or a password in it.
    package static func hasUser(_ text: String) -> Bool { WebURL(text)?.credentials != nil }

    /// Takes user and password out of a URL, which else stays as it was written, as far as that is possible.
    ///
    /// - Parameters:
    ///   - text: The URL; what is none is treated by its text alone.
    ///   - keepsQuery: Whether query and fragment stay; a secret may be in either.
    /// - Returns: The URL.
    package static func withoutSecrets(_ text: String, keepsQuery: Bool = true) -> String {
        var text = text
        if text.utf8.contains(UInt8(ascii: "@")) {
            let url = WebURL(text)
            text = withoutUser(text)
            // It was where libcurl alone finds it: behind `http:/`, for example.
            if let url, WebURL(text)?.text != url.text || WebURL(text)?.credentials != nil {
                text = url.text
            }
        }
        guard !keepsQuery, let end = text.firstIndex(where: { $0 == "?" || $0 == "#" }) else {
            return text
        }
        return String(text[..<end])
    }

    /// Puts `***` in place of the password in a URL, which else stays as it was written, query and all.
    package static func withoutPassword(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "@")), hasUser(text) else { return text }
        let bare = withoutSecrets(text)
        guard let start = bare.firstRange(of: "://")?.upperBound else { return bare }
        return "\(bare[..<start])***@\(bare[start...])"
    }

    /// A URL as a `Referer` field may have it (RFC 9110 §10.1.3): without user, password and fragment.
    package static func referer(_ text: String) -> String { WebURL(text)?.text ?? "" }

    /// The URL of a proxy, with user and password in it.
    ///
    /// - Parameters:
    ///   - text: The URL; without a scheme it is an http one.
    ///   - user: The user, not encoded; `nil` leaves the one in the URL.
    ///   - password: The password, not encoded; `nil` leaves the one in the URL.
    /// - Returns: The URL, normalised; `nil` where the text is none.
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
