/// Cookies as lines of Netscape's cookie file, such as libcurl writes and reads them.
///
/// Pure. What a line means is libcurl's business (RFC 6265, public suffixes): here lines are only
/// found by the domain that each begins with, so that a long file costs a request nothing.
struct CookieLines: Sendable, Hashable {
    /// Most lines that are kept of one domain: libcurl sends no more cookies in a request.
    static let most = 150

    /// By domain, the oldest first: of two for one cookie the later one counts.
    private var lines: [String: [String]] = [:]

    /// Takes the lines of a file, each once.
    init(_ lines: [String] = []) {
        for line in lines { self.lines[Self.domain(of: line), default: []].append(line) }
    }

    /// All lines, by domain.
    var all: [String] { lines.sorted { $0.key < $1.key }.flatMap(\.value) }

    /// The lines that may be for a host, and perhaps some that are not: those of its own domain and of
    /// all above it.
    func lines(for host: String) -> [String] {
        guard !lines.isEmpty else { return [] }
        var found: [String] = []
        var rest = Self.bare(host)[...]
        while !rest.isEmpty {
            found += lines[String(rest)] ?? []
            rest = rest.drop { $0 != "." }.dropFirst()
        }
        return found
    }

    /// Takes what has become of lines that a request began with.
    ///
    /// Others may have changed their own meanwhile: only the difference counts.
    ///
    /// - Parameters:
    ///   - before: The lines that the request began with.
    ///   - now: Those that libcurl has after its reply.
    mutating func replace(_ before: [String], by now: [String]) {
        let (old, new) = (Set(before), Set(now))
        for line in old.subtracting(new) {
            lines[Self.domain(of: line)]?.removeAll { $0 == line }
        }
        for line in now where !old.contains(line) {
            var kept = lines[Self.domain(of: line)] ?? []
            // Several files may have changed one cookie at a time: the last one counts.
            let cookie = Self.cookie(of: line)
            kept.removeAll { Self.cookie(of: $0) == cookie }
            kept.append(line)
            lines[Self.domain(of: line)] = kept.suffix(Self.most)
        }
    }

    /// What distinguishes a cookie from others: domain and whether its hosts count, path and name.
    private static func cookie(of line: String) -> [Substring] {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
        guard fields.count > 5 else { return fields }
        let domain = fields[0].hasPrefix("#HttpOnly_") ? fields[0].dropFirst(10) : fields[0]
        return [domain, fields[1], fields[2], fields[5]]
    }

    /// The domain that a line begins with; for those of all its hosts it has a dot before it.
    private static func domain(of line: String) -> String {
        let text = line.hasPrefix("#HttpOnly_") ? line.dropFirst("#HttpOnly_".count) : line[...]
        return bare(String(text.prefix { $0 != "\t" }))
    }

    /// A host or a domain without dots around it, in small letters.
    private static func bare(_ host: String) -> String {
        var text = host[...].drop { $0 == "." }
        while text.last == "." { text.removeLast() }
        return text.lowercased()
    }
}
