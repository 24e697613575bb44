import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests whether there is a route to a host or its proxy.
@Suite struct HostRouteTests {
    @Test(arguments: [
        "http://127.0.0.1:80", "http://[::1]:80", "https://localhost:443",
        "http://a.localhost:8080",
    ])
    func loopbackAlwaysHasRoute(origin: String) async {
        #expect(await HostRoute.leads(toOrigin: origin, AccessOptions()))
    }

    @Test(arguments: ["name", "", "127.0.0.1:80", "[::1]", "1.2.3.4.5"])
    func invalidAddressHasNoRoute(text: String) {
        #expect(HostRoute.leads(to: text) == nil)
    }

    @Test func resolveOptionReplacesHostName() async {
        var access = AccessOptions()
        access.resolve = ["nowhere.invalid:80:127.0.0.1"]
        #expect(await HostRoute.leads(toOrigin: "http://nowhere.invalid:80", access))
    }

    private func proxy(_ change: (inout AccessOptions) -> Void) throws -> (String, Bool)? {
        var options = DownloadOptions()
        change(&options.access)
        let url = try #require(WebURL("http://example.org/f"))
        let connecting = TransferRequest.Connecting(options, url: url)
        return connecting.proxy(for: url).map { ($0.origin, $0.isSure) }
    }

    @Test(arguments: [
        ("proxy.example:3128", "http://proxy.example:3128"),
        ("http://u:p@Proxy.example", "http://proxy.example:1080"),
        ("socks5h://u:p@[fe80::1%25eth0]:9050", "socks5h://[fe80::1]%eth0:9050"),
        ("socks4://192.0.2.7:1", "socks4://192.0.2.7:1"),
    ])
    func routeIsThatOfProxy(text: String, origin: String) throws {
        let found = try #require(
            try proxy {
                $0.proxy = text
                $0.noProxy = ""
            })
        #expect(found == (origin, true))
        let mayBe = try #require(
            try proxy {
                $0.proxy = text
                $0.noProxy = "example.org"
            })
        #expect(mayBe == (origin, false))
    }

    @Test func noProxyYieldsNoProxyOrigin() throws {
        #expect(
            try proxy {
                $0.proxy = "http://p"
                $0.noProxy = "*"
            } == nil)
        #expect(try proxy { $0.proxy = "" } == nil)
    }
}
