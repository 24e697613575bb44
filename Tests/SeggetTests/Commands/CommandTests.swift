import ArgumentParser
import Assembler
import Segmenter
import Testing

@testable import SeggetReports
@testable import SeggetCommand

struct CommandTests {
    private static let sha1 = "000102030405060708090A0B0C0D0E0F10111213"

    private func get(_ arguments: [String]) throws -> GetCommand {
        try #require(try Segget.parseAsRoot(arguments) as? GetCommand)
    }

    @Test(
        arguments: [
            ("1048576", 1 << 20), ("256K", 256 << 10), ("64m", 64 << 20), ("2G", 2 << 30),
        ] as [(String, Int64)])
    func standardOutputUsesAWindow(text: String, bytes: Int64) throws {
        let command = try get(["http://h/f", "-o", "-", "--window", text])
        #expect(command.destination == .descriptor(1))
        #expect(command.options.stream.window == bytes)
    }

    @Test func dashInAFolderIsAFile() throws {
        #expect(try get(["http://h/f", "-o", "./-"]).destination == .file("./-"))
    }

    @Test func urlAloneMeansGet() throws {
        let command = try get(["http://h/f"])
        #expect(command.urls == ["http://h/f"])
        #expect(!command.isBatch)
        #expect(command.destination == .folder("."))
        #expect(command.options.connections == .automatic)
        #expect(command.options.resume && !command.options.overwrite)
    }

    @Test func resumeUnverifiedReachesTheLibrary() throws {
        #expect(try !get(["http://h/f"]).options.resumeUnverified)
        #expect(try get(["http://h/f", "--resume-unverified"]).options.resumeUnverified)
        #expect(throws: (any Error).self) {
            try get(["http://h/f", "--resume-unverified", "--no-resume"])
        }
    }

    @Test func everyAccessOptionSetsDownloadOptions() throws {
        let pin = "sha256//" + String(repeating: "A", count: 43) + "="
        let command = try get(
            [
                "http://h/f", "--user", "me:a:b", "--auth", "digest", "--cookie", "/etc/passwd",
                "--cookie-text", "k=v", "-A", "agent", "--referer", "r", "--proxy", "socks5h://p",
                "--no-proxy", "a,b", "-6", "--interface", "lo", "--resolve", "h:80:::1",
                "--resolve", "i:80:127.0.0.1", "--insecure", "--pinned-public-key", pin,
                "--client-certificate", "/etc/passwd", "--client-key", "/etc/passwd",
                "--tls-min", "1.3", "--netrc-file", "/etc/passwd",
            ])
        var expected = AccessOptions()
        expected.credentials = .init(user: "me", password: "a:b")
        expected.scheme = .digest
        expected.cookieFile = "/etc/passwd"
        expected.cookies = "k=v"
        expected.userAgent = "agent"
        expected.referer = "r"
        expected.proxy = "socks5h://p"
        expected.noProxy = "a,b"
        expected.addressFamily = .ipv6
        expected.interface = "lo"
        expected.resolve = ["h:80:::1", "i:80:127.0.0.1"]
        expected.isInsecure = true
        expected.pinnedPublicKey = pin
        expected.clientCertificate = "/etc/passwd"
        expected.clientKey = "/etc/passwd"
        expected.minimumTLS = .tls13
        expected.usesNetrc = true
        expected.netrcFile = "/etc/passwd"
        #expect(try command.access.read() == expected)
        #expect(try get(["http://h/f"]).access.read() == AccessOptions())
        #expect(try get(["http://h/f", "-4"]).access.read().addressFamily == .ipv4)
    }

    @Test func fileOptionsSetDownloadOptions() throws {
        let plain = try get(["http://h/f"]).options.files
        #expect(plain.allocation == .auto && plain.remoteTime)
        #expect(plain.attributes == .proof && !plain.keepManifest && !plain.timestamping)
        let files = try get(
            [
                "http://h/f", "--file-allocation", "none", "--no-remote-time", "--xattr",
                "--keep-manifest", "--timestamping",
            ]
        ).options.files
        #expect(files.allocation == .none && !files.remoteTime)
        #expect(files.attributes == .all && files.keepManifest && files.timestamping)
        #expect(try get(["http://h/f", "http://h/g"]).options.files.attributes == .proof)
        #expect(
            try get(["http://h/f", "--file-allocation", "trunc"]).options.files.allocation == .trunc
        )
    }

    @Test func severalURLsAreABatch() throws {
        let command = try get(["http://h/a", "http://h/b", "-x3", "-j12", "--fail-fast"])
        #expect(command.urls == ["http://h/a", "http://h/b"])
        #expect(command.isBatch)
        #expect(command.batch.jobs == 12 && command.batch.failFast)
        #expect(command.options.connections == 3)
        #expect(try get(["-i", "list", "-i", "-"]).batch.inputFile == ["list", "-"])
        #expect(try get(["-i", "list"]).isBatch)
    }

    @Test(
        arguments: [
            ([], "Missing expected argument"),
            (["http://h", "-x", "0"], "1 to 64"), (["http://h", "-x", "65"], "1 to 64"),
            (["http://h", "--checksum", "abc"], "sha-256 has 64"),
            (["http://h", "--checksum", "sha3:00"], "`sha3` is unknown"),
            (["http://h", "--checksum", "md5:00"], "32 hexadecimal digits, not 2"),
            (["http://h", "--checksum", "crc32:0000000g"], "not hexadecimal digits"),
            (["http://h", "-H", "secret"], "needs a colon"),
            (["http://h", "-H", ": secret"], "not the name"),
            (["http://h", "-H", "A b: secret"], "`A b` is not the name"),
            (["http://h", "-H", "A: secret\r\nB: c"], "line break"),
            (["http://h", "-H", "Range: bytes=0-"], "sets the header `Range` itself"),
            (["http://h", "-q", "-v"], "together"),
            (["http://h", "-o", "-", "--json"], "standard output"),
            (["http://h", "--window", "x"], "number of bytes"),
            (["http://h", "--window", "255K"], "256K or more"),
            (["http://h", "-o", "dir/"], "`--directory`"), (["http://h", "-o", ""], "empty"),
            (["http://h", "--connect-timeout", "0"], "0.1 to 86400"),
            (["http://h", "--stall-timeout", "nan"], "0.1 to 86400"),
            (["http://h", "--retries", "1001"], "0 to 1000"),
            (["http://h", "--progress", "fancy"], "'auto', 'bar', 'plain' or 'none'"),
            (["http://h", "http://u:secret@h", "-o", "f"], "`--output` names one file"),
            (["-i", "list", "-o", "f"], "`--output` names one file"),
            (["http://h", "http://u:secret@h", "--checksum", "crc32:00000000"], "for one file"),
            (["http://h", "-j", "0"], "1 to 64"), (["http://h", "-j", "65"], "1 to 64"),
            (["-i", "-", "-i", "-"], "only once"), (["-i", ""], "name of a file"),
            (["probe", "http://h", "http://u:secret@h"], "one URL at a time; 2"),
            (["probe", "http://h", "-H", "secret"], "needs a colon"),
            (["probe"], "Missing expected"),
            (["http://h", "--file-allocation", "full"], "'auto', 'falloc', 'trunc' or 'none'"),
            (["verify"], "Missing expected"), (["verify", "f", "--sums", ""], "empty"),
            (["verify", "d/"], "folder"), (["repair", "f"], "Missing expected"),
            (["repair", "http://u:secret@h/f", "f"], "the file comes first"),
            (["repair", "f", "http://h", "-x", "0"], "1 to 64"),
            (["-j", "2"], "Missing expected"), (["http://h", ""], "empty URL"),
        ] as [([String], String)])
    func usageErrorNamesProblem(arguments: [String], problem: String) {
        let error = #expect(throws: (any Error).self) { try Segget.parseAsRoot(arguments) }
        guard let error else { return }
        let message = Segget.fullMessage(for: error)
        #expect(Segget.exitCode(for: error).rawValue == ExitStatus.usage.rawValue)
        #expect(message.contains(problem))
        #expect(!message.contains("secret"))
    }

    @Test(
        arguments: [
            ([], .plain), (["--json"], .none), (["--json", "--progress", "bar"], .bar),
            (["--progress", "bar"], .bar), (["--progress", "none"], .none),
            (["--quiet", "--progress", "bar"], .none),
        ] as [([String], ProgressView.Style)])
    func progressDependsOnOptionsAndTerminal(options: [String], style: ProgressView.Style) throws {
        let terminal = Terminal(isTerminal: false) { _ in nil }
        let settings = try get(["http://h"] + options).reportSettings(terminal: terminal)
        #expect(settings.style == style)
    }
}
