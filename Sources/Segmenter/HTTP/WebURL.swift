import CCurl
import Glibc

/// An absolute http or https URL, parsed by libcurl's own parser, so that what is judged here is
/// what is requested there.
struct WebURL: Sendable, Hashable {
    /// The URL in full but for user and password, normalised.
    let text: String
    /// The user and the password that it carried, decoded.
    let credentials: AccessOptions.Credentials?
    /// The URL without user, password, query and fragment: fit for messages and files.
    let redacted: String
    /// Scheme, host and port (RFC 6454 §4).
    let origin: String
    /// Whether the scheme is https.
    let isSecure: Bool
    /// Whether a redirect from https to http was on the way here: whoever stands there may have
    /// written all that came behind it.
    let isDowngraded: Bool
    /// The last component of the path, decoded; empty when the path ends in a slash.
    let lastPathComponent: String

    /// Parses a URL; spaces and bytes outside ASCII are encoded, a missing scheme is guessed as
    /// curl does.
    ///
    /// A reference is read as browsers read it.
    ///
    /// - Parameters:
    ///   - text: The URL, or a reference to be resolved.
    ///   - base: What a relative reference is resolved against (RFC 9110 §10.2.2); its credentials
    ///     hold at its own origin.
    init?(_ text: String, relativeTo base: WebURL? = nil) {
        guard let handle = curl_url() else { return nil }
        defer { curl_url_cleanup(handle) }
        var text = text
        if let base {
            guard curl_url_set(handle, CURLUPART_URL, base.text, 0) == CURLUE_OK else { return nil }
            text = Self.cleaned(reference: text)
            // Of the same resource; libcurl 7.88 would drop the last component and the query.
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
            let host = Self.asciiHost(handle, host)
        else { return nil }
        // A fragment is never sent (RFC 9110 §7.1).
        curl_url_set(handle, CURLUPART_FRAGMENT, nil, 0)
        // Of an IPv6 address the host leaves it out; with another one it is another machine.
        let zone = Self.part(handle, CURLUPART_ZONEID).map { "%\($0)" } ?? ""
        let origin = "\(scheme)://\(host.lowercased())\(zone):\(port)"
        var own: AccessOptions.Credentials?
        let hasUser = Self.part(handle, CURLUPART_USER) != nil
        if hasUser || Self.part(handle, CURLUPART_PASSWORD) != nil {
            let user = Self.part(handle, CURLUPART_USER, CURLU_URLDECODE)
            let password = Self.part(handle, CURLUPART_PASSWORD, CURLU_URLDECODE)
            // What cannot be decoded holds control characters.
            guard !hasUser || user != nil,
                password != nil || Self.part(handle, CURLUPART_PASSWORD) == nil
            else { return nil }
            own = .init(user: user ?? "", password: password)
        }
        credentials = own ?? (base?.origin == origin ? base?.credentials : nil)
        for part in [CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS] {
            curl_url_set(handle, part, nil, 0)
        }
        guard let full = Self.part(handle, CURLUPART_URL) else { return nil }
        self.text = full
        curl_url_set(handle, CURLUPART_QUERY, nil, 0)
        guard let bare = Self.part(handle, CURLUPART_URL) else { return nil }
        redacted = bare
        self.origin = origin
        isSecure = scheme == "https"
        isDowngraded = base.map { $0.isDowngraded || $0.isSecure && scheme == "http" } ?? false
        let path = Self.part(handle, CURLUPART_PATH) ?? "/"
        let last = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) }
        lastPathComponent = percentDecoded(String(path[(last ?? path.startIndex)...]))
    }

    /// A reference as browsers prepare it for parsing (WHATWG URL, basic URL parser, steps 1 to 3):
    /// without control characters and spaces at its ends, without tabs and line breaks anywhere.
    ///
    /// In a query a space is encoded here, because libcurl writes `+` for it there, which is another byte
    /// to most servers.
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

    /// The URL with a user in it, of whom libcurl looks the password up in a netrc file.
    func text(with user: String) -> String {
        guard let handle = curl_url() else { return text }
        defer { curl_url_cleanup(handle) }
        guard curl_url_set(handle, CURLUPART_URL, text, 0) == CURLUE_OK,
            curl_url_set(handle, CURLUPART_USER, user, UInt32(CURLU_URLENCODE)) == CURLUE_OK
        else { return text }
        return Self.part(handle, CURLUPART_URL) ?? text
    }

    /// The host in ASCII (IDNA, RFC 5890), set in the handle too; `nil` when it cannot be had.
    ///
    /// libcurl reads a host in the encoding of the locale, which is whatever the process was started
    /// with; here it is UTF-8.
    private static func asciiHost(_ handle: OpaquePointer, _ host: String) -> String? {
        guard !host.utf8.allSatisfy({ $0 < 0x80 }) else { return readAgain(handle) }
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

    /// The host after the URL was read again: what was mapped or decoded may be an address in another
    /// form (`１２７.1`, `%39`), or no host.
    private static func readAgain(_ handle: OpaquePointer) -> String? {
        var last = part(handle, CURLUPART_URL)
        for _ in 0..<3 {
            guard let url = last, curl_url_set(handle, CURLUPART_URL, url, 0) == CURLUE_OK else {
                return nil
            }
            last = part(handle, CURLUPART_URL)
            guard last == url else { continue }
            // No host has such a name, and libcurl would encode it once more each time.
            return part(handle, CURLUPART_HOST).flatMap { $0.contains("%") ? nil : $0 }
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

/// The URL with `%40` for each `@` of its user and password: the last one of the authority is in front of the
/// host (WHATWG URL, authority state), and libcurl takes the first.
func encodingEarlierAts(in url: String) -> String {
    guard url.utf8.count(where: { $0 == UInt8(ascii: "@") }) > 1 else { return url }
    let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
    let end = url[start...].firstIndex { "/?#\\".contains($0) } ?? url.endIndex
    guard let at = url[start..<end].lastIndex(of: "@") else { return url }
    let user = url[start..<at]
    return url[..<start] + String(user).replacing("@", with: "%40") + url[at...]
}

/// A URL without the blanks and line breaks around it, which come with it when it is copied.
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

/// Whether a text is the URL of a proxy that libcurl can use; without a scheme it is an http one.
func isProxyURL(_ text: String) -> Bool {
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

/// Scheme, host and port of a proxy's URL; `nil` where libcurl cannot read it.
func proxyOrigin(_ text: String) -> String? {
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
    // The port that libcurl takes where none is given.
    return
        "\(part(CURLUPART_SCHEME) ?? "http")://\(host.lowercased())\(zone):\(part(CURLUPART_PORT) ?? "1080")"
}

/// Undoes percent-encoding (RFC 3986 §2.1); what is not UTF-8 is read as ISO-8859-1.
func percentDecoded(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
    var length: Int32 = 0
    guard let decoded = curl_easy_unescape(nil, text, Int32(clamping: text.utf8.count), &length)
    else { return text }
    defer { curl_free(decoded) }
    return readText(UnsafeRawBufferPointer(start: decoded, count: Int(length)))
}

/// Undoes percent-encoding (RFC 3986 §2.1); `nil` where the bytes are not UTF-8.
func percentDecodedText(_ text: String) -> String? {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
    return percentDecodedBytes(text).flatMap { String(validating: $0, as: UTF8.self) }
}

/// The bytes that percent-encoding stands for.
func percentDecodedBytes(_ text: String) -> [UInt8]? {
    var length: Int32 = 0
    guard let decoded = curl_easy_unescape(nil, text, Int32(clamping: text.utf8.count), &length)
    else { return nil }
    defer { curl_free(decoded) }
    return Array(UnsafeRawBufferPointer(start: decoded, count: Int(length)))
}

/// The value of a header as text: UTF-8, or what it was before (RFC 9110 §5.5), ISO-8859-1.
///
/// CR and LF are spaces in it, as §5.5 has it: a validator with a line break would be two lines in
/// the next request.
func headerText(_ value: UnsafePointer<CChar>) -> String {
    let bytes = UnsafeRawBufferPointer(start: value, count: strlen(value))
    let isBreak: (UInt8) -> Bool = { $0 == 0x0d || $0 == 0x0a }
    guard bytes.contains(where: isBreak) else { return readText(bytes) }
    return bytes.map { isBreak($0) ? 0x20 : $0 }.withUnsafeBytes { readText($0) }
}

/// The value of a `Location` as text: bytes that are not UTF-8 are percent-encoded as they are, which
/// is what browsers ask for.
func locationText(_ value: UnsafePointer<CChar>) -> String {
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
