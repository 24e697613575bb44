/// What of the caller's own headers may go along to another origin: what says how a file is wanted, and
/// nothing that could say who wants it.
///
/// Pure.
enum TravellingHeaders {
    /// Names of such fields, in small letters; all others stay at their origin, unknown ones too.
    private static let names: Set<String> = [
        "accept", "accept-charset", "accept-language", "cache-control", "dnt", "pragma", "priority",
        "save-data", "sec-gpc", "upgrade-insecure-requests", "user-agent",
    ]
    /// What the names of further ones begin with: those of a browser's own
    /// (Fetch Metadata, Client Hints).
    private static let families = ["sec-fetch-", "sec-ch-"]

    /// The lines that could say to nobody who wants the file; a `Referer` may hold a secret.
    static func publicLines(_ lines: [String]) -> [String] {
        lines.filter { line in line.firstIndex(of: ":").map { travels(line[..<$0]) } ?? false }
    }

    private static func travels(_ name: Substring) -> Bool {
        let name = name.lowercased()
        return names.contains(name) || families.contains { name.hasPrefix($0) }
    }

    /// The lines that may go along to `url`, `Name: value` each.
    static func lines(_ lines: [String], to url: WebURL) -> [String] {
        lines.compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            if line[..<colon].lowercased() == "referer" {
                let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
                return referer(String(value), to: url).map { "Referer: \($0)" }
            }
            return travels(line[..<colon]) ? line : nil
        }
    }

    /// What goes along of a `Referer`: its origin, but not from https to http, nor behind such a redirect
    /// (the policy `strict-origin` of Referrer Policy §3.6).
    static func referer(_ text: String, to url: WebURL) -> String? {
        let isWeb = ["http://", "https://"].contains { text.lowercased().hasPrefix($0) }
        guard isWeb, let page = WebURL(text), !url.isDowngraded, url.isSecure || !page.isSecure
        else { return nil }
        let usual = page.isSecure ? ":443" : ":80"
        // The zone of an address means something on this machine only.
        guard !page.origin.contains("%") else { return nil }
        let isUsual = page.origin.hasSuffix(usual)
        return page.origin.dropLast(isUsual ? usual.count : 0) + "/"
    }
}
