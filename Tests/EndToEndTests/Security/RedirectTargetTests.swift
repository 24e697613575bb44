import TestSupport
import Testing

/// Unusual and hostile values of `Location`, and injected header fields.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct RedirectTargetTests {
    /// segget requests none of these targets.
    @Test func refusesTargetsThatAreNotHTTPURLs() async throws {
        let place = Guarded("")
        let trial = try WireTrial(size: 1000) { _, reply in
            reply = .redirect(place.withLock { $0 })
        }
        let targets = [
            "data:text/plain,hush", "mailto:a@b.example", "ldap://h/hush", "smb://h/hush",
            "file://localhost/etc/passwd", "FILE:///etc/passwd", "scp://u:hush@h/x",
            "dict://h:11211/hush", "ws://h/hush", "unix:/run/hush", "http://h:65536/?hush",
            "http://h:-1/?hush", "http://h:99999999999999999999/", "http://h:80x/?hush",
            "http://[::1/?hush", "http://[::1]x/?hush", "http://[v1.x]/", "http://a b/?hush",
            "http://a\u{7f}b/?hush", "http://a\u{1b}[31mb/?hush", "http:///", "http://:80/",
            "http://u:hush%0a@h/", "http://%00/", "http://a%0d%0ab/", "http://a<b>/?hush",
            "/x\u{1b}[31m?hush", "//", "https://:hush@/",
        ]
        for target in targets {
            place.withLock { $0 = target }
            let before = trial.origin.requests.count
            let outcome = try await trial.run("--retries", "0", "--connect-timeout", "5")
            try outcome.expectFailure(code: 77, kind: "unsafe_redirect", keepsPart: false)
            #expect(trial.origin.requests.count - before <= 2, "\(target)")
            let shown = outcome.output + outcome.errorOutput
            #expect(!shown.contains("hush") && !shown.contains("\u{1b}"), "\(target)")
        }
    }

    /// segget requests these at the same server, with line breaks and spaces percent-encoded.
    @Test func sendsAcceptedTargetsEncoded() async throws {
        let place = Guarded("")
        let trial = try WireTrial(size: 1000) { request, reply in
            if request.path == "/go" { reply = .redirect(place.withLock { $0 }) }
        }
        let port = trial.origin.port
        let targets =
            [
                ("/x%0d%0aX-Injected:%201", "/x%0d%0aX-Injected:%201"),
                ("/x?a=%0D%0AX-Injected:1#%0A", "/x?a=%0D%0AX-Injected:1"),
                ("/a b", "/a%20b"), ("/ü?ü", "/%c3%bc?%c3%bc"), ("/a/../../../x", "/x"),
                ("/%2e%2e/x", nil), ("\\\\127.0.0.2\\x", nil), ("/\\127.0.0.2/x", nil),
                ("http:\\\\127.0.0.2/x", nil), ("javascript:alert(1)", nil), ("?q", "/go?q"),
                ("//u:p@127.0.0.1:\(port)/x", "/x"), ("http://127.1:\(port)/x", "/x"),
                ("http://0x7f.1:\(port)/x", "/x"),
                ("http://127.0.0.2:80@127.0.0.1:\(port)/x", "/x"),
                ("http:x", nil),
            ] as [(String, String?)]
        for (target, expected) in targets {
            place.withLock { $0 = target }
            let before = trial.origin.requests.count
            let outcome = try await trial.run(
                "-o", "file.bin", "--overwrite", "--retries", "0", "--connect-timeout", "5",
                path: "/go")
            let requests = trial.origin.requests.dropFirst(before)
            if let expected {
                if target != "?q" { try outcome.expectComplete(trial.content) }
                #expect(
                    requests.contains { $0.target.lowercased() == expected.lowercased() },
                    "\(target): \(requests.map(\.target))")
            } else {
                #expect(outcome.exitCode == 0 || outcome.exitCode == 77, "\(target)")
            }
            for request in requests {
                #expect(request.header("X-Injected") == nil, "\(target)")
                #expect(request.header("Host") == "127.0.0.1:\(port)", "\(target)")
                #expect(request.target.utf8.allSatisfy { (33...126).contains($0) }, "\(target)")
            }
        }
    }

    /// Encoded line breaks in the command line's URL stay encoded.
    ///
    /// segget refuses raw ones before the first request.
    @Test func lineBreaksInURLInjectNothing() async throws {
        let trial = try WireTrial(size: 1000)
        let outcome = try await trial.run(
            "-o", "file.bin", path: "/f%0d%0aX-Injected:%201?q=%0d%0aX-Injected:1")
        try outcome.expectComplete(trial.content)
        for request in trial.origin.requests {
            #expect(request.target == "/f%0d%0aX-Injected:%201?q=%0d%0aX-Injected:1")
            #expect(request.header("X-Injected") == nil)
        }
        let before = trial.origin.requests.count
        for url in ["/f\r\nX-Injected: 1", "/f?q=\nX-Injected: 1", "/f\u{0b}", "/\u{7f}"] {
            let refused = try await trial.run(path: url)
            #expect(refused.exitCode == 64, "\(refused.errorOutput)")
        }
        #expect(trial.origin.requests.count == before)
    }

    /// No option, list or configuration file adds a second header field to a request.
    @Test func headerInjectionIsRefused() async throws {
        let trial = try WireTrial(size: 1000)
        let list = try Sandbox()
        let options: [[String]] = [
            ["-H", "X: a\r\nX-Injected: 1"], ["-H", "X: a\nX-Injected: 1"], ["-H", "X : a"],
            ["-H", ": a"], ["-H", "X"], ["-H", " X: a"], ["-H", "X\r\n: a"], ["-H", "X: a\u{1}"],
            ["-H", "Range: bytes=0-1"], ["-u", "a\nX-Injected: 1:b"], ["-u", "a:b\r\nX: 1"],
            ["-b", "k=v\r\nX-Injected: 1"], ["--referer", "http://a/\r\nX-Injected: 1"],
            ["-A", "a\nX-Injected: 1"], ["--proxy", "http://a\r\nX-Injected: 1/"],
        ]
        for option in options {
            let outcome = try await trial.run("--retries", "0", option[0], option[1])
            #expect(outcome.exitCode == 64, "\(option): \(outcome.errorOutput)")
        }
        let settings = [
            "header=X: a\u{b}b", "header=X : a", "referer=a\u{1}", "http-user=a:b\u{7f}",
            "user-agent=a\rX-Injected: 1",
        ]
        for setting in settings {
            let file = try list.write("list", "\(trial.origin.url("/f"))\n  \(setting)\n")
            let outcome = try await Run(["-i", file], in: trial.sandbox.path).ended()
            #expect(outcome.exitCode == 64, "\(setting): \(outcome.errorOutput)")
        }
        let file = try list.write("config", "header = \"X: a\rX-Injected: 1\"\n")
        let configured = try await trial.run("--config", file)
        #expect(configured.exitCode == 64, "\(configured.errorOutput)")
        #expect(trial.origin.requests.isEmpty)
        #expect(try trial.sandbox.names() == [])
    }

    /// Twenty targets of 60,000 bytes, one after the other, do not increase memory use.
    @Test func longTargetsNeedLittleMemory() async throws {
        let long = String(repeating: "a", count: 60_000)
        let trial = try WireTrial(size: 1000) { request, reply in
            let hop = Int(request.path.split(separator: "/").first ?? "") ?? 0
            reply.set("Digest", String(repeating: "x=1,", count: 15_000))
            if hop < 20 { reply = .redirect("/\(hop + 1)/f?\(long)") }
        }
        let outcome = try await trial.run("-o", "file.bin", path: "/0")
        try outcome.expectComplete(trial.content)
        #expect(outcome.peakMemory < Segget.mostMemory(64 << 20), "\(outcome.peakMemory)")
        #expect(!outcome.output.contains("aaaa"))
    }
}
