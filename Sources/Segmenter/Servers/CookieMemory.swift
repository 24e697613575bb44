import Assembler

/// The cookies of one download: those of the caller's file, and those that servers have set since.
///
/// In memory only. May be used from any thread.
final class CookieMemory: Sendable {
    /// Those for URLs behind a redirect from https to http are kept apart, in both directions: whoever
    /// stands there neither learns what https has set nor sets anything for it.
    private struct State {
        var cookies: CookieLines?
        var downgraded: CookieLines?
    }

    private let state = Monitor(State())

    /// The cookies that a request to `url` may need, of those that are known and, before any was set, of the
    /// caller's file; libcurl chooses among them.
    func lines(for url: WebURL, file: CookieLines) -> [String] {
        let known = state.withLock { url.isDowngraded ? $0.downgraded : $0.cookies }
        return (known ?? file).lines(for: Self.host(of: url))
    }

    /// Learns from a reply that has set cookies.
    ///
    /// - Parameters:
    ///   - before: What `lines` gave for the request.
    ///   - now: The cookies that libcurl has after it.
    ///   - url: Where the request went.
    ///   - file: The cookies of the caller's file.
    func learn(_ before: [String], now: [String], from url: WebURL, file: CookieLines) {
        state.withLock { state in
            if url.isDowngraded {
                state.downgraded = Self.learned(state.downgraded ?? file, before, now)
            } else {
                state.cookies = Self.learned(state.cookies ?? file, before, now)
            }
        }
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
