import TestSupport
import Testing

/// Fields and credentials sent to other origins, which differ in scheme, host or port.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct CrossOriginTests {
    private static let fields = ["Authorization", "Cookie", "Referer", "X-Token"]
    private static let own = [
        "-u", "me:hush", "-b", "k=hush", "--referer", "http://r.example/hush",
        "-H", "X-Token: hush", "-H", "X-Unknown: hush", "-H", "Accept: image/hush",
        "-H", "Accept-Language: de", "-A", "agent/1",
    ]

    /// Expects that a request to another origin lacks the caller's secrets.
    private static func expectStrange(_ request: OriginRequest, _ text: String) {
        for field in fields + ["X-Unknown"] where field != "Referer" {
            #expect(request.header(field) == nil, "\(text): \(field)")
        }
        expectTravelled(request, text)
    }

    /// Expects the fields that every origin receives, with the `Referer` cut to its origin.
    private static func expectTravelled(_ request: OriginRequest, _ text: String) {
        #expect(request.header("Referer") == "http://r.example/", "\(text)")
        #expect(request.header("Accept") == "image/hush", "\(text)")
        #expect(request.header("Accept-Language") == "de", "\(text)")
        #expect(request.header("User-Agent") == "agent/1", "\(text)")
    }

    /// An origin with several host names, where `/go` redirects to the URL in `place`.
    private func trial(_ place: Guarded<String>) throws -> WireTrial {
        try WireTrial(size: 100_000) { request, reply in
            if request.path == "/go" { reply = .redirect(place.withLock { $0 }) }
            if request.path == "/back" { reply = .redirect("http://a.test:\(port(request))/there") }
        }
    }

    private func run(
        _ trial: WireTrial, _ options: [String], bearer: String? = nil
    ) async throws -> Run.Outcome {
        let port = trial.origin.port
        let hosts = ["a.test", "b.test", "sub.a.test", "a.test.", "test", "a.tes", "ba.test"]
        let arguments =
            ["http://a.test:\(port)/go", "-o", "file.bin", "--overwrite", "--json", "-v"]
            + hosts.flatMap { ["--resolve", "\($0):\(port):127.0.0.1"] } + options
        guard let bearer else { return try await Run(arguments, in: trial.sandbox.path).ended() }
        let secret = try Sandbox()
        let child = try Run(
            "/bin/sh",
            ["-c", "exec \"$@\" 3<\(try secret.write("s", bearer))", "sh", try Segget.binary()]
                + arguments + ["--bearer-fd", "3"], in: trial.sandbox.path)
        return try await child.ended()
    }

    /// Each row has the target of a redirect, and whether that is the same origin.
    @Test func comparesSchemeHostAndPort() async throws {
        let place = Guarded("")
        let trial = try trial(place)
        let other = try Origin { .file(trial.content, for: $0, etag: "\"a\"") }
        let port = trial.origin.port
        let targets: [(String, Bool)] = [
            ("http://a.test:\(port)/there", true), ("HTTP://A.TEST:\(port)/there", true),
            ("//a.test:\(port)/there", true), ("/there", true),
            ("http://b.test:\(port)/there", false), ("//b.test:\(port)/there", false),
            ("http://sub.a.test:\(port)/there", false), ("http://test:\(port)/there", false),
            ("http://ba.test:\(port)/there", false), ("http://a.tes:\(port)/there", false),
            ("http://a.test@b.test:\(port)/there", false),
            ("http://127.0.0.1:\(port)/there", false), (other.url("/there"), false),
        ]
        for (target, isSame) in targets {
            place.withLock { $0 = target }
            let (before, others) = (trial.origin.requests.count, other.requests.count)
            let outcome = try await run(trial, Self.own)
            #expect(outcome.exitCode == 0, "\(target): \(outcome.errorOutput)")
            let requests =
                trial.origin.requests.dropFirst(before).filter { $0.path == "/there" }
                + other.requests.dropFirst(others)
            #expect(!requests.isEmpty, "\(target)")
            for request in requests {
                for field in Self.fields + ["X-Unknown"]
                where field != "Referer" && (!target.contains("@") || field != "Authorization") {
                    #expect((request.header(field) != nil) == isSame, "\(target): \(field)")
                }
                #expect(request.header("Authorization") != "Basic bWU6aHVzaA==" || isSame)
                guard isSame else {
                    Self.expectTravelled(request, target)
                    continue
                }
                #expect(request.header("Referer") == "http://r.example/hush", "\(target)")
            }
            #expect(!(outcome.output + outcome.errorOutput).contains("hush"), "\(target)")
        }
    }

    /// A redirect back to the first origin receives the token and the fields again.
    @Test func firstOriginReceivesTokenAgain() async throws {
        let place = Guarded("")
        let trial = try trial(place)
        place.withLock { $0 = "http://b.test:\(trial.origin.port)/back" }
        let outcome = try await run(trial, ["-H", "X-Token: hush"], bearer: "hush")
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        let requests = trial.origin.requests
        #expect(Set(requests.map(\.path)) == ["/go", "/back", "/there"])
        for request in requests {
            let isHome = request.path != "/back"
            #expect((request.header("Authorization") == "Bearer hush") == isHome)
            #expect((request.header("X-Token") != nil) == isHome)
        }
    }

    /// `--header-cross-origin` sends everything, but credentials in a redirect's URL take
    /// precedence.
    @Test func headerCrossOriginSendsEverything() async throws {
        let place = Guarded("")
        let trial = try trial(place)
        let port = trial.origin.port
        for (target, authorization) in [
            ("http://b.test:\(port)/there", "Basic bWU6aHVzaA=="),
            ("http://x:y@b.test:\(port)/there", "Basic eDp5"),
        ] {
            place.withLock { $0 = target }
            let before = trial.origin.requests.count
            let outcome = try await run(trial, Self.own + ["--header-cross-origin"])
            try outcome.expectComplete(trial.content)
            let requests = trial.origin.requests.dropFirst(before).filter { $0.path == "/there" }
            #expect(!requests.isEmpty)
            for request in requests {
                for field in Self.fields { #expect(request.header(field) != nil, "\(field)") }
                #expect(request.header("Authorization") == authorization)
            }
            #expect(!(outcome.output + outcome.errorOutput).contains("hush"))
        }
        let before = trial.origin.requests.count
        place.withLock { $0 = "http://b.test:\(port)/there" }
        let outcome = try await run(trial, ["--header-cross-origin"], bearer: "hush")
        try outcome.expectComplete(trial.content)
        #expect(
            trial.origin.requests.dropFirst(before)
                .allSatisfy { $0.header("Authorization") == "Bearer hush" })
    }

    /// No request for the first host goes to the address of the redirect's target.
    @Test func addressesAreUsedForTheirHostOnly() async throws {
        let content = Content(size: 3_000_000, seed: 1)
        let (tally, place) = (Tally(), Guarded<String?>(nil))
        let home = try Origin { request in
            if let place = place.withLock({ $0 }) { return .redirect(place) }
            return .file(content, for: request, etag: "\"a\"")
        }
        let cdn = try Origin(address: "127.0.0.2", port: home.port) { request in
            let reply = OriginReply.file(content, for: request, etag: "\"a\"")
            guard request.method == "GET" else { return reply }
            switch tally.add() {
            case 1: return reply.with { $0.cutAfter = 100_000 }
            // The next request prefers the address that has served the right version.
            case 2: return .file(content, for: request, etag: "\"b\"")
            default:
                place.withLock { $0 = nil }
                return .text(403)
            }
        }
        place.withLock { $0 = cdn.url("/there") }
        let sandbox = try Sandbox()
        let outcome = try await Run(
            [home.url("/file"), "-x", "1", "--json", "-v"] + Self.own, in: sandbox.path
        ).ended()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(tally.count() == 3)
        for request in cdn.requests {
            #expect(request.header("Host") == "127.0.0.2:\(cdn.port)")
            Self.expectStrange(request, request.target)
        }
    }

    /// Each mirror is another origin, and receives the credentials in its own URL.
    @Test(arguments: [false, true])
    func mirrorsAreOtherOrigins(crosses: Bool) async throws {
        let trial = try MirrorTrial(3, size: 4_000_000) { $1.pace = 1_000_000 }
        let named = trial.url(2).replacing("http://", with: "http://x:y@")
        let outcome = try await Run(
            [trial.url(0), "--mirror", trial.url(1), "--mirror", named, "--json", "-v"] + Self.own
                + (crosses ? ["--header-cross-origin"] : []), in: trial.sandbox.path
        ).ended()
        try outcome.expectComplete(trial.content)
        for (index, origin) in trial.origins.enumerated() {
            #expect(!origin.requests.isEmpty)
            for request in origin.requests {
                #expect((request.header("X-Token") != nil) == (crosses || index == 0))
                #expect((request.header("Cookie") != nil) == (crosses || index == 0))
                let mine = crosses || index == 0 ? "Basic bWU6aHVzaA==" : nil
                #expect(request.header("Authorization") == (index == 2 ? "Basic eDp5" : mine))
            }
        }
        #expect(!(outcome.output + outcome.errorOutput).contains("hush"))
    }

    /// A CONNECT request has the proxy's credentials and no other secrets.
    @Test func connectRequestHasOnlyProxyCredentials() async throws {
        let proxy = try Origin { _ in .text(403, "no\u{1b}[31m") }
        let sandbox = try Sandbox()
        let outcome = try await Run(
            [
                "https://u:hush@a.test/f?hush", "--proxy", "http://p:q@127.0.0.1:\(proxy.port)",
                "-v", "--retries", "0",
            ] + Self.own, in: sandbox.path
        ).ended()
        #expect(outcome.exitCode == 77, "\(outcome.errorOutput)")
        #expect(!proxy.requests.isEmpty)
        for request in proxy.requests {
            #expect(request.method == "CONNECT" && request.target == "a.test:443")
            #expect(request.header("Proxy-Authorization") == "Basic cDpx")
            for field in Self.fields { #expect(request.header(field) == nil, "\(field)") }
        }
        #expect(!outcome.errorOutput.contains("hush") && !outcome.errorOutput.contains("\u{1b}"))
    }
}

/// The port that a request's `Host` names.
private func port(_ request: OriginRequest) -> String {
    String((request.header("Host") ?? "").reversed().prefix { $0 != ":" }.reversed())
}
