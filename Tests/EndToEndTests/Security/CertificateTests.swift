import Foundation
import Glibc
import TestSupport
import Testing

/// segget checks the certificate of every origin, redirect target, mirror and proxy.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct CertificateTests {
    private static let content = Content(size: 1_000_000, seed: 8)
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    private func front(
        _ certificate: TestCertificate = .right, directives: String = "",
        _ answer: Origin.Handler? = nil
    ) throws -> SecureFront {
        try SecureFront(
            certificate: certificate, directives: directives,
            answer ?? { .file(Self.content, for: $0, etag: "\"a\"") })
    }

    /// Returns `--ca-certificate` with a file that holds the authorities of all `fronts`.
    private func trust(_ fronts: SecureFront...) throws -> [String] {
        let text = try fronts.map { try String(contentsOfFile: $0.authority, encoding: .utf8) }
        let path = "\(sandbox.path)-trust.pem"
        try Data(text.joined().utf8).write(to: URL(fileURLWithPath: path))
        return ["--ca-certificate", path]
    }

    private func run(_ arguments: [String]) async throws -> Run.Outcome {
        try await Run(arguments + ["-v", "--json"], in: sandbox.path).ended()
    }

    private func expectUntrusted(
        _ outcome: Run.Outcome, _ front: SecureFront,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let text = Comment(rawValue: outcome.errorOutput)
        #expect(outcome.exitCode == 77, text, sourceLocation: location)
        #expect(try outcome.events().last?.kind == "untrusted", text, sourceLocation: location)
        // The server received no request.
        #expect(front.origin.requests.isEmpty, sourceLocation: location)
    }

    private static let wrong: [TestCertificate] = [.selfSigned, .otherHost, .expired, .notYetValid]

    /// The wrong certificate is that of the origin, of a redirect's target and of a mirror.
    @Test(arguments: wrong)
    func wrongCertificatesAreRefused(kind: TestCertificate) async throws {
        let bad = try front(kind)
        let url = bad.url("/file.bin")
        let direct = try await run([url] + trust(bad))
        try expectUntrusted(direct, bad)
        #expect(!direct.errorOutput.contains("retrying"))
        let good = try front { request in
            guard request.path != "/to" else { return .redirect(url) }
            // Delays the file, so that segget tries the mirror before the last byte.
            return .file(Self.content, for: request, etag: "\"a\"").with {
                if request.method == "GET" { $0.delayBeforeHeaders = 2 }
            }
        }
        try expectUntrusted(try await run([good.url("/to")] + trust(bad, good)), bad)
        let mirrored = try await run([good.url("/file.bin"), "--mirror", url] + trust(bad, good))
        #expect(mirrored.exitCode == 0, "\(mirrored.errorOutput)")
        #expect(try mirrored.notices("mirror_dropped").first?.reason == "untrusted")
        #expect(bad.origin.requests.isEmpty)
        #expect(try Self.content.firstDifference(at: sandbox.path("file.bin")) == nil)
    }

    /// A run that does not trust the server's authority sends no request and keeps the part.
    @Test func resumingNeedsTrustedAuthority() async throws {
        let isWhole = Guarded(false)
        let server = try front { request in
            var reply = OriginReply.file(Self.content, for: request, etag: "\"a\"")
            if request.method == "GET", !isWhole.withLock({ $0 }) { reply.cutAfter = 100_000 }
            return reply
        }
        let other = try front()
        try expectUntrusted(try await run([server.url("/file.bin")] + trust(other)), server)
        try expectUntrusted(try await run([server.url("/file.bin")]), server)
        let first = try await run([server.url("/file.bin"), "--retries", "0"] + trust(server))
        #expect(first.exitCode == 69, "\(first.errorOutput)")
        let kept = try #require(try first.events().last?.bytesKept)
        #expect(kept > 0)
        isWhole.withLock { $0 = true }
        let before = server.origin.requests.count
        let second = try await run([server.url("/file.bin")] + trust(other))
        #expect(second.exitCode == 77, "\(second.errorOutput)")
        #expect(server.origin.requests.count == before)
        #expect(try sandbox.names() == ["file.bin.part", "file.bin.segget"])
        let third = try await run([server.url("/file.bin")] + trust(server))
        #expect(third.exitCode == 0, "\(third.errorOutput)")
        #expect(try third.events("finished").first?.bytesResumed == kept)
    }

    /// segget checks the certificate of an https proxy, even with `--insecure`.
    @Test(arguments: [TestCertificate.selfSigned, .otherHost, .expired])
    func wrongProxyCertificatesAreRefused(kind: TestCertificate) async throws {
        let proxy = try front(kind)
        let trial = try WireTrial(size: 1000)
        for options in [[], ["--insecure"]] {
            let outcome = try await run(
                [
                    trial.origin.url("/file.bin"), "--proxy",
                    "https://me:hush@127.0.0.1:\(proxy.nginx.securePort)",
                ] + trust(proxy) + options)
            try expectUntrusted(outcome, proxy)
            #expect(trial.origin.requests.isEmpty)
            #expect(!outcome.errorOutput.contains("hush"))
        }
    }

    /// segget refuses a server that has only TLS 1.1 and earlier, and reports why.
    @Test func refusesServersWithOnlyOldTLS() async throws {
        let old = try front(
            directives: "ssl_protocols TLSv1 TLSv1.1; ssl_ciphers DEFAULT@SECLEVEL=0;")
        for options in [[], ["--insecure"], ["--tls-min", "1.3"]] {
            let outcome = try await run([old.url("/file.bin")] + trust(old) + options)
            #expect(outcome.exitCode == 69, "\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains("no version of TLS that is accepted"))
            #expect(try outcome.notices("retrying").isEmpty)
            #expect(old.origin.requests.isEmpty)
        }
    }

    /// segget sends the host name in the TLS handshake (SNI).
    ///
    /// An IP address is not sent, so the server answers 404.
    @Test func sendsServerNameIndication() async throws {
        let server = try front(directives: "if ($ssl_server_name != localhost) { return 404; }")
        let named = "https://localhost:\(server.nginx.securePort)/file.bin"
        let outcome = try await run([named, "-4"] + trust(server))
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        let numeric = try await run([server.url("/other.bin")] + trust(server))
        #expect(numeric.exitCode == 69, "\(numeric.errorOutput)")
    }
}
