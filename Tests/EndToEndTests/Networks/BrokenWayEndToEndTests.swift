import Glibc
import TestSupport
import Testing

/// TLS handshakes that are cut, and proxies that fail and recover: real servers behind a relay.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct BrokenWayEndToEndTests {
    private let content = Content(size: 3_000_000, seed: 7)
    private let root: Sandbox
    private let sandbox: Sandbox
    private let nginx: Nginx

    init() throws {
        root = try Sandbox()
        sandbox = try Sandbox()
        try content.write(to: root.path("file.bin"))
        nginx = try Nginx(root: root.path)
    }

    private func run(_ url: String, _ options: [String]) async throws -> Run.Outcome {
        try await Run(
            [url, "--json", "-v", "-x", "4", "--ca-certificate", nginx.authority] + options,
            in: sandbox.path
        ).ended()
    }

    private func expectFailure(
        _ outcome: Run.Outcome, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let report = Comment(rawValue: outcome.errorOutput)
        #expect(outcome.exitCode == 69, report, sourceLocation: location)
        #expect(outcome.wallSeconds < 60, report, sourceLocation: location)
        #expect(try !sandbox.names().contains("file.bin"), sourceLocation: location)
        #expect(outcome.errorOutput.contains("hint: "), sourceLocation: location)
    }

    // MARK: TLS

    /// The first three connections break within the handshake or the body.
    @Test(
        arguments: [
            (0, .close), (0, .reset), (5, .close), (1000, .close), (1000, .reset), (2500, .close),
            (50_000, .reset),
        ] as [(Int, Relay.Break)])
    func completesAfterBrokenHandshakes(bytes: Int, how: Relay.Break) async throws {
        let relay = try Relay(to: nginx.securePort) { number in
            number <= 3 ? Relay.Plan(after: bytes, how) : nil
        }
        let outcome = try await run("https://127.0.0.1:\(relay.port)/file.bin", [])
        try outcome.expectComplete(content)
        #expect(relay.accepted > 3)
    }

    @Test(arguments: [0, 100, 1000])
    func failsIfEveryHandshakeBreaks(bytes: Int) async throws {
        let relay = try Relay(to: nginx.securePort) { _ in Relay.Plan(after: bytes, .close) }
        let outcome = try await run(
            "https://127.0.0.1:\(relay.port)/file.bin", ["--retries", "1"])
        try expectFailure(outcome)
        #expect(try sandbox.names().isEmpty)
    }

    /// The server stalls within the handshake: `--connect-timeout` applies, not `--stall-timeout`.
    @Test(arguments: [0, 100])
    func connectTimeoutLimitsStalledHandshakes(bytes: Int) async throws {
        let relay = try Relay(to: nginx.securePort) { _ in Relay.Plan(after: bytes, .silence) }
        let outcome = try await run(
            "https://127.0.0.1:\(relay.port)/file.bin",
            ["--retries", "1", "--connect-timeout", "1", "--stall-timeout", "100"])
        try expectFailure(outcome)
        #expect(try sandbox.names().isEmpty)
    }

    // MARK: Proxies

    /// The proxy closes connections within its own replies and within bodies.
    @Test(arguments: ["http", "socks5h"], [true, false])
    func completesAfterProxyClosesConnections(scheme: String, secure: Bool) async throws {
        let socks = try Microsocks()
        let http = try Tinyproxy()
        let target = scheme == "http" ? http.port : socks.port
        let points = [0, 1, 20, 3000, 400_000]
        let relay = try Relay(to: target) { number in
            number <= points.count ? Relay.Plan(after: points[number - 1], .close) : nil
        }
        let url = secure ? nginx.secureURL("/file.bin") : nginx.url("/file.bin")
        // Over TLS, four connections break before the first byte: more than segget retries by
        // default.
        let outcome = try await run(
            url, ["--proxy", "\(scheme)://127.0.0.1:\(relay.port)", "--retries", "10"])
        try outcome.expectComplete(content)
        #expect(relay.accepted > points.count)
    }

    /// The proxy accepts connections, and sends nothing or the start of its reply.
    @Test(arguments: [("http", 0), ("http", 10), ("socks5h", 0), ("socks5h", 5)])
    func failsIfProxyStalls(scheme: String, bytes: Int) async throws {
        let socks = try Microsocks()
        let http = try Tinyproxy()
        let relay = try Relay(to: scheme == "http" ? http.port : socks.port) { _ in
            Relay.Plan(after: bytes, .silence)
        }
        for url in [nginx.secureURL("/file.bin"), nginx.url("/file.bin")] {
            let outcome = try await run(
                url,
                [
                    "--proxy", "\(scheme)://127.0.0.1:\(relay.port)", "--retries", "1",
                    "--connect-timeout", "1", "--stall-timeout", "1",
                ])
            try expectFailure(outcome)
        }
    }

    /// The first connections through the proxy stall within the body.
    @Test(arguments: ["http", "socks5h"], [true, false])
    func completesAfterProxyStallsInBody(scheme: String, secure: Bool) async throws {
        let socks = try Microsocks()
        let http = try Tinyproxy()
        let relay = try Relay(to: scheme == "http" ? http.port : socks.port) { number in
            number <= 5 ? Relay.Plan(after: 100_000, .silence) : nil
        }
        let url = secure ? nginx.secureURL("/file.bin") : nginx.url("/file.bin")
        let outcome = try await run(
            url, ["--proxy", "\(scheme)://127.0.0.1:\(relay.port)", "--stall-timeout", "1"])
        try outcome.expectComplete(content)
        #expect(relay.accepted > 5)
    }

    /// The proxy answers `CONNECT` with the status each time, other requests only at first.
    @Test(arguments: [502, 503, 504])
    func retriesGatewayErrorsOfProxy(status: Int) async throws {
        let tally = Tally()
        let proxy = try Origin { request in
            guard request.method == "GET" || request.method == "HEAD" else {
                return .text(status)
            }
            // `HEAD`, and two of the three attempts at first contact.
            guard tally.add() > 3 else { return .text(status) }
            return OriginReply.file(
                Content(size: 3_000_000, seed: 7), for: request, etag: "\"a\"")
        }
        let address = "http://127.0.0.1:\(proxy.port)"
        let tunnelled = try await run(
            nginx.secureURL("/file.bin"), ["--proxy", address, "--retries", "2"])
        try expectFailure(tunnelled)
        #expect(tunnelled.errorOutput.contains("proxy"))
        #expect(proxy.requests.count { $0.method == "CONNECT" } >= 3)
        try await run(nginx.url("/file.bin"), ["--proxy", address]).expectComplete(content)
    }

    /// All connections through the proxy stall without a packet; new ones work.
    @Test func replacesTunnelsThatStall() async throws {
        let http = try Tinyproxy()
        let relay = try Relay(to: http.port) { number in
            (2...5).contains(number) ? Relay.Plan(after: 300_000, .silence) : nil
        }
        let outcome = try await run(
            nginx.secureURL("/file.bin"),
            ["--proxy", "http://127.0.0.1:\(relay.port)", "--stall-timeout", "100"])
        try outcome.expectComplete(content)
        #expect(outcome.wallSeconds < 60)
        #expect(try outcome.notices("retrying").isEmpty)
    }
}
