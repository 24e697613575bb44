import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests cookies as lines: how they are found by domain, and changed by responses.
@Suite struct CookieLinesTests {
    private static func line(_ domain: String, _ name: String, _ value: String) -> String {
        "\(domain)\tFALSE\t/\tFALSE\t0\t\(name)\t\(value)"
    }

    @Test(arguments: [
        ("a.test", ["a", "dot", "http"]), ("A.Test.", ["a", "dot", "http"]),
        ("sub.a.test", ["a", "dot", "http", "sub"]), ("b.test", []), ("ba.test", []), ("test", []),
        ("", []), (".", []), ("10.0.0.1", ["ip"]), ("0.0.1", []), ("::1", ["six"]),
    ])
    func findsCookiesOfDomainAndParents(host: String, names: [String]) {
        let lines = CookieLines([
            Self.line("a.test", "a", "1"), Self.line(".a.test", "dot", "1"),
            "#HttpOnly_" + Self.line("A.test", "http", "1"), Self.line("sub.a.test", "sub", "1"),
            Self.line("10.0.0.1", "ip", "1"), Self.line("::1", "six", "1"), "", "no tab",
        ])
        let found = lines.lines(for: host).map { String($0.split(separator: "\t")[5]) }
        #expect(found.sorted() == names)
    }

    /// The request that ends last determines the cookies that it has changed, and no others.
    @Test func recordsOnlyChangedCookies() {
        let (a, b, c) = (
            Self.line("h", "a", "1"), Self.line("h", "b", "1"), Self.line("h", "c", "1")
        )
        var lines = CookieLines([a, b])
        // One request changes `b`. A simultaneous one removes `a` and adds `c`.
        let changed = Self.line("h", "b", "2")
        lines.replace([a, b], by: [a, changed])
        lines.replace([a, b], by: [b, c])
        #expect(Set(lines.lines(for: "h")) == [changed, c])
        // Unchanged cookies remain. Of two changes of one cookie, the later one counts.
        let first = Self.line("h", "c", "2")
        let second = Self.line("h", "c", "3")
        lines.replace([changed, c], by: [changed, first])
        lines.replace([changed, c], by: [changed, second])
        #expect(lines.lines(for: "h") == [changed, second])
        lines.replace([changed, second], by: [])
        #expect(lines.lines(for: "h").isEmpty)
    }

    /// A server that sets another cookie in each response does not fill the memory.
    @Test func numberOfCookiesIsBounded() {
        var lines = CookieLines()
        for number in 0..<1000 {
            let before = lines.lines(for: "h")
            lines.replace(before, by: before + [Self.line("h", "n\(number)", "1")])
        }
        let kept = lines.lines(for: "h")
        #expect(kept.count == CookieLines.most)
        #expect(kept.last == Self.line("h", "n999", "1"))
    }

    /// After successive requests, the cookies are exactly those that libcurl had after the last
    /// one.
    @Test func successiveRequestsKeepAllCookies() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        var (lines, model) = (CookieLines(), Set<String>())
        for _ in 0..<500 {
            let before = lines.lines(for: "h")
            #expect(Set(before) == model, "seed \(seed)")
            var now = before.shuffled(using: &random)
            now.removeLast(Int.random(in: 0...min(2, now.count), using: &random))
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                let name = "n\(Int.random(in: 0..<9, using: &random))"
                now.removeAll { $0.contains("\t\(name)\t") }
                now.append(Self.line("h", name, "\(random.next())"))
            }
            lines.replace(before, by: now)
            model = Set(now)
        }
    }

    /// Of two simultaneous changes of a cookie, the last one counts, and no other cookie is removed
    /// for the first.
    @Test func frequentChangesEvictNoCookie() {
        var lines = CookieLines()
        let login = Self.line("h", "login", "1")
        lines.replace([], by: [login])
        for number in 0..<1000 {
            lines.replace([login], by: [login, Self.line("h", "n", "\(number)")])
        }
        #expect(lines.lines(for: "h") == [login, Self.line("h", "n", "999")])
    }

    /// Requests over http do not send cookies that were set over https.
    ///
    /// Requests over https send those that were set over http, until a response over https removes
    /// them.
    @Test func secureCookiesAreNotSentOverHTTP() throws {
        let memory = CookieMemory()
        let (safe, plain) = (Self.line("h", "a", "1"), Self.line("h", "b", "1"))
        let secure = try #require(WebURL("https://h/"))
        let open = try #require(WebURL("http://h/"))
        let file = CookieLines()
        memory.learn([], now: [safe], from: secure, file: file)
        #expect(memory.lines(for: open, file: file).isEmpty)
        memory.learn([], now: [plain], from: open, file: file)
        #expect(memory.lines(for: secure, file: file) == [plain, safe])
        #expect(memory.allLines(file: file) == [plain, safe])
        memory.learn([plain, safe], now: [safe], from: secure, file: file)
        #expect(memory.lines(for: secure, file: file) == [safe])
        #expect(memory.lines(for: open, file: file).isEmpty)
    }

    /// Downloads share cookies if their access options, headers and CA certificate are the same.
    ///
    /// Mirrors never share them.
    @Test func differentOptionsHaveSeparateCookies() throws {
        let jars = CookieJars()
        let url = try #require(WebURL("http://h/"))
        let (same, referred) = (DownloadOptions(), DownloadOptions())
        let memory = jars.cookies(of: same, url)
        #expect(jars.cookies(of: referred, WebURL("http://other/")) === memory)
        var others: [DownloadOptions] = Array(repeating: same, count: 6)
        others[0].access.credentials = .init(user: "me", password: "1")
        others[1].access.credentials = .init(user: "me", password: "2")
        others[2].headers = ["X-Key: 1"]
        others[3].access.cookies = "a=1"
        others[4].access.cookieFile = "/jar"
        others[5].access.isInsecure = true
        var seen = [memory, memory.mirror(at: url.origin)]
        seen += others.map { jars.cookies(of: $0, url) }
        for (index, one) in seen.enumerated() {
            #expect(!seen[..<index].contains { $0 === one }, "\(index)")
        }
        // A user in the URL counts like one in the options.
        #expect(jars.cookies(of: same, WebURL("http://me:1@h/")) === seen[2])
    }

    /// Cookies from before a redirect from https to http are separate from those after it.
    @Test func downgradeSeparatesCookies() throws {
        let memory = CookieMemory()
        let (safe, unsafe) = (Self.line("h", "a", "1"), Self.line("h", "b", "1"))
        let file = CookieLines([Self.line("h", "f", "1")])
        let first = try #require(WebURL("https://h/"))
        let down = try #require(WebURL("http://h/", relativeTo: first))
        let back = try #require(WebURL("https://h/", relativeTo: down))
        let start = memory.lines(for: first, file: file)
        #expect(start.count == 1)
        memory.learn(start, now: start + [safe], from: first, file: file)
        #expect(memory.lines(for: down, file: file) == start)
        memory.learn(start, now: start + [unsafe], from: down, file: file)
        #expect(memory.lines(for: first, file: file) == start + [safe])
        #expect(memory.lines(for: back, file: file) == start + [unsafe])
    }

    /// The host is written as in libcurl's cookies.
    @Test(arguments: [
        ("http://h/", "h"), ("https://H.:8443/x", "h"), ("http://[::1]:80/", "::1"),
        ("http://[fe80::1%25eth0]/", "fe80::1"), ("http://10.1/", "10.0.0.1"),
    ])
    func findsCookiesByNormalizedHost(url: String, domain: String) throws {
        let file = CookieLines([Self.line(domain, "a", "1"), Self.line("other", "b", "1")])
        let url = try #require(WebURL(url))
        #expect(CookieMemory().lines(for: url, file: file) == [Self.line(domain, "a", "1")])
    }
}
