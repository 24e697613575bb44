import Foundation
import TestSupport
import Testing

/// segget prints no control characters that a server, proxy or certificate contains.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct HostileTextTests {
    /// ESC, both forms of CSI, BEL, BS, DEL, and bidirectional controls.
    private static let evil = "e\u{1b}[2Jv\u{9b}31mi\u{7}l\u{8}\u{7f}\u{202e}\u{2066}\u{200f}x"

    /// Expects only printable text and line feeds, in valid UTF-8.
    private func expectPrintable(
        _ outcome: Run.Outcome, _ what: String,
        _ location: SourceLocation = #_sourceLocation
    ) {
        for bytes in [outcome.standardOutput, outcome.standardError] {
            guard let text = String(validating: bytes, as: UTF8.self) else {
                Issue.record("\(what): not UTF-8", sourceLocation: location)
                continue
            }
            let bad = text.unicodeScalars.filter { scalar in
                switch scalar.value {
                case 0x0a: false
                case 0x00...0x1f, 0x7f...0x9f, 0x061c, 0x200e, 0x200f, 0x2028...0x202e,
                    0x2066...0x2069:
                    true
                default: false
                }
            }
            #expect(bad.isEmpty, "\(what): \(text.debugDescription)", sourceLocation: location)
        }
    }

    /// The header fields of a reply, in every command that prints them.
    @Test func printsHeaderFieldsWithoutControls() async throws {
        let evil = Self.evil
        let trial = try WireTrial(size: 200_000) { request, reply in
            let version = request.path == "/changing" ? request.number : 1
            reply.set("ETag", "\"\(evil)\(version)\"")
            reply.set("Last-Modified", evil)
            reply.set("Content-Type", "text/\(evil)")
            reply.set("Content-Disposition", "attachment; filename=\"\(evil).txt\"")
            reply.set("Digest", "sha-256=\(evil)")
            reply.set("Accept-Ranges", request.path == "/head" ? evil : "bytes")
            reply.set("Server", evil)
            reply.reason = evil
        }
        for path in ["/plain", "/head", "/changing"] {
            let url = trial.origin.url(path)
            for arguments in [
                ["probe", url], ["probe", url, "--json"], [url, "--dry-run"], [url, "-v"],
                [url, "--json", "-v", "--xattr"],
            ] {
                let folder = try Sandbox()
                let outcome = try await Run(arguments, in: folder.path).ended()
                // This test does not check whether a changing file completes.
                let isRight = outcome.exitCode == 0 || path == "/changing"
                #expect(isRight, "\(outcome.errorOutput)")
                expectPrintable(outcome, "\(path) \(arguments)")
                // The file's name has no control characters either.
                let names = try folder.names()
                #expect(names.allSatisfy { $0.hasPrefix("e[2Jv31milx.txt") }, "\(names)")
                #expect(!names.isEmpty || !arguments.contains("-v"))
            }
        }
    }

    /// Error replies, redirects, and bytes that are not UTF-8.
    @Test func printsErrorRepliesWithoutControls() async throws {
        let evil = Self.evil
        let raw = Array(evil.utf8) + [0xff, 0xfe, 0x9b, 0x85, 0xc3]
        let trial = try WireTrial(size: 1000) { request, reply in
            reply = OriginReply.text(404).with { $0.reason = evil }
            switch request.path {
            case "/500": reply.status = 500
            case "/ftp": reply = .redirect("ftp://h/\(evil)")
            case "/host": reply = .redirect("http://h\(evil)/")
            case "/path": reply = .redirect("/404/\(evil)")
            case "/coding": reply = .text(200, "x", headers: [.init("Content-Encoding", evil)])
            case "/range":
                reply = .text(206, "x", headers: [.init("Content-Range", "bytes \(evil)/9")])
            case "/later": reply = .text(503, "x", headers: [.init("Retry-After", evil)])
            case "/realm":
                reply = .text(401, "x", headers: [.init("WWW-Authenticate", "Basic \(evil)")])
            case "/bytes":
                let body = Array("\r\nContent-Length: 1\r\n\r\nx".utf8)
                let field = Array("HTTP/1.1 200 OK\r\nContent-Encoding: ".utf8)
                reply = .raw(field + raw + body)
            case "/garbage": reply = .raw(raw + Array("\r\n\r\n".utf8))
            default: break
            }
        }
        for path in [
            "/404", "/500", "/ftp", "/host", "/path", "/coding", "/range", "/later", "/realm",
            "/bytes", "/garbage",
        ] {
            for options in [["-v", "--json"], ["--progress", "plain"]] {
                let outcome = try await Run(
                    [trial.origin.url(path), "--retries", "1"] + options, in: trial.sandbox.path
                ).ended()
                #expect(outcome.exitCode != 0 || path == "/range", "\(path)")
                expectPrintable(outcome, path)
            }
        }
    }

    /// libcurl's message quotes the certificate's subject.
    ///
    /// A proxy chooses its reason phrase and `Proxy-Status`.
    @Test func printsCertificatesAndProxiesWithoutControls() async throws {
        let evil = "evil\u{1b}[31m\u{7}"
        let front = try SecureFront(certificate: .subject(evil)) { _ in .text(404) }
        let sandbox = try Sandbox()
        let outcome = try await Run(
            [front.url("/f"), "--ca-certificate", front.authority, "-v", "--json"],
            in: sandbox.path
        ).ended()
        #expect(outcome.exitCode == 77, "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("not trusted"))
        expectPrintable(outcome, "certificate")
        for status in [403, 407, 502] {
            let proxy = try Origin { _ in
                OriginReply.text(status, Self.evil, headers: [.init("Proxy-Status", Self.evil)])
                    .with { $0.reason = Self.evil }
            }
            for url in ["https://a.test/f", "http://a.test/f"] {
                let outcome = try await Run(
                    [url, "--proxy", proxy.url(""), "-v", "--json", "--retries", "0"],
                    in: sandbox.path
                ).ended()
                #expect(outcome.exitCode == 77 || outcome.exitCode == 69)
                expectPrintable(outcome, "proxy \(status)")
            }
        }
    }

    /// The progress display on a real terminal, with two files.
    @Test func showsNamesOnTerminalWithoutControls() throws {
        let isSeen = Guarded(false)
        let stage = try Stage(size: 2_000_000)
        stage.origin.bend { request, reply in
            reply.set(
                "Content-Disposition",
                "attachment; filename=\"a\u{1b}[35mb\u{9b}35mc\u{7}.txt\"")
            if request.method == "GET" {
                reply.pace = 30_000
                reply.release = isSeen
            }
        }
        let screen = try Screen(
            [try Segget.binary(), stage.origin.url("/file"), stage.origin.url("/g?2")],
            in: stage.folder, width: 100)
        #expect(try eventually { try screen.text().contains("a[35mb35mc") })
        // This sequence would print in magenta.
        #expect(try !screen.history().contains("\u{1b}[35m"))
        isSeen.withLock { $0 = true }
        #expect(try eventually(timeout: 120) { try screen.text().contains("code ") })
        #expect(try stage.names() == ["a[35mb35mc.1.txt", "a[35mb35mc.txt"])
    }

    /// File names that a shell would run, or take for an option.
    @Test(arguments: [
        "$(touch pwned).txt", "`touch pwned`", "a;touch pwned", "a|touch pwned", "&touch pwned",
        "'\"$(touch pwned)'", "--help", "-rf *", "~root", "%s%n", "a\nb",
    ])
    func hooksDoNotRunHostileNames(name: String) throws {
        let stage = try Stage(size: 1000)
        stage.origin.change { offer in
            let coded = name.utf8.map { "%" + String($0, radix: 16).leftPadded }.joined()
            offer.bend = {
                $1.set("Content-Disposition", "attachment; filename*=UTF-8''\(coded)")
            }
        }
        let outcome = try stage.run([
            "--on-complete", "/usr/bin/env touch $(touch pwned) ;touch", "--on-error", "/bin/false",
        ])
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        let names = Set(try stage.names())
        let kept = name.filter { $0 != "\n" }.drop { "-~".contains($0) }
        let expected = String(kept.map { "\"*:<>?|".contains($0) ? "_" : $0 })
        // segget splits the hook's command into words and runs no shell.
        #expect(names == [expected, "$(touch", "pwned)", ";touch"], "\(names)")
    }
}

extension String {
    /// The number, padded to two hexadecimal digits.
    fileprivate var leftPadded: String { count < 2 ? "0" + self : self }
}
