import TestSupport
import Testing

/// Downloads through real proxies.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ProxyEndToEndTests {
    /// nginx with a file, over HTTP and HTTPS, and a folder to download into.
    private struct Site {
        let content = Content(size: 3_000_000, seed: 5)
        let root: Sandbox
        let nginx: Nginx
        let sandbox: Sandbox

        init(directives: String = "") throws {
            root = try Sandbox()
            try content.write(to: root.path("file.bin"))
            nginx = try Nginx(root: root.path, directives: directives)
            sandbox = try Sandbox()
        }

        func url(secure: Bool) -> String {
            secure ? nginx.secureURL("/file.bin") : nginx.url("/file.bin")
        }

        /// Downloads the file, and compares its content if that succeeds.
        func run(
            _ options: [String], secure: Bool = false, url: String? = nil,
            environment: [String: String] = [:]
        ) async throws -> Run.Outcome {
            let child = try Run(
                [
                    url ?? self.url(secure: secure), "--overwrite", "-x", "4", "--retries", "0",
                    "--ca-certificate", nginx.authority,
                ] + options, in: sandbox.path, environment: environment)
            let outcome = try await child.ended()
            if outcome.exitCode == 0 {
                #expect(try content.firstDifference(at: sandbox.path("file.bin")) == nil)
            }
            return outcome
        }
    }

    private func expectDone(
        _ outcome: Run.Outcome, _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(
            outcome.exitCode == 0, Comment(rawValue: outcome.errorOutput), sourceLocation: location)
    }

    @Test(arguments: [false, true])
    func downloadsThroughHTTPProxy(secure: Bool) async throws {
        let site = try Site()
        let proxy = try Tinyproxy()
        expectDone(try await site.run(["--proxy", proxy.url()], secure: secure))
        let method = secure ? "CONNECT" : "GET"
        let requests = try proxy.requests()
        #expect(requests.count { $0.hasPrefix(method) } >= 3, "\(requests)")
        // Without a scheme, the proxy is an http one. `probe` uses the proxy as well.
        let probe = try await Run(
            [
                "probe", site.url(secure: secure), "--proxy", "127.0.0.1:\(proxy.port)",
                "--ca-certificate", site.nginx.authority,
            ], in: site.sandbox.path
        ).ended()
        expectDone(probe)
        #expect(try proxy.requests().count > requests.count)
    }

    @Test(arguments: [false, true])
    func sendsCredentialsToHTTPProxy(secure: Bool) async throws {
        let site = try Site()
        let proxy = try Tinyproxy(user: "me", password: "hush")
        expectDone(try await site.run(["--proxy", proxy.url("me:hush@")], secure: secure))
        // tinyproxy answers 401 to wrong credentials.
        for (credentials, status) in [("me:wrong@", "401"), ("", "407")] {
            let before = try proxy.requests().count
            let outcome = try await site.run(["--proxy", proxy.url(credentials)], secure: secure)
            #expect(outcome.exitCode == 77, "\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains(status), "\(outcome.errorOutput)")
            if secure || status == "407" {
                #expect(outcome.errorOutput.contains("the proxy refused access"))
            }
            #expect(!outcome.errorOutput.contains("wrong"))
            #expect(try proxy.requests().count - before <= 1)
        }
    }

    /// The server receives its own credentials and cookies, and not those of the proxy.
    @Test func serverReceivesNoProxyCredentials() async throws {
        let trial = try WireTrial()
        let proxy = try Tinyproxy(user: "me", password: "hush")
        let outcome = try await trial.run(
            "--proxy", proxy.url("me:hush@"), "-u", "you:other", "-b", "k=v")
        try outcome.expectComplete(trial.content)
        for request in trial.origin.requests {
            #expect(request.header("Proxy-Authorization") == nil)
            #expect(request.header("Authorization") == "Basic eW91Om90aGVy")
            #expect(request.header("Cookie") == "k=v")
        }
        #expect(try !proxy.requests().isEmpty)
        #expect(!(outcome.output + outcome.errorOutput).contains("hush"))
    }

    @Test(
        arguments: [
            ("http_proxy", false, true), ("https_proxy", true, true), ("HTTPS_PROXY", true, true),
            ("all_proxy", false, true), ("ALL_PROXY", true, true), ("http_proxy", true, false),
            ("https_proxy", false, false),
            // In a CGI program, `HTTP_PROXY` contains a header of the client: libcurl ignores it.
            ("HTTP_PROXY", false, false),
        ])
    func readsProxyFromEnvironment(name: String, secure: Bool, isUsed: Bool) async throws {
        let site = try Site()
        let proxy = try Tinyproxy()
        expectDone(try await site.run([], secure: secure, environment: [name: proxy.url()]))
        #expect(try proxy.requests().isEmpty != isUsed)
    }

    @Test func bypassesProxyForExceptions() async throws {
        let site = try Site()
        let proxy = try Tinyproxy()
        let used = ["http_proxy": proxy.url()]
        let cases: [([String], [String: String], Bool)] = [
            ([], used.merging(["no_proxy": "127.0.0.1"]) { $1 }, false),
            ([], used.merging(["NO_PROXY": "example.org,127.0.0.0/8"]) { $1 }, false),
            ([], used.merging(["no_proxy": "example.org"]) { $1 }, true),
            (["--no-proxy", "127.0.0.1"], used, false), (["--no-proxy", "*"], used, false),
            (["--no-proxy", "example.org"], used.merging(["no_proxy": "*"]) { $1 }, true),
            (["--proxy", ""], used, false),
            (["--proxy", proxy.url(), "--no-proxy", "*"], [:], false),
            (["--proxy", proxy.url()], ["http_proxy": "http://127.0.0.1:1"], true),
        ]
        for (options, environment, isUsed) in cases {
            let before = try proxy.requests().count
            expectDone(try await site.run(options, environment: environment))
            let after = try proxy.requests().count
            #expect((after > before) == isUsed, "\(options) \(environment)")
        }
    }

    @Test(arguments: [("socks5h", "localhost"), ("socks5", "127.0.0.1")])
    func downloadsThroughSOCKSProxy(scheme: String, target: String) async throws {
        let site = try Site()
        let proxy = try Microsocks()
        for secure in [false, true] {
            let port = secure ? site.nginx.securePort : site.nginx.port
            let url = "\(secure ? "https" : "http")://localhost:\(port)/file.bin"
            expectDone(try await site.run(["-4", "--proxy", proxy.url(scheme)], url: url))
            // With socks5h, the proxy resolves the name.
            #expect(eventually { proxy.targets.count { $0 == "\(target):\(port)" } > 1 })
        }
        #expect(proxy.targets.allSatisfy { $0.hasPrefix("\(target):") })
    }

    @Test func sendsCredentialsToSOCKSProxy() async throws {
        let site = try Site()
        let proxy = try Microsocks(user: "me", password: "hush")
        expectDone(try await site.run(["--proxy", proxy.url("socks5h", "me:hush@")]))
        // The proxy reports its connections with a short delay.
        #expect(
            try eventually {
                let log = try site.nginx.accessLog()
                return !log.isEmpty && proxy.targets.count >= Set(log.map(\.connection)).count
            })
        let count = proxy.targets.count
        for credentials in ["me:wrong@", ""] {
            let outcome = try await site.run(
                ["--proxy", proxy.url("socks5h", credentials), "--retries", "10"])
            #expect(outcome.exitCode == 77, "\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains("the proxy refused access"))
            #expect(!outcome.errorOutput.contains("wrong"))
        }
        #expect(proxy.targets.count == count)
    }

    /// TLS to the proxy itself: nginx forwards plain requests.
    @Test func downloadsThroughHTTPSProxy() async throws {
        let site = try Site()
        let root = try Sandbox()
        let proxy = try Nginx(
            root: root.path,
            directives: "location / { proxy_pass http://$http_host$request_uri; }")
        let url = proxy.secureURL("/")
        var outcome = try await site.run(["--proxy", url, "--ca-certificate", proxy.authority])
        expectDone(outcome)
        #expect(eventually { (try? proxy.accessLog().count { $0.status == 206 }) ?? 0 >= 3 })
        // segget verifies the proxy's certificate; `--insecure` concerns only the server's.
        outcome = try await site.run(["--proxy", url, "--insecure"])
        #expect(outcome.exitCode == 77, "\(outcome.errorOutput)")
    }

    @Test(arguments: ["http", "https", "socks5h", "socks4a"])
    func failsIfProxyIsUnreachable(scheme: String) async throws {
        let site = try Site()
        for secure in [false, true] {
            let outcome = try await site.run(
                ["--proxy", "\(scheme)://me:hush@127.0.0.1:1"], secure: secure)
            #expect(outcome.exitCode == 69, "\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains("the proxy cannot be used: Failed to connect"))
            #expect(outcome.errorOutput.contains("`--proxy`"))
            #expect(!outcome.errorOutput.contains("hush"))
        }
        let nowhere = try await site.run(["--proxy", "\(scheme)://nowhere.invalid:80"])
        #expect(nowhere.exitCode == 69)
        #expect(nowhere.errorOutput.contains("nowhere.invalid"), "\(nowhere.errorOutput)")
    }

    @Test(arguments: ["ftp://me:hush@127.0.0.1:1", "http://me:hush@[::1"])
    func failsIfProxyInEnvironmentIsInvalid(url: String) async throws {
        let site = try Site()
        let outcome = try await site.run([], environment: ["http_proxy": url])
        #expect(outcome.exitCode == 69, "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("the proxy cannot be used"))
        #expect(!outcome.errorOutput.contains("hush"), "\(outcome.errorOutput)")
    }

    @Test func failsIfProxyCannotReachServer() async throws {
        let site = try Site()
        let proxy = try Tinyproxy()
        for url in ["http://127.0.0.1:1/f", "https://127.0.0.1:1/f"] {
            let outcome = try await site.run(["--proxy", proxy.url()], url: url)
            #expect(outcome.exitCode == 69, "\(outcome.errorOutput)")
        }
    }
}
