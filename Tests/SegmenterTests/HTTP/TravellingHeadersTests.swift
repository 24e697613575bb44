import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests which of the user's headers are sent to another origin.
@Suite struct TravellingHeadersTests {
    @Test(arguments: [
        "Accept: */*", "accept-language: de", "ACCEPT-CHARSET: utf-8", "User-Agent: netdisk",
        "DNT: 1", "Sec-GPC: 1", "Priority: u=1", "Cache-Control: no-cache", "Pragma: no-cache",
        "Upgrade-Insecure-Requests: 1", "Sec-Fetch-Site: none", "sec-ch-ua-platform: \"Linux\"",
        "Save-Data: on",
    ])
    func negotiationHeadersCrossOrigins(line: String) throws {
        let url = try #require(WebURL("https://b.org/"))
        #expect(TravellingHeaders.lines([line], to: url) == [line])
    }

    @Test(arguments: [
        "Authorization: Basic eDp5", "Cookie: a=b", "Proxy-Authorization: Basic eDp5",
        "Proxy-Connection: close", "X-Token: t", "X-Forwarded-For: 10.0.0.1",
        "Origin: https://a.org",
        "Api-Key: k", "Accept-Token: t", "Acceptx: t", "User-Agent-Token: t", "Sec-Token: t",
        "Secret: s", "Sec-WebSocket-Key: k", "From: me@a.org", "Host: a.org", "Via: me",
        "Accept : t",
        " Accept: t", "Accept", "If-Match: \"a\"", "Set-Cookie: a=b", "Cookie2: a", "Referrer: r",
    ])
    func identifyingHeadersStay(line: String) throws {
        let url = try #require(WebURL("https://b.org/"))
        #expect(TravellingHeaders.lines([line], to: url).isEmpty)
    }

    @Test(arguments: [
        ("https://a.org/page?token=hush#f", "https://b.org/", "https://a.org/"),
        ("https://me:hush@a.org:8443/x", "https://b.org/", "https://a.org:8443/"),
        ("HTTP://A.org/x", "http://b.org/", "http://a.org/"),
        ("http://a.org:80/x", "https://b.org/", "http://a.org/"),
        ("http://a.org:443/x", "https://b.org/", "http://a.org:443/"),
        ("http://[::1]/x", "https://b.org/", "http://[::1]/"),
        ("https://a.org/x", "http://b.org/", nil), ("https://a.org", "http://a.org/", nil),
        ("a.org/page", "https://b.org/", nil), ("hush", "https://b.org/", nil),
        ("android-app://hush/", "https://b.org/", nil), ("", "https://b.org/", nil),
        ("http://[fe80::1%25eth0]/", "https://b.org/", nil), ("https://", "https://b.org/", nil),
    ])
    func refererIsReducedToOrigin(text: String, url: String, expected: String?) throws {
        let url = try #require(WebURL(url))
        #expect(TravellingHeaders.referer(text, to: url) == expected)
        #expect(
            TravellingHeaders.lines(["rEFERER:  \(text)"], to: url)
                == (expected.map { ["Referer: \($0)"] } ?? []))
    }

    /// After a redirect from https to http no `Referer` is sent, not even over https.
    @Test func downgradeRemovesReferer() throws {
        let first = try #require(WebURL("https://a.org/"))
        let down = try #require(WebURL("http://b.org/", relativeTo: first))
        let back = try #require(WebURL("https://c.org/", relativeTo: down))
        for url in [down, back] {
            let lines = ["Referer: http://r.org/", "Accept: */*", "X: y"]
            #expect(TravellingHeaders.lines(lines, to: url) == ["Accept: */*"])
            #expect(TravellingHeaders.referer("http://r.org/", to: url) == nil)
        }
    }

    /// A request sends all headers to the first origin, and only harmless ones to others.
    @Test func requestToOtherOriginSendsHarmlessHeaders() throws {
        var options = DownloadOptions()
        options.headers = ["Accept: image/*", "X-Token: hush"]
        options.access.referer = "https://r.org/page"
        options.access.userAgent = "agent"
        let first = try #require(WebURL("https://a.org/"))
        let connecting = TransferRequest.Connecting(options, url: first)
        let home = connecting.permitted(for: first)
        #expect(home.headers == options.headers && home.access.referer == "https://r.org/page")
        let other = try #require(WebURL("https://b.org/", relativeTo: first))
        let elsewhere = connecting.permitted(for: other)
        #expect(elsewhere.headers == ["Accept: image/*"])
        #expect(elsewhere.access.referer == "https://r.org/")
        #expect(elsewhere.access.userAgent == "agent")
    }
}
