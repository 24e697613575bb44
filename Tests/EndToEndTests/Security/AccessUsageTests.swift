import TestSupport
import Testing

/// Wrong access options fail before the first request, and messages do not repeat their values.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct AccessUsageTests {
    static let wrong = [
        ["-u", "me"], ["-u", "me:hush\nX: y"], ["--password-fd", "0"],
        ["-u", "me:hush", "--password-fd", "0"], ["-u", "me", "--password-fd", "99"],
        ["-u", "me", "--password-fd", "0"], ["-u", "me", "--password-fd", "-1"],
        ["--bearer-fd", "0"], ["--bearer-fd", "99"], ["-u", "a:hush", "--bearer-fd", "0"],
        ["-u", "a", "--password-fd", "0", "--client-key-password-fd", "0"],
        ["--auth", "ntlm"], ["--netrc-file", "/nonexistent"], ["--netrc-file", ""],
        ["--netrc"], ["--cookie", "/nonexistent"], ["--cookie", "/tmp"], ["--cookie", ""],
        ["-b", "hush"], ["-b", "k=hush\r\nX: y"], ["-A", "a\nhush"], ["--referer", "\rhush"],
        ["--proxy", "ftp://u:hush@h/"], ["--proxy", "http://u:hush@h:port/"],
        ["--proxy", "hush hush"], ["--no-proxy", "a\nhush"], ["-4", "-6"],
        ["--interface", ""], ["--resolve", "hush"], ["--resolve", "h:80:name"],
        ["--pinned-public-key", "sha256//hush"], ["--pinned-public-key", "/nonexistent"],
        ["--pinned-public-key", ""], ["--client-certificate", "/nonexistent"],
        ["--client-certificate", ""], ["--client-key", "/etc/passwd"],
        ["--client-certificate", "/etc/passwd", "--client-key", "/nonexistent"],
        ["--tls-min", "1.1"], ["--tls-min", "1.0"],
    ]

    @Test(arguments: wrong) func getRefusesWrongOptions(options: [String]) async throws {
        try await expectRefusal("get", options)
    }

    /// `probe` has the same options, so every fourth case is enough.
    @Test(arguments: Array(stride(from: 0, to: wrong.count, by: 4)))
    func probeRefusesWrongOptions(index: Int) async throws {
        try await expectRefusal("probe", Self.wrong[index])
    }

    private func expectRefusal(_ command: String, _ options: [String]) async throws {
        let trial = try WireTrial(size: 1000)
        let child = try Run(
            [command, trial.origin.url("/file.bin")] + options, in: trial.sandbox.path,
            environment: ["HOME": "/nonexistent"])
        let outcome = try await child.ended()
        #expect(outcome.exitCode == 64, "\(outcome.errorOutput)")
        #expect(!outcome.errorOutput.isEmpty)
        #expect(!outcome.errorOutput.contains("hush"), "\(outcome.errorOutput)")
        #expect(trial.origin.acceptedConnections == 0)
        #expect(try trial.sandbox.names() == [])
    }

    /// The file of `--client-certificate` exists but holds no certificate.
    @Test func refusesCertificateFileWithoutCertificate() async throws {
        let root = try Sandbox()
        try Content(size: 10, seed: 1).write(to: root.path("file.bin"))
        let nginx = try Nginx(root: root.path)
        let sandbox = try Sandbox()
        let file = try sandbox.write("client.pem", "no certificate\n")
        let outcome = try await Run(
            [
                nginx.secureURL("/file.bin"), "--ca-certificate", nginx.authority,
                "--client-certificate", file,
            ], in: sandbox.path
        ).ended()
        #expect(outcome.exitCode == 64, "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("the client's certificate"))
        #expect(try sandbox.names() == ["client.pem"])
    }

    /// `probe` sends the credentials, cookies and user agent of its options.
    @Test func probeSendsAccessOptions() async throws {
        let trial = try WireTrial { request, reply in
            if request.header("Authorization") != "Basic bWU6eA==" { reply = .text(401) }
        }
        let outcome = try await Run(
            ["probe", trial.origin.url("/file.bin"), "-u", "me:x", "-b", "k=v", "-A", "a/1"],
            in: trial.sandbox.path
        ).ended()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(trial.origin.requests.allSatisfy { $0.header("Cookie") == "k=v" })
        #expect(trial.origin.requests.allSatisfy { $0.header("User-Agent") == "a/1" })
    }
}
