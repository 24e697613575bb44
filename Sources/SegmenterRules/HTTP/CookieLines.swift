/// Cookies as lines of a file in Netscape's format, which libcurl reads and writes.
///
/// Pure. libcurl interprets the lines (RFC 6265, public suffixes). This type only selects lines by
/// their domain, so that each request passes few lines of a long file to libcurl.
package struct CookieLines: Sendable, Hashable {
    /// The most lines per domain, which is also libcurl's limit of cookies in a request.
    package static let most = 150

    /// The lines by domain, the oldest first; the last line for a cookie counts.
    private var lines: [String: [String]] = [:]

    /// Creates a store with the lines of a file.
    package init(_ lines: [String] = []) {
        for line in lines { self.lines[Self.domain(of: line), default: []].append(line) }
    }

    /// All lines, sorted by domain.
    package var all: [String] { lines.sorted { $0.key < $1.key }.flatMap(\.value) }

    /// Returns the lines for a host's own domain and all its parent domains.
    ///
    /// libcurl decides which of these cookies it sends.
    package func lines(for host: String) -> [String] {
        guard !lines.isEmpty else { return [] }
        var found: [String] = []
        var rest = Self.bare(host)[...]
        while !rest.isEmpty {
            found += lines[String(rest)] ?? []
            rest = rest.drop { $0 != "." }.dropFirst()
        }
        return found
    }

    /// Applies the changes that a request made to its lines.
    ///
    /// Only the difference is applied, because other requests may have changed other lines
    /// meanwhile.
    ///
    /// - Parameters:
    ///   - before: The lines at the start of the request.
    ///   - now: The lines that libcurl has after the response.
    package mutating func replace(_ before: [String], by now: [String]) {
        let (old, new) = (Set(before), Set(now))
        for line in old.subtracting(new) {
            lines[Self.domain(of: line)]?.removeAll { $0 == line }
        }
        for line in now where !old.contains(line) {
            var kept = lines[Self.domain(of: line)] ?? []
            // Several requests may have changed the same cookie; the last change counts.
            let cookie = Self.cookie(of: line)
            kept.removeAll { Self.cookie(of: $0) == cookie }
            kept.append(line)
            lines[Self.domain(of: line)] = kept.suffix(Self.most)
        }
    }

    /// Returns the identity of a cookie: domain, subdomain flag, path and name.
    private static func cookie(of line: String) -> [Substring] {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
        guard fields.count > 5 else { return fields }
        let domain = fields[0].hasPrefix("#HttpOnly_") ? fields[0].dropFirst(10) : fields[0]
        return [domain, fields[1], fields[2], fields[5]]
    }

    /// Returns the domain of a line, without the leading dot that includes subdomains.
    private static func domain(of line: String) -> String {
        let text = line.hasPrefix("#HttpOnly_") ? line.dropFirst("#HttpOnly_".count) : line[...]
        return bare(String(text.prefix { $0 != "\t" }))
    }

    /// Returns a host or a domain in lower case, without dots at its ends.
    private static func bare(_ host: String) -> String {
        var text = host[...].drop { $0 == "." }
        while text.last == "." { text.removeLast() }
        return text.lowercased()
    }
}
