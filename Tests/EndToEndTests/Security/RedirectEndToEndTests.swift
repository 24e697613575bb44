import TestSupport
import Testing

/// Redirects, and the header fields that segget does not send to their targets.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct RedirectEndToEndTests {
    private static func redirect(_ to: String, _ status: Int = 302) -> OriginReply {
        .text(status, "moved", headers: [HeaderField("Location", to)])
    }

    @Test func followsRelativeAndAbsoluteLocations() async throws {
        let trial = try WireTrial { request, content in
            let host = request.header("Host") ?? ""
            return switch request.path {
            case "/start/file.bin": Self.redirect("../b/two")
            case "/b/two": Self.redirect("http://\(host)/c/three?x=1")
            case "/c/three":
                Self.redirect("?x=2")
                    .with { if request.target == "/c/three?x=2" { $0.set("Location", "four/") } }
            case "/c/four/": Self.redirect("//\(host)/d/five.bin")
            case "/d/five.bin": OriginReply.file(content, for: request, etag: "\"a\"")
            default: .text(500)
            }
        }
        let outcome = try await trial.run("-x", "4", path: "/start/file.bin")
        try outcome.expectComplete(trial.content, name: "five.bin")
        let probed = try #require(try outcome.events("probed").first)
        #expect(probed.redirects == 5)
        #expect(probed.finalUrl == trial.origin.url("/d/five.bin"))
        // Segments request the final URL directly.
        #expect(trial.gets.count > 3)
        #expect(trial.gets.allSatisfy { $0.path == "/d/five.bin" })
        #expect(trial.origin.requests.count { $0.path == "/start/file.bin" } == 1)
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func followsEveryRedirectStatus(status: Int) async throws {
        let trial = try WireTrial { request, reply in
            if request.path == "/dir/file.bin" { reply = Self.redirect("/to", status) }
        }
        let outcome = try await trial.run("-o", "file.bin")
        try outcome.expectComplete(trial.content)
        #expect(trial.origin.requests.allSatisfy { ["HEAD", "GET"].contains($0.method) })
    }

    @Test func stopsRedirectLoops() async throws {
        let trial = try WireTrial { request, reply in
            reply = Self.redirect(request.path == "/a" ? "/b" : "/a")
        }
        let outcome = try await trial.run(path: "/a")
        try outcome.expectFailure(code: 69, kind: "too_many_redirects", keepsPart: false)
        #expect(trial.origin.requests.count <= 42)
        #expect(outcome.errorOutput.contains("redirects more than 20 times"))
    }

    /// Each way to set `--max-redirs`.
    ///
    /// Without it, segget follows three redirects.
    @Test(arguments: ["command", "list", "configuration", "environment", "add", "set"])
    func maxRedirsLimitsRedirects(place: String) throws {
        let stage = try QueueStage(size: 10_000)
        stage.origin.bend { request, reply in
            let hop = Int(request.path.dropFirst()) ?? 3
            if hop < 3 { reply = Self.redirect("/\(hop + 1)") }
        }
        let url = stage.origin.url("/0")
        try stage.home.write("list", "\(url)\n max-redirs=2\n")
        try stage.home.write("conf", "max-redirs = 2\n")
        func get(_ arguments: [String], _ environment: [String: String] = [:]) throws
            -> Run.Outcome
        {
            try Run(["get"] + arguments, in: stage.folder, environment: environment)
                .wait(timeout: 300)
        }
        let message = "redirects more than 2 times"
        switch place {
        case "command": #expect(try get(["--max-redirs", "2", url]).errorOutput.contains(message))
        case "list":
            #expect(try get(["-i", stage.home.path("list")]).errorOutput.contains(message))
        case "configuration":
            #expect(
                try get(["--config", stage.home.path("conf"), url]).errorOutput.contains(message))
        case "environment":
            #expect(try get([url], ["SEGGET_MAX_REDIRS": "2"]).errorOutput.contains(message))
        case "add":
            let id = try stage.add("/0", "--max-redirs", "2")
            _ = try stage.run("run")
            #expect(try stage.done("show", id).contains(message))
        case "set":
            let id = try stage.add("/0", "--paused")
            try stage.done("set", id, "--option", "max-redirs=2")
            try stage.done("resume", id)
            _ = try stage.run("run")
            #expect(try stage.done("show", id).contains(message))
        default: Issue.record("there is no case \(place)")
        }
        #expect(try get(["-o", "three", url]).end == .exit(0))
    }

    @Test func followsTwentyRedirects() async throws {
        let trial = try WireTrial { request, reply in
            let hop = Int(request.path.dropFirst()) ?? 0
            if hop < 20 { reply = Self.redirect("/\(hop + 1)") }
        }
        let outcome = try await trial.run("-o", "file.bin", path: "/0")
        try outcome.expectComplete(trial.content)
    }

    @Test(
        arguments: [
            "ftp://127.0.0.1/file", "file:///etc/passwd", "gopher://127.0.0.1:1/", "http://",
            "http://[::bad/", "javascript:alert(1)",
        ])
    func otherSchemesAreNotFollowed(location: String) async throws {
        let trial = try WireTrial { _, reply in reply = Self.redirect(location) }
        let outcome = try await trial.run()
        try outcome.expectFailure(code: 77, kind: "unsafe_redirect", keepsPart: false)
        #expect(trial.origin.requests.count <= 2)
    }

    @Test func failsIfRedirectHasNoLocation() async throws {
        let trial = try WireTrial { _, reply in reply = .text(302) }
        let outcome = try await trial.run()
        try outcome.expectFailure(code: 69, kind: "status", keepsPart: false)
    }

    @Test func refusesRedirectFromHTTPSToHTTP() async throws {
        let content = Content(size: 100_000, seed: 3)
        let root = try Sandbox()
        try content.write(to: root.path("file.bin"))
        let plain = try Origin { .file(content, for: $0, etag: "\"a\"") }
        let nginx = try Nginx(
            root: root.path,
            directives: """
                location = /down { return 302 \(plain.url("/file.bin?token=hush")); }
                location = /same { return 302 /file.bin; }
                """)
        let sandbox = try Sandbox()
        let trust = ["--ca-certificate", nginx.authority, "-v"]
        let outcome = try await Run([nginx.secureURL("/down")] + trust, in: sandbox.path).ended()
        #expect(outcome.exitCode == 77)
        #expect(outcome.errorOutput.contains("less secure: not followed"))
        #expect(!outcome.errorOutput.contains("hush"))
        #expect(plain.requests.isEmpty)
        #expect(try sandbox.names() == [])
        let same = try await Run([nginx.secureURL("/same")] + trust, in: sandbox.path).ended()
        #expect(same.exitCode == 0, "\(same.errorOutput)")
        #expect(try content.firstDifference(at: sandbox.path("file.bin")) == nil)
    }

    /// segget sends the caller's fields and the URL's credentials only to the URL's origin.
    @Test func callersHeadersStayAtTheirOrigin() async throws {
        let trial = try WireTrial()
        let other = trial.origin.url("/there/file.bin")
        let first = try Origin(address: "127.0.0.2") { request in
            request.path == "/hop" ? Self.redirect(other) : Self.redirect("/hop")
        }
        let url = "http://user:secret@127.0.0.2:\(first.port)/file.bin"
        let outcome = try await trial.run("-H", "X-Token: hush", "-H", "Cookie: k=hush", url: url)
        try outcome.expectComplete(trial.content)
        #expect(first.requests.count >= 2)
        for request in first.requests {
            #expect(request.header("X-Token") == "hush")
            #expect(request.header("Cookie") == "k=hush")
            #expect(request.header("Authorization") == "Basic dXNlcjpzZWNyZXQ=")
        }
        for request in trial.origin.requests {
            #expect(request.header("X-Token") == nil)
            #expect(request.header("Cookie") == nil)
            #expect(request.header("Authorization") == nil)
            #expect(request.header("Referer") == nil)
        }
        #expect(!(outcome.output + outcome.errorOutput).contains("hush"))
    }

    @Test func anotherPortIsAnotherOrigin() async throws {
        let trial = try WireTrial()
        let other = trial.origin.url("/file.bin")
        let first = try Origin { _ in Self.redirect(other) }
        let outcome = try await trial.run("-H", "X-Token: hush", url: first.url("/file.bin"))
        try outcome.expectComplete(trial.content)
        #expect(first.requests.allSatisfy { $0.header("X-Token") == "hush" })
        #expect(trial.origin.requests.allSatisfy { $0.header("X-Token") == nil })
    }

    /// This includes requests of segments and after a redirect to the same origin.
    @Test func everyRequestHasCallersHeaders() async throws {
        let trial = try WireTrial { request, reply in
            guard request.header("X-Token") == "hush" else {
                reply = .text(401)
                return
            }
            if request.path == "/dir/file.bin" { reply = Self.redirect("/to/file.bin") }
        }
        let outcome = try await trial.run("-x", "4", "-H", "X-Token: hush")
        try outcome.expectComplete(trial.content)
        #expect(trial.origin.requests.allSatisfy { $0.status != 401 })
    }
}
