import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct HostAddressesTests {
    @Test(arguments: [
        ("http://a.test:80", "a.test", "80"), ("https://x.example:8443", "x.example", "8443"),
    ])
    func parsesOrigin(origin: String, name: String, port: String) {
        let host = NamedHost(origin: origin)
        #expect(host?.name == name)
        #expect(host?.port == port)
    }

    @Test(arguments: [
        "http://127.0.0.1:80", "https://[::1]:443", "http://[fe80::1]%eth0:80",
        "http://localhost:8080", "http://a.localhost:80",
    ])
    func literalAddressesAreNotResolved(origin: String) {
        #expect(NamedHost(origin: origin) == nil)
    }

    @Test func resolveOptionReplacesLookup() throws {
        let host = try #require(NamedHost(origin: "http://a.test:80"))
        #expect(host.given(by: []) == nil)
        #expect(host.given(by: ["b.test:80:1.2.3.4", "a.test:81:1.2.3.4"]) == nil)
        #expect(host.given(by: ["A.test:80:1.2.3.4,[::1]", "*:80:9.9.9.9"]) == ["1.2.3.4", "::1"])
        #expect(host.given(by: ["a.test:80:1.2.3.4", "a.test:80:5.6.7.8"]) == ["5.6.7.8"])
        #expect(host.given(by: ["*:80:9.9.9.9"]) == ["9.9.9.9"])
        var access = AccessOptions()
        access.resolve = ["a.test:80:127.0.0.1,127.0.0.2,127.0.0.1,[0::1]"]
        #expect(host.lookUp(access) == ["127.0.0.1", "127.0.0.2", "::1"])
        access.addressFamily = .ipv4
        #expect(host.lookUp(access) == ["127.0.0.1", "127.0.0.2"])
        access.addressFamily = .ipv6
        #expect(host.lookUp(access) == ["::1"])
    }

    /// Until the look-up has ended, a refusal may concern one of several addresses.
    @Test(arguments: [(["192.0.2.1"], false), ([], false), (["192.0.2.1", "192.0.2.2"], true)])
    func hostMayHaveSeveralAddresses(found: [String], areSeveral: Bool) {
        let origin = "http://several.test:80"
        var addresses = HostAddresses()
        addresses.reached("192.0.2.1", of: origin)
        #expect(!addresses.mayBeSeveral(origin))
        let isNew = addresses.ask(origin, now: 0)
        #expect(isNew && addresses.mayBeSeveral(origin))
        addresses.found(found, of: origin)
        #expect(addresses.mayBeSeveral(origin) == areSeveral)
    }
}
