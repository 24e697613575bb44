import Glibc
import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct AccessOptionsTests {
    private static let pin = "sha256//" + String(repeating: "A", count: 43) + "="

    private static func access(_ change: (inout AccessOptions) -> Void) -> AccessOptions {
        var access = AccessOptions()
        change(&access)
        return access
    }

    static let good: [AccessOptions] = [
        AccessOptions(), access { $0.credentials = .init(user: "me", password: ":/@ é") },
        access { $0.credentials = .init(user: "", password: "") },
        access { $0.bearerToken = "a.b-c_d~e+/==" }, access { $0.cookies = "k=v; l=\"w\"" },
        access { $0.userAgent = "" }, access { $0.referer = "http://h/?q" },
        access { $0.proxy = "" }, access { $0.proxy = "h:3128" },
        access { $0.proxy = "socks5h://u:p%40@[::1]:1080" }, access { $0.proxy = "HTTPS://h" },
        access { $0.proxy = "socks4a://h" }, access { $0.noProxy = "a.org,.b.org,10.0.0.0/8" },
        access { $0.resolve = ["h:443:127.0.0.1", "h:1:::1", "h:1:[::1],10.0.0.1", "*:80:::"] },
        access { $0.pinnedPublicKey = pin }, access { $0.pinnedPublicKey = "\(pin);\(pin)" },
        access { $0.pinnedPublicKey = "/etc/passwd" }, access { $0.cookieFile = "/etc/passwd" },
    ]

    @Test(arguments: good) func acceptsValidOptions(options: AccessOptions) throws {
        try options.check()
    }

    static let bad: [(AccessOptions, AccessProblem)] = [
        (access { $0.credentials = .init(user: "a:b", password: "") }, .malformed(.credentials)),
        (
            access { $0.credentials = .init(user: "a\r\nX: y", password: "") },
            .malformed(.credentials)
        ),
        (access { $0.credentials = .init(user: "a", password: "b\n") }, .malformed(.credentials)),
        (access { $0.credentials = .init(user: "a", password: "\0") }, .malformed(.credentials)),
        (access { $0.bearerToken = "" }, .malformed(.bearerToken)),
        (access { $0.bearerToken = "a b" }, .malformed(.bearerToken)),
        (access { $0.bearerToken = "a\r\nX: y" }, .malformed(.bearerToken)),
        (access { $0.bearerToken = "é" }, .malformed(.bearerToken)),
        (access { $0.cookies = "file" }, .malformed(.cookies)),
        (access { $0.cookies = "k=v\r\nX: y" }, .malformed(.cookies)),
        (access { $0.userAgent = "a\nb" }, .malformed(.userAgent)),
        (access { $0.referer = "a\rb" }, .malformed(.referer)),
        (access { $0.proxy = "ftp://h" }, .malformed(.proxy)),
        (access { $0.proxy = "http://" }, .malformed(.proxy)),
        (access { $0.proxy = "http://h:port" }, .malformed(.proxy)),
        (access { $0.proxy = "http://u:p\n@h" }, .malformed(.proxy)),
        (access { $0.noProxy = "a\nb" }, .malformed(.noProxy)),
        (access { $0.interface = "" }, .malformed(.interface)),
        (access { $0.pinnedPublicKey = "" }, .malformed(.pinnedPublicKey)),
        (access { $0.pinnedPublicKey = "sha256//abc=" }, .malformed(.pinnedPublicKey)),
        (access { $0.pinnedPublicKey = "\(pin);" }, .malformed(.pinnedPublicKey)),
        (
            access { $0.pinnedPublicKey = "sha256//" + String(repeating: "!", count: 43) + "=" },
            .malformed(.pinnedPublicKey)
        ),
        (
            access { $0.referer = String(repeating: "x", count: 9_000_000) }, .malformed(.referer)
        ),
        (
            access {
                $0.credentials = .init(user: "a", password: "b")
                $0.bearerToken = "t"
            }, .conflict(.credentials, .bearerToken)
        ),
        (access { $0.clientKey = "/k" }, .incomplete(.clientKey, without: .clientCertificate)),
        (
            access { $0.clientKeyPassword = "x" },
            .incomplete(.clientKeyPassword, without: .clientCertificate)
        ),
        (access { $0.cookieFile = "/none" }, .unreadable(.cookieFile, path: "/none", errno: 2)),
        (access { $0.cookieFile = "/tmp" }, .unreadable(.cookieFile, path: "/tmp", errno: 21)),
        (
            access { $0.clientCertificate = "/none" },
            .unreadable(.clientCertificate, path: "/none", errno: 2)
        ),
        (
            access { $0.pinnedPublicKey = "/none" },
            .unreadable(.pinnedPublicKey, path: "/none", errno: 2)
        ),
        (
            access {
                $0.usesNetrc = true
                $0.netrcFile = "/none"
            }, .unreadable(.netrcFile, path: "/none", errno: 2)
        ),
    ]

    @Test(arguments: bad) func rejectsInvalidOptions(options: AccessOptions, problem: AccessProblem)
    {
        #expect(throws: problem) { try options.check() }
    }

    @Test(arguments: [
        "", "h", "h:80", "h:80:", ":80:127.0.0.1", "h:0:127.0.0.1", "h:65536:127.0.0.1",
        "h:x:127.0.0.1", "h:80:name", "h:80:127.0.0.1,", "h:80:[127.0.0.1]", "h:80:1.2.3",
        "-h:80:127.0.0.1", "+h:80:127.0.0.1", "h h:80:127.0.0.1", "h:80:[::1",
    ])
    func rejectsInvalidResolveEntries(entry: String) {
        #expect(throws: AccessProblem.malformed(.resolve)) {
            try Self.access { $0.resolve = [entry] }.check()
        }
    }

    // MARK: Options by origin

    private func connecting(
        _ url: String, _ change: (inout DownloadOptions) -> Void = { _ in }
    ) throws -> TransferRequest.Connecting {
        var options = DownloadOptions()
        change(&options)
        return try .init(options, url: #require(WebURL(url)))
    }

    @Test(arguments: [
        ("https://a.org/other?q", true), ("https://A.org:443/", true), ("http://a.org/f", false),
        ("https://a.org:8443/f", false), ("https://b.a.org/f", false), ("https://b.org/f", false),
    ])
    func optionsOfOriginStayThere(url: String, isPermitted: Bool) throws {
        let connecting = try connecting("https://a.org/f") { options in
            options.headers = ["X: y"]
            options.access.credentials = .init(user: "me", password: "x")
            options.access.cookies = "k=v"
            options.access.referer = "r"
            options.access.clientCertificate = "c"
            options.access.clientKey = "k"
            options.access.clientKeyPassword = "p"
            options.access.userAgent = "agent"
            options.access.proxy = "http://u:p@proxy"
            options.access.minimumTLS = .tls13
        }
        let permitted = try connecting.permitted(for: #require(WebURL(url)))
        #expect((permitted.headers == ["X: y"]) == isPermitted)
        #expect((permitted.access == connecting.access) == isPermitted)
        var rest = AccessOptions()
        rest.userAgent = "agent"
        rest.proxy = "http://u:p@proxy"
        rest.minimumTLS = .tls13
        if !isPermitted { #expect(permitted.access == rest && permitted.headers.isEmpty) }
    }

    @Test func credentialsFollowPrecedence() throws {
        let own = AccessOptions.Credentials(user: "me", password: "x")
        let named = try connecting("https://u:p@a.org/") { $0.access.credentials = own }
        #expect(named.access.credentials == own)
        let fromURL = try connecting("https://u:p@a.org/")
        #expect(fromURL.access.credentials == .init(user: "u", password: "p"))
        let token = try connecting("https://u:p@a.org/") { $0.access.bearerToken = "t" }
        #expect(token.access.credentials == nil)
        // The user in a redirect's URL is used at that URL.
        let there = try #require(WebURL("https://v:q@b.org/"))
        #expect(named.permitted(for: there).access.credentials?.user == "v")
    }

    @Test(
        arguments: [
            ("http://p", nil, true, true), ("http://p", "", true, true),
            ("http://p", "*", false, false),
            ("http://p", "a.org", true, false), ("", nil, false, false),
        ] as [(String, String?, Bool, Bool)])
    func knowsWhetherProxyIsUsed(proxy: String, exceptions: String?, may: Bool, surely: Bool) throws
    {
        let connecting = try connecting("https://a.org/") { options in
            options.access.proxy = proxy
            // Independent of the environment variable for exceptions.
            options.access.noProxy = exceptions ?? ""
        }
        let request = try TransferRequest(
            url: #require(WebURL("https://a.org/")), connecting: connecting)
        #expect(request.mayUseProxy == may)
        #expect(request.surelyUsesProxy == surely)
    }

    /// libcurl treats an empty variable as unset, and reads the next one.
    @Test func emptyProxyVariableIsUnset() async {
        await #expect(processExitsWith: .success) {
            for name in ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] { unsetenv(name) }
            let url = try #require(WebURL("https://a.org/"))
            let request = TransferRequest(
                url: url, connecting: .init(DownloadOptions(), url: url))
            setenv("https_proxy", "", 1)
            #expect(!request.mayUseProxy)
            setenv("ALL_PROXY", "http://p", 1)
            #expect(request.mayUseProxy)
        }
    }

    // MARK: Digest

    private func reply(_ status: Int, digest: Bool) -> Exchange {
        var reply = Reply(status: status)
        reply.asksForDigest = digest
        return Exchange(reply: reply)
    }

    @Test func learnsDigestOncePerServer() {
        let memory = DigestMemory()
        #expect(!memory.learn(from: reply(401, digest: false), origin: "a"))
        #expect(!memory.learn(from: reply(200, digest: true), origin: "a"))
        #expect(!memory.learn(from: Exchange(end: .cancelled), origin: "a"))
        #expect(!memory.wantsDigest("a"))
        #expect(memory.learn(from: reply(401, digest: true), origin: "a"))
        #expect(!memory.learn(from: reply(401, digest: true), origin: "a"))
        #expect(memory.wantsDigest("a") && !memory.wantsDigest("b") && !memory.proxyWantsDigest)
        let refused = Exchange(end: .proxyRefused(status: 407, asksForDigest: true))
        #expect(memory.learn(from: refused, origin: "a"))
        #expect(!memory.learn(from: reply(407, digest: true), origin: "b"))
        #expect(memory.proxyWantsDigest && !memory.wantsDigest("b"))
    }
}
