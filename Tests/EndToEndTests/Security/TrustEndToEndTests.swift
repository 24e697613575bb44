import Foundation
import TestSupport
import Testing

/// The authorities that segget trusts without `--ca-certificate`, and its messages without any.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct TrustEndToEndTests {
    /// Clears variables that the environment of the tests may set.
    private static let clean = ["CURL_CA_BUNDLE": "", "SSL_CERT_FILE": "", "SSL_CERT_DIR": ""]
    private static let content = Content(size: 300_000, seed: 8)

    private func front(_ certificate: TestCertificate = .right) throws -> SecureFront {
        try SecureFront(certificate: certificate) { .file(Self.content, for: $0, etag: "\"a\"") }
    }

    private func run(
        _ front: SecureFront, _ environment: [String: String], _ options: String...
    ) throws -> (Run.Outcome, [String]) {
        let sandbox = try Sandbox()
        let outcome = try Run(
            [front.url("/f.bin"), "--retries", "0"] + options, in: sandbox.path,
            environment: Self.clean.merging(environment) { $1 }
        ).wait()
        return (outcome, try sandbox.names())
    }

    @Test(arguments: ["CURL_CA_BUNDLE", "SSL_CERT_FILE"])
    func variableNamesCertificateFile(variable: String) throws {
        let front = try front()
        #expect(try run(front, [:]).0.end == .exit(77))
        let (outcome, names) = try run(front, [variable: front.authority])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(names == ["f.bin"])
        // `--ca-certificate` overrides the variable.
        let stranger = try self.front()
        let (other, _) = try run(
            front, [variable: front.authority], "--ca-certificate", stranger.authority)
        #expect(other.end == .exit(77), "\(other.errorOutput)")
        let (missing, _) = try run(front, [variable: "/nonexistent/ca.pem"])
        #expect(missing.end == .exit(64), "\(missing.errorOutput)")
        for word in ["`/nonexistent/ca.pem`", "`\(variable)`"] {
            #expect(missing.errorOutput.contains(word), "\(missing.errorOutput)")
        }
    }

    @Test func variableNamesCertificateFolder() throws {
        let (front, folder) = (try front(), try Sandbox())
        try folder.write(
            "ca.pem", String(contentsOfFile: front.authority, encoding: .utf8))
        let hash = try Run("/usr/bin/openssl", ["rehash", folder.path]).wait()
        #expect(hash.end == .exit(0), "\(hash.errorOutput)")
        let (outcome, _) = try run(front, ["SSL_CERT_DIR": folder.path])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
    }

    @Test(arguments: [TestCertificate.expired, .notYetValid])
    func certificateDateErrorMentionsClock(kind: TestCertificate) throws {
        let front = try front(kind)
        let (outcome, _) = try run(front, ["SSL_CERT_FILE": front.authority])
        #expect(
            outcome.end == .exit(77) && outcome.errorOutput.contains("clock"),
            "\(outcome.errorOutput)")
    }

    /// In a mount namespace whose /etc/ssl is empty.
    @Test func reportsMissingSystemCertificates() throws {
        let (front, sandbox) = (try front(), try Sandbox())
        let outcome = try Run(
            "/usr/bin/unshare",
            [
                "-m", "/bin/sh", "-c",
                #"mount -t tmpfs none /etc/ssl && exec "$0" --no-config "$@""#,
                try Segget.binary(), front.url("/f.bin"),
            ], in: sandbox.path,
            environment: Self.clean.merging(
                ["HOME": "/nonexistent", "XDG_STATE_HOME": "/dev/null/x"]
            ) { $1 }
        ).wait(timeout: 120)
        #expect(outcome.end == .exit(64), "\(outcome.errorOutput)")
        for word in ["/etc/ssl/certs/ca-certificates.crt", "package `ca-certificates`"] {
            #expect(outcome.errorOutput.contains(word), "\(outcome.errorOutput)")
        }
    }

    /// The proxy's URL has the scheme https, but the proxy speaks no TLS.
    @Test(arguments: [true, false])
    func reportsProxyWithoutTLS(isVariable: Bool) throws {
        let (root, front) = (try Sandbox(), try front())
        // nginx answers a TLS handshake with an error in plain text.
        let proxy = try Nginx(root: root.path)
        let url = proxy.url("").replacing("http://", with: "https://")
        var environment = Self.clean
        environment["SSL_CERT_FILE"] = front.authority
        if isVariable { environment["https_proxy"] = url }
        let sandbox = try Sandbox()
        let outcome = try Run(
            [front.url("/f.bin"), "--retries", "0"] + (isVariable ? [] : ["--proxy", url]),
            in: sandbox.path,
            environment: environment
        ).wait()
        expectBlame(outcome)
    }

    private func expectBlame(_ outcome: Run.Outcome) {
        #expect(outcome.end == .exit(69), "\(outcome.errorOutput)")
        for word in ["the proxy cannot be used", "https_proxy=http://"] {
            #expect(outcome.errorOutput.contains(word), "\(outcome.errorOutput)")
        }
    }

    @Test(arguments: [("Negotiate", "`--negotiate`"), ("NTLM", "does not support NTLM")])
    func messageNamesAuthenticationScheme(scheme: String, word: String) throws {
        let origin = try Origin { _ in
            .text(401).with { $0.set("WWW-Authenticate", scheme) }
        }
        let sandbox = try Sandbox()
        for options in [[], ["--user", "me:hush"]] {
            let outcome = try Run([origin.url("/f")] + options, in: sandbox.path).wait()
            #expect(outcome.end == .exit(77), "\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains(word), "\(outcome.errorOutput)")
            #expect(!outcome.errorOutput.contains("right credentials"))
        }
    }
}
