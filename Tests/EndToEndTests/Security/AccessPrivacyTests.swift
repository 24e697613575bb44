import TestSupport
import Testing

/// Credentials, header fields and cookies are sent only to the servers that they belong to.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct AccessPrivacyTests {
    private static let fields = ["Authorization", "Cookie", "Referer", "X-Token"]
    private static let own = [
        "-u", "me:hush", "-b", "k=hush; l=m", "--referer", "http://r.example/", "-H",
        "X-Token: hush", "-A", "agent/1",
    ]

    private static func redirect(_ to: String) -> OriginReply {
        .text(302, "moved", headers: [HeaderField("Location", to)])
    }

    @Test(arguments: ["127.0.0.2", "127.0.0.1"])
    func secretsAreNotSentToAnotherOrigin(address: String) async throws {
        let trial = try WireTrial()
        let other = trial.origin.url("/there/file.bin")
        let first = try Origin(address: address) { request in
            request.path == "/hop" ? Self.redirect(other) : Self.redirect("/hop")
        }
        let outcome = try await Run(
            [first.url("/file.bin"), "--json", "-v"] + Self.own, in: trial.sandbox.path
        ).ended()
        try outcome.expectComplete(trial.content)
        #expect(first.requests.count >= 2)
        for request in first.requests {
            #expect(request.header("Authorization") == "Basic bWU6aHVzaA==")
            #expect(request.header("Cookie") == "k=hush; l=m")
            #expect(request.header("Referer") == "http://r.example/")
            #expect(request.header("X-Token") == "hush")
        }
        for request in trial.origin.requests {
            for field in Self.fields where field != "Referer" {
                #expect(request.header(field) == nil, "\(field)")
            }
            // These fields are not secret.
            #expect(request.header("User-Agent") == "agent/1")
            #expect(request.header("Referer") == "http://r.example/")
        }
        #expect(!(outcome.output + outcome.errorOutput).contains("hush"))
    }

    /// This includes the requests of segments, and a second request for the original URL.
    @Test func everyRequestToTheOriginHasAllFields() async throws {
        let trial = try WireTrial { request, reply in
            let host = request.header("Host") ?? ""
            if request.path == "/dir/file.bin" {
                reply = Self.redirect("http://\(host)/to/file.bin")
            } else if request.number == 6 {
                reply = .text(403)
            }
        }
        let outcome = try await Run(
            [trial.origin.url("/dir/file.bin"), "--json", "-v", "-x", "4"] + Self.own,
            in: trial.sandbox.path
        ).ended()
        try outcome.expectComplete(trial.content)
        #expect(try !outcome.notices("resolving_again").isEmpty)
        for request in trial.origin.requests {
            for field in Self.fields { #expect(request.header(field) != nil, "\(field)") }
        }
    }

    /// The redirect is absolute, but leads to the same origin.
    @Test func credentialsOfURLSurviveAbsoluteRedirect() async throws {
        let trial = try WireTrial { request, reply in
            let host = request.header("Host") ?? ""
            if request.path == "/dir/file.bin" {
                reply = Self.redirect("http://\(host)/to/file.bin")
            }
        }
        let outcome = try await trial.run(
            url: "http://me:hush@127.0.0.1:\(trial.origin.port)/dir/file.bin")
        try outcome.expectComplete(trial.content)
        #expect(
            trial.origin.requests.allSatisfy { $0.header("Authorization") == "Basic bWU6aHVzaA==" })
    }

    // MARK: Cookies

    private static func cookieFile(_ lines: [String]) -> String {
        (["# Netscape HTTP Cookie File"] + lines.map { $0.replacing("|", with: "\t") })
            .joined(separator: "\n") + "\n"
    }

    @Test func cookiesOfAFileAreSentToTheirHosts() async throws {
        let trial = try WireTrial()
        let other = trial.origin.url("/dir/file.bin")
        let first = try Origin(address: "127.0.0.2") { _ in Self.redirect(other) }
        let text = Self.cookieFile([
            "127.0.0.1|FALSE|/|FALSE|4102444800|one|1", "127.0.0.2|FALSE|/|FALSE|0|two|2",
            "#HttpOnly_127.0.0.1|FALSE|/dir|FALSE|4102444800|three|3",
            "127.0.0.2|FALSE|/|TRUE|4102444800|secure|4", "127.0.0.1|FALSE|/else|FALSE|0|else|5",
            "127.0.0.1|FALSE|/|FALSE|1000000000|expired|6", "example.org|FALSE|/|FALSE|0|far|7",
        ])
        let file = try Sandbox()
        let outcome = try await trial.run(
            "--cookie", try file.write("cookies", text), "-b", "typed=8", "-x", "4",
            url: first.url("/f"))
        try outcome.expectComplete(trial.content)
        for request in first.requests {
            #expect(Self.cookies(request) == ["two=2", "typed=8"])
        }
        #expect(trial.gets.count > 2)
        for request in trial.origin.requests {
            #expect(Self.cookies(request) == ["one=1", "three=3"])
        }
        // segget does not write to the file of `--cookie`.
        #expect(String(decoding: try file.read("cookies"), as: UTF8.self) == text)
    }

    /// The site sets a cookie in a redirect, and the file's URL requires that cookie.
    @Test func sendsCookiesThatRedirectsSet() async throws {
        let trial = try WireTrial { request, reply in
            if request.path == "/login" {
                reply = Self.redirect("/dir/file.bin")
                reply.headers.append(HeaderField("Set-Cookie", "ticket=\(request.number); Path=/"))
            } else if !Self.cookies(request).contains(where: { $0.hasPrefix("ticket=") }) {
                reply = .text(403)
            }
        }
        let file = try Sandbox()
        let outcome = try await trial.run(
            "--cookie", try file.write("cookies", Self.cookieFile([])), "-o", "file.bin",
            path: "/login")
        try outcome.expectComplete(trial.content)
        let usual = try await trial.run("-o", "file.bin", "--overwrite", path: "/login")
        try usual.expectComplete(trial.content)
        let without = try await trial.run("-o", "other", "--no-cookies", path: "/login")
        #expect(without.exitCode == 77)
    }

    private static func cookies(_ request: OriginRequest) -> [String] {
        (request.header("Cookie") ?? "").split(separator: ";")
            .map { String($0.drop { $0 == " " }) }.sorted()
            .sorted { !$0.hasPrefix("typed") && $1.hasPrefix("typed") }
    }
}
