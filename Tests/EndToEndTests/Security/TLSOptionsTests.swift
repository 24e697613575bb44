import Foundation
import Segmenter
import TestSupport
import Testing

/// Trust, client certificates, versions and session resumption of TLS.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct TLSOptionsTests {
    private let content = Content(size: 3_000_000, seed: 6)
    private let root: Sandbox
    private let sandbox: Sandbox

    init() throws {
        root = try Sandbox()
        sandbox = try Sandbox()
        try content.write(to: root.path("file.bin"))
        try content.write(to: root.path("other.bin"))
        try content.write(to: root.path("third.bin"))
    }

    private func nginx(_ directives: String = "") throws -> Nginx {
        try Nginx(root: root.path, directives: directives)
    }

    private func run(
        _ nginx: Nginx, _ options: [String], trusting: Bool = true
    ) async throws -> Run.Outcome {
        let trust = trusting ? ["--ca-certificate", nginx.authority] : []
        let outcome = try await Run(
            [nginx.secureURL("/file.bin"), "--overwrite", "-x", "4", "--retries", "0"] + trust
                + options, in: sandbox.path
        ).ended()
        if outcome.exitCode == 0 {
            #expect(try content.firstDifference(at: sandbox.path("file.bin")) == nil)
        }
        return outcome
    }

    /// The SHA-256 of the server's public key, in the form of `--pinned-public-key`.
    private func pin(_ nginx: Nginx) throws -> String {
        let outcome = try Run(
            "/bin/sh",
            [
                "-c",
                "openssl x509 -in \"$1\" -pubkey -noout | openssl pkey -pubin -outform der"
                    + " | openssl dgst -sha256 -binary | openssl base64", "sh", nginx.certificate,
            ], environment: ["PATH": "/usr/bin:/bin"]
        ).wait()
        return "sha256//" + outcome.output.filter { $0 != "\n" }
    }

    /// A retry would fail in the same way.
    @Test func failsWithoutRetryIfNoCommonVersion() async throws {
        let old = try nginx("ssl_protocols TLSv1.2;")
        let plain = try nginx()
        let port = plain.url("/file.bin").dropFirst("http".count)
        for (url, hint) in [(old.secureURL("/file.bin"), "--tls-min"), ("https\(port)", "scheme")] {
            let outcome = try await Run(
                [url, "--tls-min", "1.3", "--insecure", "--json"], in: sandbox.path
            ).ended()
            #expect(outcome.exitCode == 69)
            #expect(!outcome.output.contains("retrying"))
            #expect(outcome.errorOutput.contains(hint), "\(outcome.errorOutput)")
        }
    }

    /// A client certificate identifies the user, so segget uses it only at the URL's origin.
    @Test func clientCertificatesStayAtTheirOrigin() async throws {
        let there = try nginx(
            """
            ssl_verify_client optional_no_ca; ssl_client_certificate ca.pem;
            if ($ssl_client_verify != NONE) { return 404; }
            """)
        let here = try nginx(
            Self.wantsClients + "location = /to { return 302 \(there.secureURL("/file.bin")); }")
        let client = try here.makeClientCertificate()
        let trust = try sandbox.write(
            "trust.pem",
            try [here, there].map { try String(contentsOfFile: $0.authority, encoding: .utf8) }
                .joined())
        let outcome = try await Run(
            [
                here.secureURL("/to"), "-o", "file.bin", "--ca-certificate", trust,
                "--client-certificate", client.certificate, "--client-key", client.key,
            ], in: sandbox.path
        ).ended()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
    }

    @Test func insecurePrintsWarning() async throws {
        let nginx = try nginx()
        let refused = try await run(nginx, [], trusting: false)
        #expect(refused.exitCode == 77)
        #expect(!refused.errorOutput.contains("WARNING"))
        let outcome = try await run(nginx, ["--insecure"], trusting: false)
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("WARNING: certificates are not checked"))
        let probe = try await Run(
            ["probe", nginx.secureURL("/file.bin"), "--insecure"], in: sandbox.path
        ).ended()
        #expect(probe.exitCode == 0, "\(probe.errorOutput)")
        #expect(probe.errorOutput.contains("WARNING: certificates are not checked"))
    }

    @Test func checksPinnedPublicKey() async throws {
        let nginx = try nginx()
        let right = try pin(nginx)
        let wrong = "sha256//" + String(repeating: "A", count: 43) + "="
        let key = try Run(
            "/usr/bin/openssl", ["x509", "-in", nginx.certificate, "-pubkey", "-noout"]
        ).wait()
        let file = try sandbox.write("key.pem", key.output)
        for pin in [right, "\(wrong);\(right)", file] {
            let outcome = try await run(nginx, ["--pinned-public-key", pin])
            #expect(outcome.exitCode == 0, "\(pin): \(outcome.errorOutput)")
        }
        // With `--insecure` the right key is enough, but a wrong key always fails.
        let unknown = try await run(
            nginx, ["--insecure", "--pinned-public-key", right], trusting: false)
        #expect(unknown.exitCode == 0, "\(unknown.errorOutput)")
        for options in [[], ["--insecure"]] {
            let outcome = try await run(nginx, ["--pinned-public-key", wrong] + options)
            #expect(outcome.exitCode == 77, "\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains("not trusted"))
            #expect(outcome.errorOutput.contains("`--pinned-public-key`"))
        }
    }

    /// Directives that require a client certificate.
    ///
    /// ca.pem is beside nginx's configuration.
    private static let wantsClients = """
        ssl_verify_client optional; ssl_client_certificate ca.pem;
        if ($ssl_client_verify != SUCCESS) { return 403; }
        """

    @Test func authenticatesWithClientCertificate() async throws {
        let users = try Sandbox()
        let nginx = try nginx(Self.wantsClients)
        let client = try nginx.makeClientCertificate()
        let both = try users.write(
            "both.pem",
            try ["client.pem", "client.key"].map { name in
                let path = name == "client.pem" ? client.certificate : client.key
                return try String(contentsOfFile: path, encoding: .utf8)
            }.joined())
        let certificate = ["--client-certificate", client.certificate]
        for options in [
            certificate + ["--client-key", client.key], ["--client-certificate", both],
        ] {
            let outcome = try await run(nginx, options)
            #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        }
        let without = try await run(nginx, [])
        #expect(without.exitCode == 77, "\(without.errorOutput)")
        // Without a key, and with the key of another certificate.
        let another = try self.nginx()
        let other = try another.makeClientCertificate()
        for options in [certificate, certificate + ["--client-key", other.key]] {
            let outcome = try await run(nginx, options)
            #expect(outcome.exitCode == 64, "\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains("the client's certificate or its key"))
        }
    }

    @Test func readsKeyPasswordFromDescriptor() async throws {
        let users = try Sandbox()
        let nginx = try nginx(Self.wantsClients)
        let client = try nginx.makeClientCertificate(password: "hush")
        for (text, code) in [("hush\n", 0), ("wrong\n", 64)] as [(String, Int32)] {
            let secret = try users.write("secret", text)
            let child = try Run(
                "/bin/sh",
                [
                    "-c", "exec \"$@\" 3<\(secret)", "sh", try Segget.binary(),
                    nginx.secureURL("/file.bin"), "--ca-certificate", nginx.authority,
                    "--client-certificate", client.certificate, "--client-key", client.key,
                    "--client-key-password-fd", "3", "--overwrite",
                ], in: sandbox.path)
            let outcome = try await child.ended()
            #expect(outcome.exitCode == code, "\(outcome.errorOutput)")
        }
        // segget does not prompt for the key's password.
        let outcome = try await run(
            nginx, ["--client-certificate", client.certificate, "--client-key", client.key])
        #expect(outcome.exitCode == 64, "\(outcome.errorOutput)")
    }

    @Test(
        arguments: [
            ("TLSv1.3", "1.3", 0), ("TLSv1.3", "1.2", 0), ("TLSv1.2", "1.2", 0),
            ("TLSv1.2", "1.3", 69),
        ] as [(String, String, Int32)])
    func tlsMinLimitsVersions(server: String, lowest: String, code: Int32) async throws {
        let nginx = try nginx("ssl_protocols \(server);")
        let outcome = try await run(nginx, ["--tls-min", lowest])
        #expect(outcome.exitCode == code, "\(outcome.errorOutput)")
    }

    /// Every connection after the first resumes its TLS session, for one file and for the next.
    @Test(arguments: ["TLSv1.2", "TLSv1.3"])
    func sessionsAreResumed(version: String) async throws {
        // Every request has its own connection. libcurl uses no tickets with TLS 1.2.
        let nginx = try nginx(
            """
            ssl_protocols \(version); keepalive_timeout 0;
            \(version == "TLSv1.2" ? "ssl_session_cache shared:sessions:1m;" : "")
            """)
        let session = DownloadSession()
        var options = DownloadOptions()
        options.caCertificate = nginx.authority
        // First one connection at a time: none starts during another's handshake, and none is
        // aborted, after which OpenSSL discards its session. Then four.
        for (name, connections) in [("file.bin", 1), ("other.bin", 1), ("third.bin", 4)] {
            options.connections = .fixed(connections)
            _ = try await session.download(
                nginx.secureURL(name), to: sandbox.path(name), options: options)
            #expect(try content.firstDifference(at: sandbox.path(name)) == nil)
        }
        await session.shutdown()
        // HEAD, and one GET or more.
        let isLogged = eventually {
            let log = (try? nginx.accessLog()) ?? []
            return ["file", "other", "third"].allSatisfy { name in
                log.count { $0.request.contains(name) } >= (name == "third" ? 5 : 2)
            }
        }
        #expect(isLogged)
        let log = try nginx.accessLog().sorted { $0.connection < $1.connection }
        #expect(Set(log.map(\.connection)).count == log.count)
        let (several, single) = (
            log.filter { $0.request.contains("third") },
            log.filter { !$0.request.contains("third") }
        )
        #expect(single.map(\.resumed) == [false] + single.dropFirst().map { _ in true })
        #expect(several.count(where: \.resumed) >= 2, "\(several)")
    }

    /// The second download checks certificates, so it must not resume a session without checks.
    @Test func doesNotResumeSessionWithoutChecks() async throws {
        let nginx = try nginx("keepalive_timeout 0;")
        let session = DownloadSession()
        var careless = DownloadOptions()
        careless.access.isInsecure = true
        careless.retries = 0
        _ = try await session.download(
            nginx.secureURL("file.bin"), to: sandbox.path("file.bin"), options: careless)
        var careful = careless
        careful.access.isInsecure = false
        let error = await #expect(throws: DownloadError.self) {
            try await session.download(
                nginx.secureURL("file.bin"), to: sandbox.path("other.bin"), options: careful)
        }
        guard case .untrusted? = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        await session.shutdown()
    }

    @Test func nextFileReusesConnections() async throws {
        let stage = try Stage(size: 3_000_000)
        let session = DownloadSession()
        var options = DownloadOptions()
        options.connections = 4
        for name in ["one", "two", "three"] {
            _ = try await session.download(
                stage.origin.url(name), to: stage.path(name), options: options)
        }
        // Four, and another one if segget reassigns the rest of a segment. Without reuse: twelve.
        #expect(stage.origin.acceptedConnections <= 6)
        let accepted = stage.origin.acceptedConnections
        // Requests with credentials reuse them too: Basic credentials belong to a request.
        options.access.credentials = .init(user: "me", password: "x")
        _ = try await session.download(
            stage.origin.url("four"), to: stage.path("four"), options: options)
        #expect(stage.origin.acceptedConnections <= accepted + 2)
        await session.shutdown()
    }
}
