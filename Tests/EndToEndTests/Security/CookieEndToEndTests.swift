import TestSupport
import Testing

/// Cookies that servers set during a download.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct CookieEndToEndTests {
    /// The cookies of a request.
    static func cookies(_ request: OriginRequest) -> Set<String> {
        Set(
            (request.header("Cookie") ?? "").split(separator: ";")
                .map { String($0.drop { $0 == " " }) })
    }

    private static func redirect(_ to: String, _ cookies: String...) -> OriginReply {
        .text(
            302, "moved",
            headers: [HeaderField("Location", to)] + cookies.map { HeaderField("Set-Cookie", $0) })
    }

    /// Options that resolve the test's host names to the one server, without DNS.
    private static func resolve(_ port: UInt16) -> [String] {
        ["a.test", "sub.a.test", "b.test", "c.test"].flatMap {
            ["--resolve", "\($0):\(port):127.0.0.1"]
        }
    }

    private static func host(_ request: OriginRequest) -> String {
        String((request.header("Host") ?? "").prefix { $0 != ":" })
    }

    /// The server redirects until it receives its cookie.
    ///
    /// The cases are segments, a truncated reply, and one stream.
    @Test(arguments: [["-x", "6"], ["-x", "1"], [], ["-o", "-"]])
    func followsRedirectToItselfThatSetsCookie(options: [String]) async throws {
        let trial = try WireTrial { request, reply in
            if !Self.cookies(request).contains("seen=1") {
                reply = Self.redirect("/dir/file.bin", "seen=1; Path=/; HttpOnly")
            } else if request.number == 6 {
                reply.cutAfter = 100_000
            }
        }
        guard options != ["-o", "-"] else {
            let piped = try PipedSegget([trial.origin.url("/dir/file.bin")] + options, in: "/tmp")
            let bytes = try piped.readToEnd()
            #expect(Int64(bytes.count) == trial.content.size)
            #expect(trial.content.matches(bytes, in: 0..<trial.content.size))
            return
        }
        let outcome = try await Run(
            [trial.origin.url("/dir/file.bin"), "--json", "-v"] + options, in: trial.sandbox.path
        ).ended()
        try outcome.expectComplete(trial.content)
        trial.origin.hearOut()
        let requests = trial.origin.requests
        // Only requests that began before the first cookie arrived lack it.
        #expect(requests.count { Self.cookies($0).isEmpty } <= 2)
        #expect(requests.allSatisfy { Self.cookies($0).isSubset(of: ["seen=1"]) })
        #expect(!(outcome.output + outcome.errorOutput).contains("seen"))
    }

    /// Without cookies the redirect loops, and segget stops it.
    @Test func stopsRedirectLoopsWithAndWithoutCookies() async throws {
        let trial = try WireTrial { request, reply in
            reply = Self.redirect("/dir/file.bin", "seen\(request.number)=1; Path=/")
        }
        let outcome = try await trial.run("--no-cookies")
        try outcome.expectFailure(code: 69, kind: "too_many_redirects", keepsPart: false)
        #expect(trial.origin.requests.allSatisfy { Self.cookies($0).isEmpty })
        let before = trial.origin.requests.count
        #expect(before <= 70)
        // A server that sets a new cookie with each redirect is a loop too.
        let again = try await trial.run()
        try again.expectFailure(code: 69, kind: "too_many_redirects", keepsPart: false)
        #expect(trial.origin.requests.count - before <= 70)
    }

    /// The file's host redirects to a consent page on another host, which redirects back.
    @Test func followsConsentPageOnAnotherHost() async throws {
        let trial = try WireTrial { request, reply in
            let port = (request.header("Host") ?? "").split(separator: ":").last ?? ""
            switch (Self.host(request), request.path) {
            case ("c.test", _):
                reply = Self.redirect("http://a.test:\(port)/grant", "consent=c; Path=/")
            case (_, "/grant"): reply = Self.redirect("/dir/file.bin", "granted=a; Path=/")
            default:
                guard !Self.cookies(request).contains("granted=a") else { return }
                reply = Self.redirect("http://c.test:\(port)/ask")
            }
        }
        let port = trial.origin.port
        let outcome = try await Run(
            ["http://a.test:\(port)/dir/file.bin", "--json", "-v", "-x", "4"] + Self.resolve(port),
            in: trial.sandbox.path
        ).ended()
        try outcome.expectComplete(trial.content)
        let asked = trial.origin.requests.filter { Self.host($0) == "c.test" }
        #expect(!asked.isEmpty)
        #expect(asked.allSatisfy { Self.cookies($0).isSubset(of: ["consent=c"]) })
        for request in trial.origin.requests where Self.host(request) == "a.test" {
            #expect(Self.cookies(request).isSubset(of: ["granted=a"]))
        }
    }

    /// segget sends each cookie only where its `Path`, `Domain` and `Secure` allow (RFC 6265).
    @Test func cookiesObeyTheirAttributes() async throws {
        let place = Guarded("")
        let trial = try WireTrial(size: 100_000) { request, reply in
            guard request.path == "/go" else { return }
            let host = Self.host(request)
            reply = Self.redirect(
                place.withLock { $0 }, "host=1; Path=/", "all=1; Path=/; Domain=a.test",
                "other=1; Path=/; Domain=b.test", "suffix=1; Path=/; Domain=test",
                "deep=1; Path=/deep", "secure=1; Path=/; Secure", "gone=1; Path=/; Max-Age=0",
                "sub=1; Path=/; Domain=sub.\(host)")
        }
        let port = trial.origin.port
        for (target, expected) in [
            ("http://a.test:\(port)/there", ["host=1", "all=1"]),
            ("http://a.test:\(port)/deep/there", ["host=1", "all=1", "deep=1"]),
            ("http://sub.a.test:\(port)/there", ["all=1"]),
            ("http://b.test:\(port)/there", []), ("http://127.0.0.1:\(port)/there", []),
        ] as [(String, Set<String>)] {
            place.withLock { $0 = target }
            let before = trial.origin.requests.count
            let outcome = try await Run(
                ["http://a.test:\(port)/go", "-o", "file.bin", "--overwrite", "--json", "-v"]
                    + Self.resolve(port), in: trial.sandbox.path
            ).ended()
            try outcome.expectComplete(trial.content)
            let requests = trial.origin.requests.dropFirst(before)
                .filter { $0.path.hasSuffix("there") }
            #expect(!requests.isEmpty)
            for request in requests { #expect(Self.cookies(request) == expected, "\(target)") }
        }
    }

    /// Cookies of servers are added to the given ones, or replace those of the same name.
    ///
    /// They are not saved.
    @Test func serverCookiesAreAddedToGivenOnes() async throws {
        let trial = try WireTrial { request, reply in
            guard !Self.cookies(request).contains("b=set") else { return }
            reply = Self.redirect("/dir/file.bin", "b=set; Path=/")
        }
        let text =
            "127.0.0.1\tFALSE\t/\tFALSE\t0\ta\tfile\n127.0.0.1\tFALSE\t/\tFALSE\t0\tb\tfile\n"
        let files = try Sandbox()
        let file = try files.write("cookies", text)
        for _ in 0..<2 {
            let before = trial.origin.requests.count
            let outcome = try await trial.run(
                "--cookie", file, "-b", "c=text", "-x", "4", "--overwrite")
            try outcome.expectComplete(trial.content)
            let requests = trial.origin.requests.dropFirst(before)
            #expect(Self.cookies(requests[before]) == ["a=file", "b=file", "c=text"])
            let later = requests.filter { Self.cookies($0) == ["a=file", "b=set", "c=text"] }
            #expect(later.count >= requests.count - 2)
        }
        #expect(String(decoding: try files.read("cookies"), as: UTF8.self) == text)
        // `--no-cookies` still sends the cookies of `--cookie`.
        let outcome = try await trial.run("--cookie", file, "--no-cookies", "--overwrite")
        #expect(outcome.exitCode == 69)
        #expect(Self.cookies(try #require(trial.origin.requests.last)) == ["a=file", "b=file"])
    }

    /// The cookie expires midway, and the original URL sets a new one.
    @Test func renewsExpiredCookie() async throws {
        let valid = Guarded(1)
        let trial = try WireTrial { request, reply in
            let ticket = valid.withLock { $0 }
            if request.path == "/dir/file.bin" {
                reply = Self.redirect("/real/file.bin", "ticket=\(ticket); Path=/")
            } else if !Self.cookies(request).contains("ticket=\(ticket)") {
                reply = .text(403)
            } else if request.method == "GET", ticket == 1 {
                valid.withLock { $0 = 2 }
                reply.cutAfter = 100_000
            }
        }
        let outcome = try await trial.run("-x", "4")
        try outcome.expectComplete(trial.content)
        #expect(try !outcome.notices("resolving_again").isEmpty)
        #expect(trial.origin.requests.allSatisfy { Self.cookies($0).count <= 1 })
    }

    // MARK: Isolation

    /// Files of a list share cookies only with the same user, header fields and cookie file.
    @Test(arguments: [20_000, 600_000] as [Int64])
    func filesWithOtherCredentialsShareNoCookies(size: Int64) async throws {
        let trial = try WireTrial(size: size) { request, reply in
            let group = String(request.path.dropFirst().prefix { $0 != "." })
            let own = Self.cookies(request).filter { $0.hasPrefix("group") }
            if own.isEmpty { reply = Self.redirect(request.path, "group=\(group); Path=/") }
        }
        let files = try Sandbox()
        let jar = try files.write("jar", "127.0.0.1\tFALSE\t/\tFALSE\t0\ta\tfile\n")
        let options = [
            "plain": "", "me": " http-user=me\n http-passwd=1\n",
            "you": " http-user=me\n http-passwd=2\n", "header": " header=X-Key: 1\n",
            "other": " header=X-Key: 2\n", "file": " load-cookies=\(jar)\n",
            "agent": " user-agent=x\n",
        ]
        let items = options.sorted { $0.key < $1.key }
        let lines = (1...4).flatMap { number in
            items.map { trial.origin.url("/\($0.key).\(number)") + "\n\($0.value)" }
        }
        let outcome = try await Run(
            ["-i", try files.write("list", lines.joined()), "-q"], in: trial.sandbox.path
        ).ended()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try trial.sandbox.names().count == 4 * options.count)
        for request in trial.origin.requests {
            let group = String(request.path.dropFirst().prefix { $0 != "." })
            let expected: Set = group == "file" ? ["group=file", "a=file"] : ["group=\(group)"]
            #expect(Self.cookies(request).isSubset(of: expected), "\(request.path)")
        }
        for (group, _) in items {
            let asked = trial.origin.requests.filter { $0.path.hasPrefix("/\(group).") }
            #expect(asked.contains { Self.cookies($0).contains("group=\(group)") }, "\(group)")
        }
    }

    /// Cookies set over https are not sent over http, even for another file.
    ///
    /// Cookies set over http are also sent over https.
    @Test func cookiesOfHTTPSAreNotSentOverHTTP() async throws {
        let content = Content(size: 20_000, seed: 3)
        let plain = try Origin { request in
            guard Self.cookies(request).contains("plain=1") else {
                return Self.redirect(request.path, "plain=1; Path=/")
            }
            return .file(content, for: request, etag: "\"a\"")
        }
        let front = try SecureFront { request in
            guard Self.cookies(request).contains("hush=1") else {
                return Self.redirect(request.path, "hush=1; Path=/")
            }
            return .file(content, for: request, etag: "\"a\"")
        }
        let sandbox = try Sandbox()
        let secure = front.url("/s")
        let host = secure.dropFirst("https://".count).prefix { $0 != ":" }
        let port = plain.port
        let urls = (1...12).flatMap { ["\(secure)\($0)", "http://\(host):\(port)/p\($0)"] }
        let outcome = try await Run(
            urls + [
                "-j", "1", "-q", "--ca-certificate", front.authority, "--resolve",
                "\(host):\(port):127.0.0.1",
            ], in: sandbox.path
        ).ended()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try sandbox.names().count == 24)
        for request in plain.requests {
            #expect(Self.cookies(request).isSubset(of: ["plain=1"]))
        }
        let later = try #require(front.origin.requests.last)
        #expect(Self.cookies(later) == ["hush=1", "plain=1"])
    }

    /// A host sets no cookie for the host of another file, nor for a public suffix.
    @Test func hostsCannotSetCookiesForOtherHosts() async throws {
        let trial = try WireTrial(size: 20_000) { request, reply in
            let host = Self.host(request)
            guard host == "a.test", Self.cookies(request).isEmpty else { return }
            reply = Self.redirect(
                request.path, "host=1; Path=/", "evil=1; Path=/; Domain=b.test",
                "suffix=1; Path=/; Domain=test", "sub=1; Path=/; Domain=sub.a.test")
        }
        let port = trial.origin.port
        let urls = ["a.test", "b.test", "sub.a.test", "c.test"].map { "http://\($0):\(port)/\($0)" }
        let outcome = try await Run(
            urls + ["-j", "1", "-q"] + Self.resolve(port), in: trial.sandbox.path
        ).ended()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        for request in trial.origin.requests {
            let expected: Set = Self.host(request) == "a.test" ? ["host=1"] : []
            #expect(Self.cookies(request).isSubset(of: expected), "\(Self.host(request))")
        }
    }

    /// A mirror on another host receives only the cookies that it set.
    @Test func mirrorsReceiveOnlyTheirCookies() async throws {
        let content = Content(size: 8_000_000, seed: 1)
        let origins = try ["127.0.0.1", "127.0.0.2"].enumerated().map { number, address in
            try Origin(address: address) { request in
                guard Self.cookies(request).contains("n=\(number)") else {
                    return Self.redirect("/file.bin", "n=\(number); Path=/")
                }
                return .file(content, for: request, etag: "\"a\"").with { $0.pace = 2_000_000 }
            }
        }
        let sandbox = try Sandbox()
        let outcome = try await Run(
            [origins[0].url("/file.bin"), "--mirror", origins[1].url("/file.bin"), "--json", "-v"],
            in: sandbox.path
        ).ended()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try content.firstDifference(at: sandbox.path("file.bin")) == nil)
        for (number, origin) in origins.enumerated() {
            #expect(origin.requests.contains { !Self.cookies($0).isEmpty })
            for request in origin.requests {
                #expect(Self.cookies(request).isSubset(of: ["n=\(number)"]))
            }
        }
    }

    /// After a redirect from https to http, the http server receives no cookie of https.
    ///
    /// It cannot replace one either.
    @Test func downgradeSeparatesCookies() async throws {
        let content = Content(size: 100_000, seed: 3)
        let place = Guarded("")
        let middle = try Origin { request in
            guard Self.cookies(request).contains("down=1") else {
                return Self.redirect("/hop", "down=1; Path=/", "up=stolen; Path=/")
            }
            return .file(content, for: request, etag: "\"a\"")
        }
        place.withLock { $0 = middle.url("/hop") }
        let front = try SecureFront { _ in
            Self.redirect(
                place.withLock { $0 }, "up=hush; Path=/", "safe=hush; Path=/; Secure")
        }
        let sandbox = try Sandbox()
        let outcome = try await Run(
            [
                front.url("/file.bin"), "-o", "file.bin", "--allow-downgrade", "-v",
                "--ca-certificate", front.authority,
            ], in: sandbox.path
        ).ended()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try content.firstDifference(at: sandbox.path("file.bin")) == nil)
        for request in middle.requests {
            #expect(Self.cookies(request).isSubset(of: ["down=1", "up=stolen"]))
        }
        for request in front.origin.requests {
            #expect(Self.cookies(request).isSubset(of: ["up=hush", "safe=hush"]))
        }
        #expect(!outcome.errorOutput.contains("hush"))
    }
}
