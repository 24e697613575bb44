import TestSupport
import Testing

/// Tests that wrong usage is refused before the first request.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct UsageEndToEndTests {
    private static let md5 = String(repeating: "0", count: 32)

    @Test(
        arguments: [
            ["--checksum", "sha256"], ["--checksum", "sha256:"], ["--checksum", ":00"],
            ["--checksum", "sha256:00"], ["--checksum", "sha256:\(md5)"],
            ["--checksum", "md5:\(md5)0"], ["--checksum", "md5:\(md5.dropLast())g"],
            ["--checksum", "md5: \(md5)"], ["--checksum", "sha3:\(md5)"],
            ["--checksum", "\(md5)0"], ["--checksum", "md4:\(md5)"], ["--checksum", ""],
            ["--checksum", "crc32:0000000g"], ["--checksum", "crc32:0x000000"],
            ["-H", "no colon"], ["-H", ": empty"], ["-H", "bad name: x"], ["-H", "X: a\r\nY: b"],
            ["-H", "X: a\nY: b"], ["-H", ""], ["-H", "Range: bytes=0-1"], ["-H", "Ünicode: x"],
            ["-d", "~/x"], ["--directory=~/x"], ["-d", "~"], ["-o", "~/x"],
            ["-o", "/dev/stdout", "--json"],
            ["-o", "/a", "-d", "."], ["-o", "-", "-d", "."], ["--name", "a/", "-d", "."],
            ["-o", ""], ["-o", "-", "--json"], ["-o", "folder/"],
            ["--window", "0"], ["--window", "64T"], ["--window", "9999999999G"],
            ["--window", "-1"],
            ["-x", "0"], ["-x", "65"], ["-x", "-1"], ["-x", "many"], ["-x", "1.5"],
            ["-x", "99999999999999999999"],
            ["--retries", "-1"], ["--retries", "x"], ["--retries", "1001"],
            ["--stall-timeout", "0"], ["--stall-timeout", "nan"], ["--stall-timeout", "inf"],
            ["--connect-timeout", "-3"], ["--connect-timeout", "1e9"],
            ["--ca-certificate", "/nonexistent/ca.pem"], ["--ca-certificate", ""],
            ["--progress", "loud"], ["-q", "-v"], ["--unknown"],
            ["http://127.0.0.1/second", "-o", "x"], ["-i", "/nonexistent/list"], ["-i", "."],
            ["-i", "/dev/null", "-o", "x"], ["-j", "0"], ["-j", "65"],
        ])
    func refusesInvalidOptions(options: [String]) async throws {
        let trial = try WireTrial(size: 1000)
        let outcome = try await Run(
            [trial.origin.url("/file.bin")] + options, in: trial.sandbox.path
        ).ended()
        #expect(outcome.exitCode == 64, "\(outcome.errorOutput)")
        #expect(!outcome.errorOutput.isEmpty)
        #expect(outcome.output.isEmpty)
        #expect(trial.origin.requests.isEmpty)
        #expect(trial.origin.acceptedConnections == 0)
        #expect(try trial.sandbox.names() == [])
    }

    @Test(
        arguments: [
            "", "not a url", "ftp://127.0.0.1/file", "file:///etc/passwd", "http://",
            "http://127.0.0.1:99999/x", "http://[::1/x", "http://a b/",
            "data:text/plain,x", "//", "http://127.0.0.1:port/",
        ])
    func refusesInvalidURL(url: String) async throws {
        let sandbox = try Sandbox()
        for command in [["get"], ["probe"], []] where !(url.isEmpty && command.isEmpty) {
            let outcome = try await Run(command + [url], in: sandbox.path).ended()
            #expect(outcome.exitCode == 64, "\(outcome.errorOutput)")
            #expect(!outcome.errorOutput.isEmpty)
        }
        #expect(try sandbox.names() == [])
    }

    /// The file exists, but contains no certificate.
    @Test func refusesFileWithoutCertificates() async throws {
        let root = try Sandbox()
        try Content(size: 10, seed: 1).write(to: root.path("file.bin"))
        let nginx = try Nginx(root: root.path)
        let sandbox = try Sandbox()
        let file = try sandbox.write("ca.pem", "no certificate\n")
        let outcome = try await Run(
            [nginx.secureURL("/file.bin"), "--ca-certificate", file, "--retries", "0"],
            in: sandbox.path
        ).ended()
        #expect(outcome.exitCode == 64, "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("ca.pem"))
        #expect(try sandbox.names() == ["ca.pem"])
    }

    /// Messages about wrong usage contain no secrets.
    @Test(
        arguments: [
            ["http://u:hush@127.0.0.1/?hush", "-x", "0"], ["ftp://u:hush@127.0.0.1/f?t=hush"],
            ["http://u:hush@[::1/?hush"], ["http://127.0.0.1/f", "-H", "Cookie hush"],
            ["http://127.0.0.1/f", "http://u:hush@h/", "-o", "f"],
            ["http://127.0.0.1/f", "-H", "X: hush\nY: hush"],
        ])
    func messagesContainNoSecrets(arguments: [String]) async throws {
        let sandbox = try Sandbox()
        let outcome = try await Run(arguments, in: sandbox.path).ended()
        #expect(outcome.exitCode == 64)
        #expect(!outcome.errorOutput.contains("hush"), "\(outcome.errorOutput)")
    }
}
