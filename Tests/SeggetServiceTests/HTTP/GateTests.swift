import NIOHTTP1
import Testing

@testable import SeggetService

struct GateTests {
    private static let page = {
        var gate = Gate()
        gate.hosts = ["nas.example"]
        gate.origins = ["https://ariang.example"]
        return gate
    }()

    private static func isLetIn(
        _ fields: [(String, String)], gate: Gate = page
    ) -> Bool {
        gate.refusal(HTTPHeaders(fields)) == nil
    }

    @Test(arguments: [
        ("localhost", true), ("LocalHost:6800", true), ("127.0.0.1", true),
        ("127.0.0.1:6800", true), ("nas.example:80", true), ("NAS.example", true),
        ("evil.example", false), ("192.0.2.7:6800", true), ("localhost.evil.example", false),
        ("nas.example.evil", false), ("x.nas.example", false), ("", false), ("::1", false),
        ("[::1]", true), ("[2001:db8::7]:6800", true), ("localhost ", false),
        ("localhost@evil.example", false), ("127.1", false), ("192.0.2.7.evil.example", false),
        ("2130706433", false), ("0x7f000001", false),
    ])
    func acceptsOnlyKnownHosts(host: String, isOwn: Bool) {
        #expect(Self.isLetIn([("Host", host)]) == isOwn)
    }

    @Test func missingHostIsRefused() { #expect(!Self.isLetIn([])) }

    @Test(arguments: [
        ([], true), (["http://localhost:6800"], true), (["HTTP://LOCALHOST:6800"], true),
        (["https://ariang.example"], true), (["https://Ariang.example"], true),
        (["http://ariang.example"], false), (["https://ariang.example:444"], false),
        (["https://localhost:6800"], false), (["http://localhost"], false), (["null"], false),
        ([""], false), (["http://evil.example"], false),
        (["http://localhost:6800", "http://evil.example"], false),
        (["https://ariang.example", "https://ariang.example"], false),
    ])
    func acceptsOnlyAllowedOrigins(origins: [String], isLetIn: Bool) {
        let fields = [("Host", "localhost:6800")] + origins.map { ("Origin", $0) }
        #expect(Self.isLetIn(fields) == isLetIn)
    }

    @Test(arguments: [
        (["none"], true), (["same-origin"], true), (["same-site"], false), (["cross-site"], false),
        ([""], false), (["none", "cross-site"], false),
    ])
    func refusesCrossSiteRequests(sites: [String], isLetIn: Bool) {
        let fields = [("Host", "localhost")] + sites.map { ("Sec-Fetch-Site", $0) }
        #expect(Self.isLetIn(fields) == isLetIn)
        // An allowed page is on another site.
        #expect(Self.isLetIn(fields + [("Origin", "https://ariang.example")]))
        // The host name must be allowed too.
        #expect(
            !Self.isLetIn([("Host", "evil.example"), ("Origin", "https://ariang.example")]))
    }

    @Test func asteriskAllowsAllOrigins() {
        var gate = Gate()
        gate.origins = ["*"]
        let fields = [("Host", "localhost"), ("Origin", "null"), ("Sec-Fetch-Site", "cross-site")]
        #expect(Self.isLetIn(fields, gate: gate))
        #expect(gate.origin(HTTPHeaders(fields)) == "null")
        #expect(Self.page.origin(HTTPHeaders(fields)) == nil)
    }
}

struct LockoutTests {
    @Test func eachFailureDoublesTheDelayUpTo16Seconds() {
        var lockout = Lockout()
        let delays = (0..<20).map { lockout.fail("a", now: Double($0)) }
        #expect(delays.prefix(5) == [1, 2, 4, 8, 16])
        #expect(delays.dropFirst(5).allSatisfy { $0 == 16 })
    }

    @Test func failuresAreCountedPerAddress() {
        var lockout = Lockout()
        for _ in 0..<9 { _ = lockout.fail("a", now: 0) }
        #expect(lockout.fail("b", now: 0) == 1)
        lockout.succeed("b")
        #expect(lockout.fail("a", now: 0) == 16)
        lockout.succeed("a")
        #expect(lockout.fail("a", now: 0) == 1)
    }

    @Test func failuresAreForgottenAfterFiveMinutes() {
        var lockout = Lockout()
        for _ in 0..<9 { _ = lockout.fail("a", now: 0) }
        #expect(lockout.fail("a", now: 299) == 16)
        #expect(lockout.fail("a", now: 599) == 1)
    }

    @Test func limitsNumberOfAddresses() {
        var lockout = Lockout()
        for number in 0..<100_000 { _ = lockout.fail("\(number)", now: 0) }
        #expect(
            Mirror(reflecting: lockout).children.allSatisfy { child in
                (child.value as? [String: (count: Int, last: Double)]).map {
                    $0.count <= Lockout.most
                } ?? false
            })
        #expect(lockout.fail("a", now: 0) == 1)
    }
}
