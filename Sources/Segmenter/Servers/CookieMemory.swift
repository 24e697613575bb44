import Assembler

/// Cookies of requests that may share them: those of the caller's file, and those that servers have set since.
///
/// In memory only. May be used from any thread.
final class CookieMemory: Sendable {
    /// Those that https has set are kept apart from those that http has, which https gets, too.
    ///
    /// Nothing goes from https to http. Those for URLs behind a redirect from https to http are kept apart in both directions: whoever
    /// stands there neither learns what https has set nor sets anything for it.
    private struct State {
        /// Set over http, or in the caller's file; `nil` until any was set.
        var plain: CookieLines?
        /// Set over https.
        var secure = CookieLines()
        /// As `plain`, behind a redirect from https to http.
        var downgraded: CookieLines?
        /// Whether any was set.
        var hasLearned = false
        /// Those of mirrors, by origin.
        var mirrors: [String: CookieMemory] = [:]
    }

    /// Who of the files that share these is the first to be redirected; `nil` for a single file's.
    let logins: Logins?
    private let state = Monitor(State())

    /// Makes an empty memory; `isShared`: several files use it.
    init(isShared: Bool = false) { logins = isShared ? Logins() : nil }

    /// The cookies that a request to `url` may need, of those that are known and, before any was set, of the
    /// caller's file; libcurl chooses among them.
    func lines(for url: WebURL, file: CookieLines) -> [String] {
        let host = Self.host(of: url)
        return state.withLock { state in
            if url.isDowngraded { return (state.downgraded ?? file).lines(for: host) }
            let plain = (state.plain ?? file).lines(for: host)
            // Of two for one cookie the later one counts.
            return url.isSecure ? plain + state.secure.lines(for: host) : plain
        }
    }

    /// Whether a server has set or changed a cookie.
    var hasLearned: Bool { state.withLock { $0.hasLearned } }

    /// Learns from a reply that has set cookies.
    ///
    /// - Parameters:
    ///   - before: What `lines` gave for the request.
    ///   - now: The cookies that libcurl has after it.
    ///   - url: Where the request went.
    ///   - file: The cookies of the caller's file.
    func learn(_ before: [String], now: [String], from url: WebURL, file: CookieLines) {
        state.withLock { state in
            state.hasLearned = state.hasLearned || before != now
            if url.isDowngraded {
                state.downgraded = Self.learned(state.downgraded ?? file, before, now)
            } else if url.isSecure {
                state.secure.replace(before, by: now)
                // What https has ended or replaced, it does not get again.
                state.plain = Self.learned(state.plain ?? file, before, now.filter(before.contains))
            } else {
                state.plain = Self.learned(state.plain ?? file, before, now)
            }
        }
    }

    /// The cookies for requests to a mirror, which has its own.
    func mirror(at origin: String) -> CookieMemory {
        state.withLock { state in
            if let known = state.mirrors[origin] { return known }
            let memory = CookieMemory(isShared: logins != nil)
            state.mirrors[origin] = memory
            return memory
        }
    }

    /// All cookies but those of mirrors and of URLs behind a redirect from https to http, as lines of Netscape's
    /// cookie file; `file` are those of the caller's file.
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

    /// The host of a URL as libcurl names it in a cookie: an IPv6 address without brackets and zone.
    private static func host(of url: WebURL) -> String {
        // The origin ends in a port.
        var host = url.origin.drop { $0 != "/" }.dropFirst(2)
        while let last = host.popLast(), last != ":" {}
        guard host.first == "[" else { return String(host) }
        return String(host.dropFirst().prefix { $0 != "]" && $0 != "%" })
    }
}
