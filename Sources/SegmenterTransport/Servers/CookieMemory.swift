/// The cookies of requests that may share them: those of the caller's file, and those that servers
/// have set since.
///
/// Kept in memory only. May be used from any thread.
package final class CookieMemory: Sendable {
    /// The cookies, separated by the scheme over which they were set.
    ///
    /// Requests over http never get cookies that were set over https; requests over https get both.
    /// URLs behind a redirect from https to http have separate cookies. Such a server neither
    /// receives cookies that were set over https, nor sets cookies for https.
    private struct State {
        /// The cookies of the caller's file, or that were set over http; `nil` until one was set.
        var plain: CookieLines?
        /// The cookies that were set over https.
        var secure = CookieLines()
        /// Like `plain`, for URLs behind a redirect from https to http.
        var downgraded: CookieLines?
        /// Whether a server has set a cookie.
        var hasLearned = false
        /// The cookies of mirrors, by origin.
        var mirrors: [String: CookieMemory] = [:]
    }

    /// Chooses the file that follows a redirect first; `nil` for the cookies of a single file.
    package let logins: Logins?
    private let state = Monitor(State())

    /// Creates an empty memory; `isShared` is whether several files use it.
    package init(isShared: Bool = false) { logins = isShared ? Logins() : nil }

    /// Returns the cookies that a request to `url` may need; libcurl chooses among them.
    ///
    /// Until a server has set a cookie, these are the cookies of the caller's file.
    package func lines(for url: WebURL, file: CookieLines) -> [String] {
        let host = Self.host(of: url)
        return state.withLock { state in
            if url.isDowngraded { return (state.downgraded ?? file).lines(for: host) }
            let plain = (state.plain ?? file).lines(for: host)
            // If both have the same cookie, the later one wins.
            return url.isSecure ? plain + state.secure.lines(for: host) : plain
        }
    }

    /// Whether a server has set or changed a cookie.
    package var hasLearned: Bool { state.withLock { $0.hasLearned } }

    /// Records the cookies that a response has set.
    ///
    /// - Parameters:
    ///   - before: The cookies that `lines` returned for the request.
    ///   - now: The cookies that libcurl has after the response.
    ///   - url: The URL of the request.
    ///   - file: The cookies of the caller's file.
    package func learn(_ before: [String], now: [String], from url: WebURL, file: CookieLines) {
        state.withLock { state in
            state.hasLearned = state.hasLearned || before != now
            if url.isDowngraded {
                state.downgraded = Self.learned(state.downgraded ?? file, before, now)
            } else if url.isSecure {
                state.secure.replace(before, by: now)
                // Requests over https no longer get a cookie that a response over https has removed
                // or replaced.
                state.plain = Self.learned(state.plain ?? file, before, now.filter(before.contains))
            } else {
                state.plain = Self.learned(state.plain ?? file, before, now)
            }
        }
    }

    /// Returns the separate cookies for requests to a mirror.
    package func mirror(at origin: String) -> CookieMemory {
        state.withLock { state in
            if let known = state.mirrors[origin] { return known }
            let memory = CookieMemory(isShared: logins != nil)
            state.mirrors[origin] = memory
            return memory
        }
    }

    /// Returns the cookies as lines of a cookie file in Netscape's format.
    ///
    /// They exclude those of mirrors and of URLs behind a redirect from https to http. `file` are
    /// the cookies of the caller's file.
    func allLines(file: CookieLines) -> [String] {
        state.withLock { ($0.plain ?? file).all + $0.secure.all }
    }

    private static func learned(
        _ known: CookieLines, _ before: [String], _ now: [String]
    ) -> CookieLines {
        var known = known
        known.replace(before, by: now)
        return known
    }

    /// Returns a URL's host as libcurl writes it in a cookie: an IPv6 address without brackets and
    /// zone.
    private static func host(of url: WebURL) -> String {
        // The origin ends in a port. Bytes are faster than characters, for each request.
        let origin = url.origin.utf8
        let start = origin.firstIndex(of: UInt8(ascii: "/")).map { origin.index($0, offsetBy: 2) }
        let end = origin.lastIndex(of: UInt8(ascii: ":"))
        let host = url.origin[(start ?? origin.startIndex)..<(end ?? origin.endIndex)]
        guard host.first == "[" else { return String(host) }
        return String(host.dropFirst().prefix { $0 != "]" && $0 != "%" })
    }
}
