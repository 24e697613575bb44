/// Selects the caller's headers that other origins may receive.
///
/// Such headers state preferences for the response and cannot identify the user. Pure.
package enum TravellingHeaders {
    /// The names of such headers, in lower case; all others, including unknown ones, stay at their
    /// origin.
    private static let names: Set<String> = [
        "accept", "accept-charset", "accept-language", "cache-control", "dnt", "pragma", "priority",
        "save-data", "sec-gpc", "upgrade-insecure-requests", "user-agent",
    ]
    /// Prefixes of further such headers, which browsers send (Fetch Metadata, Client Hints).
    private static let families = ["sec-fetch-", "sec-ch-"]

    /// Returns the lines that contain no secrets and cannot identify the user.
    ///
    /// A `Referer` is omitted, because it may contain a secret.
    package static func publicLines(_ lines: [String]) -> [String] {
        lines.filter { line in line.firstIndex(of: ":").map { travels(line[..<$0]) } ?? false }
    }

    private static func travels(_ name: Substring) -> Bool {
        let name = name.lowercased()
        return names.contains(name) || families.contains { name.hasPrefix($0) }
    }

    /// Returns the lines that may be sent to `url`, each as `Name: value`.
    package static func lines(_ lines: [String], to url: WebURL) -> [String] {
        lines.compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            if line[..<colon].lowercased() == "referer" {
                let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
                return referer(String(value), to: url).map { "Referer: \($0)" }
            }
            return travels(line[..<colon]) ? line : nil
        }
    }

    /// Returns the referer for another origin: its own origin, or `nil`.
    ///
    /// The result is `nil` from https to http and after such a redirect (policy `strict-origin`,
    /// Referrer Policy §3.6).
    package static func referer(_ text: String, to url: WebURL) -> String? {
        let isWeb = ["http://", "https://"].contains { text.lowercased().hasPrefix($0) }
        guard isWeb, let page = WebURL(text), !url.isDowngraded, url.isSecure || !page.isSecure
        else { return nil }
        let usual = page.isSecure ? ":443" : ":80"
        // The zone of an IPv6 address has a meaning only on this machine.
        guard !page.origin.contains("%") else { return nil }
        let isUsual = page.origin.hasSuffix(usual)
        return page.origin.dropLast(isUsual ? usual.count : 0) + "/"
    }
}
