// This module reads URLs and dates as libcurl reads them. It knows neither requests nor options.

import CCurl
import Glibc

/// An absolute http or https URL.
///
/// libcurl's parser reads the URL, so segget checks the same URL that libcurl requests.
package struct WebURL: Sendable, Hashable {
    /// The normalized URL without user, password and fragment.
    package let text: String
    /// The decoded user and password of the URL.
    package let login: Login?
    /// The URL without user, password, query and fragment, for messages and files.
    package let redacted: String
    /// Scheme, host and port (RFC 6454 §4).
    package let origin: String
    /// Whether the scheme is https.
    package let isSecure: Bool
    /// Whether a redirect from https to http led to this URL.
    ///
    /// An attacker on that connection may have changed all later redirects.
    package let isDowngraded: Bool
    /// The last component of the path, decoded; empty if the path ends in a slash.
    package let lastPathComponent: String

    /// A user and a password; the password is `nil` if the URL has none.
    package struct Login: Sendable, Hashable {
        package var user: String
        package var password: String?
    }

    /// Parses a URL, or a reference relative to a base.
    ///
    /// Spaces and bytes outside ASCII are encoded, and a missing scheme is guessed as in curl. A
    /// reference is read as browsers read it.
    ///
    /// - Parameters:
    ///   - text: The URL, or a reference to resolve.
    ///   - base: The base of a relative reference (RFC 9110 §10.2.2). Its credentials apply if the
    ///     result has the same origin.
    package init?(_ text: String, relativeTo base: WebURL? = nil) {
        guard let handle = curl_url() else { return nil }
        defer { curl_url_cleanup(handle) }
        var text = text
        if let base {
            guard curl_url_set(handle, CURLUPART_URL, base.text, 0) == CURLUE_OK else { return nil }
            text = Self.cleaned(reference: text)
            // A fragment refers to the base itself; libcurl 7.88 would drop the last component and
            // the query.
            if text.hasPrefix("#") { text = base.text }
        } else {
            text = encodingEarlierAts(in: trimmedURL(text))
        }
        let flags = UInt32(CURLU_URLENCODE) | (base == nil ? UInt32(CURLU_GUESS_SCHEME) : 0)
        guard curl_url_set(handle, CURLUPART_URL, text, flags) == CURLUE_OK,
            let scheme = Self.part(handle, CURLUPART_SCHEME)?.lowercased(),
            scheme == "http" || scheme == "https",
            let host = Self.part(handle, CURLUPART_HOST), !host.isEmpty,
            let port = Self.part(handle, CURLUPART_PORT, CURLU_DEFAULT_PORT),
            let (host, whole) = Self.asciiHost(handle, host, in: text)
        else { return nil }
        // A fragment is never sent (RFC 9110 §7.1).
        curl_url_set(handle, CURLUPART_FRAGMENT, nil, 0)
        // `CURLUPART_HOST` omits the zone of an IPv6 address, but another zone is another machine.
        let zone = Self.part(handle, CURLUPART_ZONEID).map { "%\($0)" } ?? ""
        let origin = "\(scheme)://\(host.lowercased())\(zone):\(port)"
        var own: Login?
        let hasUser = Self.part(handle, CURLUPART_USER) != nil
        if hasUser || Self.part(handle, CURLUPART_PASSWORD) != nil {
            let user = Self.part(handle, CURLUPART_USER, CURLU_URLDECODE)
            let password = Self.part(handle, CURLUPART_PASSWORD, CURLU_URLDECODE)
            // A part that cannot be decoded contains control characters.
            guard !hasUser || user != nil,
                password != nil || Self.part(handle, CURLUPART_PASSWORD) == nil
            else { return nil }
            own = .init(user: user ?? "", password: password)
        }
        login = own ?? (base?.origin == origin ? base?.login : nil)
        for part in [CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS] {
            curl_url_set(handle, part, nil, 0)
        }
        // libcurl takes long to write a URL. Without these characters, nothing has been removed.
        let isFull = !whole.utf8.contains { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "#") }
        guard let full = isFull ? whole : Self.part(handle, CURLUPART_URL) else { return nil }
        self.text = full
        var bare: String? = full
        if full.utf8.contains(UInt8(ascii: "?")) {
            curl_url_set(handle, CURLUPART_QUERY, nil, 0)
            bare = Self.part(handle, CURLUPART_URL)
        }
        guard let bare else { return nil }
        redacted = bare
        self.origin = origin
        isSecure = scheme == "https"
        isDowngraded = base.map { $0.isDowngraded || $0.isSecure && scheme == "http" } ?? false
        let path = Self.part(handle, CURLUPART_PATH) ?? "/"
        let last = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) }
        lastPathComponent = percentDecoded(String(path[(last ?? path.startIndex)...]))
    }

    /// Returns a reference without outer spaces and without tabs and line breaks.
    ///
    /// Browsers prepare a reference in this way (WHATWG URL, basic URL parser, steps 1 to 3).
    /// Spaces in the query are encoded here, because libcurl would write `+`, which most servers
    /// read as a different byte.
    private static func cleaned(reference: String) -> String {
        let bytes = reference.utf8.drop { $0 <= 0x20 }
        guard let last = bytes.lastIndex(where: { $0 > 0x20 }) else { return "" }
        var cleaned: [UInt8] = []
        var isQuery = false
        for byte in bytes[...last] where ![0x09, 0x0a, 0x0d].contains(byte) {
            isQuery = isQuery || byte == UInt8(ascii: "?")
            if byte == 0x20, isQuery {
                cleaned += Array("%20".utf8)
            } else {
                cleaned.append(byte)
            }
        }
        return String(decoding: cleaned, as: UTF8.self)
    }

    /// Returns the URL with a user name, for which libcurl looks up the password in a netrc file.
    package func text(with user: String) -> String {
        guard let handle = curl_url() else { return text }
        defer { curl_url_cleanup(handle) }
        guard curl_url_set(handle, CURLUPART_URL, text, 0) == CURLUE_OK,
            curl_url_set(handle, CURLUPART_USER, user, UInt32(CURLU_URLENCODE)) == CURLUE_OK
        else { return text }
        return Self.part(handle, CURLUPART_URL) ?? text
    }

    /// Returns the host in ASCII (IDNA, RFC 5890), and the URL with it, which is then in the handle.
    ///
    /// `nil` if that fails.
    ///
    /// libcurl assumes that a host is in the encoding of the process's locale. This function sets
    /// the locale of the thread to UTF-8 meanwhile.
    private static func asciiHost(
        _ handle: OpaquePointer, _ host: String, in text: String
    ) -> (host: String, url: String)? {
        guard !host.utf8.allSatisfy({ $0 < 0x80 }) else {
            // Without percent-encoding, the host is as it was written.
            guard text.utf8.contains(UInt8(ascii: "%")) else {
                return part(handle, CURLUPART_URL).map { (host, $0) }
            }
            return readAgain(handle)
        }
        guard let utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nil) else { return nil }
        let earlier = uselocale(utf8)
        defer {
            uselocale(earlier)
            freelocale(utf8)
        }
        guard let ascii = part(handle, CURLUPART_HOST, CURLU_PUNYCODE),
            curl_url_set(handle, CURLUPART_HOST, ascii, 0) == CURLUE_OK
        else { return nil }
        return readAgain(handle)
    }

    /// Returns the host and the URL after parsing the URL again.
    ///
    /// A mapped or decoded host may be an address in another form (`１２７.1`, `%39`), or invalid.
    private static func readAgain(_ handle: OpaquePointer) -> (host: String, url: String)? {
        var last = part(handle, CURLUPART_URL)
        for _ in 0..<3 {
            guard let url = last, curl_url_set(handle, CURLUPART_URL, url, 0) == CURLUE_OK else {
                return nil
            }
            last = part(handle, CURLUPART_URL)
            guard last == url else { continue }
            // No host has such a name, and libcurl would encode it again at each step.
            return part(handle, CURLUPART_HOST).flatMap { $0.contains("%") ? nil : ($0, url) }
        }
        return nil
    }

    private static func part(_ handle: OpaquePointer, _ part: CURLUPart, _ flags: Int32 = 0)
        -> String?
    {
        var value: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &value, UInt32(flags)) == CURLUE_OK, let value else {
            return nil
        }
        defer { curl_free(value) }
        return String(cString: value)
    }
}

/// Returns a URL without the text before the last `@` of its authority.
///
/// The function works on the text, because a proxy's URL may have no scheme, or one that is not
/// http or https.
package func withoutUser(_ url: String) -> String {
    let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
    let end = url[start...].firstIndex { "/?#".contains($0) } ?? url.endIndex
    guard let at = url[start..<end].lastIndex(of: "@") else { return url }
    return String(url[..<start] + url[url.index(after: at)...])
}

/// Returns the URL with `%40` for each `@` in its user and password.
///
/// The last `@` of the authority precedes the host (WHATWG URL, authority state), but libcurl uses
/// the first.
package func encodingEarlierAts(in url: String) -> String {
    guard url.utf8.count(where: { $0 == UInt8(ascii: "@") }) > 1 else { return url }
    let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
    let end = url[start...].firstIndex { "/?#\\".contains($0) } ?? url.endIndex
    guard let at = url[start..<end].lastIndex(of: "@") else { return url }
    let user = url[start..<at]
    return url[..<start] + String(user).replacing("@", with: "%40") + url[at...]
}

/// Returns a URL without leading and trailing whitespace, which copying may have added.
func trimmedURL(_ text: String) -> String {
    func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0a, 0x0d].contains(byte) }
    let bytes = text.utf8
    guard let first = bytes.first, let last = bytes.last, isBlank(first) || isBlank(last) else {
        return text
    }
    guard let start = bytes.firstIndex(where: { !isBlank($0) }),
        let end = bytes.lastIndex(where: { !isBlank($0) })
    else { return "" }
    return String(text.utf8[start...end]) ?? text
}

/// Returns whether a text is the URL of a proxy that libcurl supports; the default scheme is http.
package func isProxyURL(_ text: String) -> Bool {
    guard let handle = curl_url() else { return false }
    defer { curl_url_cleanup(handle) }
    let text = encodingEarlierAts(in: text.contains("://") ? text : "http://\(text)")
    guard curl_url_set(handle, CURLUPART_URL, text, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK
    else { return false }
    var scheme: UnsafeMutablePointer<CChar>?
    guard curl_url_get(handle, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK, let scheme else {
        return false
    }
    defer { curl_free(scheme) }
    return ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
        .contains(String(cString: scheme).lowercased())
}

/// Returns scheme, host and port of a proxy's URL; `nil` if libcurl cannot parse it.
package func proxyOrigin(_ text: String) -> String? {
    guard let handle = curl_url() else { return nil }
    defer { curl_url_cleanup(handle) }
    let text = encodingEarlierAts(in: text.contains("://") ? text : "http://\(text)")
    guard curl_url_set(handle, CURLUPART_URL, text, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK
    else { return nil }
    func part(_ part: CURLUPart) -> String? {
        var value: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &value, 0) == CURLUE_OK, let value else { return nil }
        defer { curl_free(value) }
        return String(cString: value)
    }
    guard let host = part(CURLUPART_HOST) else { return nil }
    let zone = part(CURLUPART_ZONEID).map { "%\($0)" } ?? ""
    // 1080 is libcurl's default port.
    return
        "\(part(CURLUPART_SCHEME) ?? "http")://\(host.lowercased())\(zone):\(part(CURLUPART_PORT) ?? "1080")"
}

/// Decodes percent-encoding (RFC 3986 §2.1); bytes that are not UTF-8 are read as ISO-8859-1.
func percentDecoded(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
    var length: Int32 = 0
    guard let decoded = curl_easy_unescape(nil, text, Int32(clamping: text.utf8.count), &length)
    else { return text }
    defer { curl_free(decoded) }
    return readText(UnsafeRawBufferPointer(start: decoded, count: Int(length)))
}

/// Decodes percent-encoding (RFC 3986 §2.1); returns `nil` if the bytes are not UTF-8.
package func percentDecodedText(_ text: String) -> String? {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
    return percentDecodedBytes(text).flatMap { String(validating: $0, as: UTF8.self) }
}

/// Encodes all characters of a text but letters, digits and `-._~` (RFC 3986 §2.1).
package func percentEncoded(_ text: some StringProtocol) -> String {
    let text = String(text)
    guard !text.isEmpty,
        let encoded = curl_easy_escape(nil, text, Int32(clamping: text.utf8.count))
    else { return "" }
    defer { curl_free(encoded) }
    return String(cString: encoded)
}

/// Decodes percent-encoding to bytes.
package func percentDecodedBytes(_ text: String) -> [UInt8]? {
    var length: Int32 = 0
    guard let decoded = curl_easy_unescape(nil, text, Int32(clamping: text.utf8.count), &length)
    else { return nil }
    defer { curl_free(decoded) }
    return Array(UnsafeRawBufferPointer(start: decoded, count: Int(length)))
}

/// Returns a field value as text, read as UTF-8 or else as ISO-8859-1 (RFC 9110 §5.5).
///
/// CR and LF become spaces, as §5.5 requires. A validator with a line break would become two lines
/// in the next request.
package func headerText(_ value: UnsafePointer<CChar>) -> String {
    let bytes = UnsafeRawBufferPointer(start: value, count: strlen(value))
    guard strpbrk(value, "\r\n") != nil else { return readText(bytes) }
    let isBreak: (UInt8) -> Bool = { $0 == 0x0d || $0 == 0x0a }
    return bytes.map { isBreak($0) ? 0x20 : $0 }.withUnsafeBytes { readText($0) }
}

/// Returns the value of a `Location` field as text.
///
/// Bytes that are not UTF-8 are percent-encoded one by one, as in browsers.
package func locationText(_ value: UnsafePointer<CChar>) -> String {
    let bytes = UnsafeRawBufferPointer(start: value, count: strlen(value))
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    let digits = Array("0123456789ABCDEF".utf8)
    var encoded: [UInt8] = []
    for byte in bytes {
        if byte < 0x80 {
            encoded.append(byte)
        } else {
            encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
    return String(decoding: encoded, as: UTF8.self)
}

private func readText(_ bytes: UnsafeRawBufferPointer) -> String {
    String(validating: bytes, as: UTF8.self)
        ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
}
