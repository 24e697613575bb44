import Assembler
import Testing

@testable import SeggetAria2
import Segmenter
import TestSupport

struct Aria2TaskTests {
    private func tasks(
        _ words: [String], list: String? = nil, bytes: [UInt8]? = nil,
        environment: [String: String] = [:]
    ) throws -> (tasks: [Aria2Task], warnings: [String]) {
        let settings = try Aria2Settings.read(
            words,
            in: .init(
                environment: environment, home: "/home/me", read: { _ in nil },
                exists: { _ in false }))
        return try settings.tasks(list: bytes ?? list.map { Array($0.utf8) })
    }

    private func item(
        _ words: String..., files: Set<String> = [], environment: [String: String] = [:]
    ) throws -> BatchItem {
        let task = try #require(tasks(words, environment: environment).tasks.first)
        return task.batchItem(home: "/home/me", exists: files.contains)
    }

    @Test(
        arguments: [
            (["http://a/f", "http://b/f", "http://a/f"], [["http://a/f", "http://b/f"]]),
            (["-Z", "http://a/f", "http://b/f"], [["http://a/f"], ["http://b/f"]]),
            (["-P", "http://{a,b}/f"], [["http://a/f", "http://b/f"]]),
            (["-PZ", "-Z", "http://{a,b}/f"], nil),
            (["-P", "-Z", "http://{a,b}/f"], [["http://a/f"], ["http://b/f"]]),
            (["http://h/{a,b}"], [["http://h/{a,b}"]]),
            (["x.torrent", "http://a/f"], [["http://a/f"], ["x.torrent"]]),
            (["http://a/f", "ftp://b/f"], [["http://a/f", "ftp://b/f"]]),
        ] as [([String], [[String]]?)])
    func commandLineIsOneFileOrSeveral(words: [String], urls: [[String]]?) throws {
        guard let urls else {
            #expect(throws: Aria2Refusal.self) { try tasks(words) }
            return
        }
        #expect(try tasks(words).tasks.map(\.urls) == urls)
    }

    @Test(arguments: [
        (["--use-head=false", "-s1", "-x1", "http://h/f"], true),
        (["--use-head=false", "-x1", "http://h/f"], false),
        (["--use-head=false", "-s1", "http://h/f"], true),
        (["-s1", "-x1", "http://h/f"], false),
        (["--use-head=true", "-s1", "-x1", "http://h/f"], false),
        (["--use-head=false", "-s2", "-x2", "http://h/f"], false),
        (["--use-head=false", "http://h/f"], false),
        (["--use-head=false", "-s1", "-x1", "http://h/f", "http://i/f"], false),
    ])
    func oneConnectionWithoutHeadIsSingleRequest(words: [String], isSingle: Bool) throws {
        let task = try #require(tasks(words).tasks.first)
        let item = task.batchItem(home: "/home/me") { _ in false }
        #expect(item.options.singleRequest == isSingle)
    }

    @Test(arguments: [
        (["word"], "Unrecognized URI or unsupported protocol: word"),
        (["http://a/f", "word"], "Unrecognized URI or unsupported protocol: word"),
        (["--gid=12", "http://a/f"], "12 is invalid for GID."),
        (["--gid=0000000000000000", "http://a/f"], "0000000000000000 is invalid for GID."),
        (
            ["--gid=00000000000000ab", "-Z", "http://a/f", "http://b/f"],
            "GID 00000000000000ab is not unique."
        ),
        (["-P", "http://a/[a-"], "Missing ']' in the parameterized string."),
    ])
    func argumentThatIsNotAURLEndsTheRun(words: [String], text: String) throws {
        let refusal = try #require(throws: Aria2Refusal.self) { try tasks(words) }
        #expect(refusal.code == 1)
        #expect(refusal.lines.last == "Exception: errorCode=1 \(text)")
    }

    @Test(
        arguments: [
            ("magnet:?xt=urn:btih:0", 26), ("x.torrent", 26), ("/y/x.meta4", 20),
            ("x.metalink", 20), ("ftp://h/f", 21), ("SFTP://h/f", 21), ("foo://h/f", 1),
            ("word", 1), ("h/f", 1), ("http://", 1), ("http://h/f", nil),
            ("https://h/f.torrent", nil),
        ] as [(String, Int32?)])
    func unsupportedURLsHaveACode(url: String, code: Int32?) throws {
        let found = try tasks(["-i", "l"], list: "\(url)\nhttp://a/b\n").tasks
        #expect(found.map { $0.problem?.code } == [code, nil])
    }

    @Test func listOptionsOverrideTheCommandLine() throws {
        let list = """
            \u{feff}# first
            http://a/1\thttp://b/1 \t\t

            # between
             out = one\r
             header=X: y
            \tgid=00000000000000AB
             pause=true
             load-cookies=c
             frob=1
            http://a/2\r
             dir=
             http://u:secret@h/=x
            http://a/3
            """
        let words = ["-i", "l", "-o", "all", "--header", "A: b", "-s3", "http://ignored/"]
        let (found, warnings) = try tasks(words, list: list)
        #expect(
            found.map(\.urls) == [["http://a/1", "http://b/1"], ["http://a/2"], ["http://a/3"]])
        #expect(found[0].options.all("header") == ["X: y"])
        #expect(found[1].options.all("header") == ["A: b"])
        #expect(found.map { $0.options["out"] } == ["one", nil, nil])
        #expect(found[0].gid.description == "00000000000000ab")
        #expect(found[0].options["load-cookies"] == nil)
        #expect(found[1].options["dir"] == "")
        #expect(found[2].options["split"] == "3")
        #expect(warnings == ["Unknown option: frob", "Unknown option: (not an option name)"])
        let bad = try #require(throws: Aria2Refusal.self) {
            try tasks(["-i", "l"], list: "http://a/1\n split=zz\n")
        }
        #expect(bad.code == 28)
    }

    @Test(
        arguments: [
            ("", []), (" \n\n", []), (" out=x\nhttp://a/f", [["out=x"], ["http://a/f"]]),
            ("http://a/f", [["http://a/f"]]), ("http://a/f\n \n\t\n out=x", [["http://a/f"]]),
        ] as [(String, [[String]])])
    func linesAreReadAsInAria2(list: String, urls: [[String]]) throws {
        #expect(try tasks(["-i", "l"], list: list).tasks.map(\.urls) == urls)
    }

    @Test func compressedListIsTheSameList() throws {
        let found = try tasks(["-i", "l"], bytes: GzipExamples.one + GzipExamples.two).tasks
        #expect(found.map(\.urls) == [["http://a/f"], ["http://a/g"]])
        #expect(found.first?.options["out"] == "x")
        #expect(throws: Aria2Refusal.self) {
            try tasks(["-i", "l"], bytes: GzipExamples.one.dropLast(12))
        }
    }

    @Test(
        arguments: [
            (["-d", "/d", "-o", "n"], .file("/d/n")),
            (["-d", "/", "-o", "/abs/x"], .file("//abs/x")),
            (["-o", "/abs/x"], .file(".//abs/x")), (["-o", "a/b"], .file("./a/b")),
            (["-d", "/d"], .folder("/d")), (["--dir="], .folder(".")), ([], .folder(".")),
            (["--dir=", "-o", "-"], .file("./-")), (["-o", ""], .folder(".")),
        ] as [([String], Destination)])
    func outIsRelativeToDir(words: [String], destination: Destination) throws {
        let task = try #require(tasks(words + ["http://h/f"]).tasks.first)
        let item = task.batchItem(home: "", exists: { _ in false })
        #expect(item.destination == destination)
        #expect(item.options.files.missingFolders == .made)
    }

    @Test func outCannotLeaveDir() throws {
        let found = try tasks(
            ["-i", "l"], list: "http://a/1\n out=a/../../x\nhttp://a/2\n out=a..b"
        ).tasks
        #expect(found.map { $0.problem?.code } == [1, nil])
    }

    @Test(
        arguments: [
            ([], .automatic), (["-x8"], .upTo(8)), (["-s4"], .upTo(4)), (["-x8", "-s4"], .upTo(4)),
            (["-x2", "-s16"], .upTo(2)), (["-x2", "-s16", "http://other/f"], .upTo(4)),
            (["-x2", "-s16", "http://h:81/f"], .upTo(2)), (["-x2", "-s3", "http://i/f"], .upTo(3)),
            (["-s128"], .upTo(128)),
        ] as [([String], ConnectionCount)])
    func splitAndServerLimitBoundTheConnections(words: [String], count: ConnectionCount) throws {
        let task = try #require(tasks(["http://h/f"] + words).tasks.first)
        #expect(task.batchItem(home: "", exists: { _ in false }).options.connections == count)
    }

    @Test func optionsSetDownloadOptions() throws {
        let sum = String(repeating: "0", count: 64)
        let item = try item(
            "http://h/f", "http://m/f", "-k2M", "-c", "--allow-overwrite", "--conditional-get",
            "-R",
            "--remove-control-file", "--checksum=sha-256=\(sum)", "--header=A: b",
            "--header=Range: x",
            "--header", "C: d", "-U", "me", "--referer=*", "--load-cookies=/c", "--http-user=u",
            "--http-passwd=p", "--check-certificate=false", "--ca-certificate=ca",
            "--certificate=x",
            "--private-key=y", "--min-tls-version=TLSv1.3", "--interface=lo", "--disable-ipv6",
            "-t7",
            "--connect-timeout=8", "-m3", "--retry-wait=4", "--max-download-limit=1K",
            "--lowest-speed-limit=2K", "--file-allocation=none", "--http-no-cache",
            files: ["/c", "/home/me/.netrc"])
        #expect(item.url == "http://h/f")
        let options = item.options
        #expect(options.mirrors == ["http://m/f"])
        #expect(options.minSplitSize == 2 << 20)
        #expect(options.overwrite && !options.naming.numbersTaken && !options.resume)
        #expect(options.files.timestamping && options.files.remoteTime)
        #expect(options.files.attributes == .proof && options.files.allocation == .none)
        #expect(options.checksum?.hex == sum)
        #expect(options.headers == ["A: b", "C: d", "Cache-Control: no-cache", "Pragma: no-cache"])
        #expect(options.access.userAgent == "me" && options.access.referer == "http://h/f")
        #expect(options.access.credentials == .init(user: "u", password: "p"))
        #expect(options.access.usesNetrc && options.access.netrcFile == "/home/me/.netrc")
        #expect(options.access.isInsecure && options.caCertificate == "ca")
        #expect((options.access.clientCertificate, options.access.clientKey) == ("x", "y"))
        #expect(options.access.minimumTLS == .tls13 && options.access.addressFamily == .ipv4)
        #expect(options.access.interface == "lo")
        #expect((options.stallTimeout, options.connectTimeout) == (.seconds(7), .seconds(8)))
        #expect((options.retries, options.retryWait) == (2, .seconds(4)))
        #expect((options.limits.rate, options.limits.minRate) == (1024.0, 2048.0))
    }

    @Test func omittedHeaderHasOneWarning() throws {
        let words = [
            "-Z", "--header=Range: x", "--header=Accept-Encoding: gzip", "--header=secret x",
        ]
        let (_, warnings) = try tasks(words + ["http://h/f", "http://h/g"])
        #expect(
            warnings == [
                "--header: segget does not send this field: Range",
                "--header: segget does not send this field: (not an option name)",
            ])
    }

    @Test func defaultsNumberNamesAndIgnoreRemoteTime() throws {
        let options = try item("http://h/f").options
        #expect(options.naming.numbersTaken && !options.overwrite && options.resume)
        #expect(!options.files.remoteTime && !options.files.timestamping)
        #expect(options.minSplitSize == nil && options.limits.rate == nil)
        #expect(!options.access.usesNetrc && options.access.userAgent == nil)
        #expect((options.stallTimeout, options.connectTimeout) == (.seconds(15), .seconds(10)))
        let unlimited = try item(
            "-m0", "--auto-file-renaming=false", "--conditional-get", "http://h/f")
        #expect(unlimited.options.retries == 1000)
        #expect(!unlimited.options.naming.numbersTaken && !unlimited.options.files.timestamping)
    }

    @Test(
        arguments: [
            (["http://h/f"], [:], ""), (["--all-proxy=p:1", "http://h/f"], [:], "http://p:1/"),
            (["--all-proxy=p:1", "--http-proxy=q:2", "http://h/f"], [:], "http://q:2/"),
            (["--all-proxy=p:1", "--http-proxy=q:2", "https://h/f"], [:], "http://p:1/"),
            (["--all-proxy=p:1", "--http-proxy=", "http://h/f"], [:], "http://p:1/"),
            (["--https-proxy=q:2", "http://h/f"], ["http_proxy": "e:3"], "http://e:3/"),
            (["--http-proxy=", "http://h/f"], ["http_proxy": "e:3"], ""),
            (
                [
                    "--all-proxy=p:1", "--all-proxy-user=a@b", "--all-proxy-passwd=c:/d",
                    "http://h/f",
                ],
                [:], "http://a%40b:c%3a%2fd@p:1/"
            ),
            (["http://h/f"], ["HTTP_PROXY": "e:3", "HTTPS_PROXY": "e:3"], ""),
        ] as [([String], [String: String], String)])
    func proxyDependsOnTheScheme(
        words: [String], environment: [String: String], proxy: String
    ) throws {
        let task = try #require(tasks(words, environment: environment).tasks.first)
        let access = task.batchItem(home: "", exists: { _ in false }).options.access
        #expect(access.proxy?.lowercased() == proxy)
        #expect(access.noProxy == "")
    }

    @Test func noNetrcDisablesNetrc() throws {
        #expect(try !item("-n", "http://h/f", files: ["/home/me/.netrc"]).options.access.usesNetrc)
        let named = try item("--netrc-path=/n", "http://h/f", files: ["/n"])
        #expect(named.options.access.netrcFile == "/n")
    }

    @Test func unsupportedDigestIsReported() throws {
        let sum = String(repeating: "0", count: 56)
        let task = try #require(tasks(["--checksum=sha-224=\(sum)", "http://h/f"]).tasks.first)
        #expect(task.problem?.code == 28)
    }

    /// An expanded URL may look like a pattern, so the session disables expansion.
    @Test func sessionOfAPatternIsReadLiterally() throws {
        let list = "http://h/{a,b[c}\n parameterized-uri=true\n"
        let settings = try Aria2Settings.read(
            ["-i", "l"],
            in: .init(
                environment: [:], home: "/home/me", read: { _ in nil }, exists: { _ in false }))
        let tasks = try settings.tasks(list: Array(list.utf8)).tasks
        let text = Aria2Session.text(of: tasks)
        let again = try settings.tasks(list: Array(text.utf8)).tasks
        #expect(tasks.map(\.urls) == [["http://h/a", "http://h/b[c"]])
        #expect(again.map(\.urls) == tasks.map(\.urls))
        #expect(Aria2Session.text(of: again) == text)
    }

    /// The session that aria2c 1.36 wrote for the same command line and list, except the second
    /// GID.
    @Test func sessionFormatMatchesAria2() throws {
        let list =
            "http://h/a\thttp://m/a\t\n header=A: b\n  out=x\n header=C: d\n"
            + " gid=00000000000000ab\n pause=true\n load-cookies=zz\n dir=\n all-proxy=\n"
        let words = ["-x2", "-s2", "-k1M", "-c", "--header", "G: h", "--max-tries=3", "-o", "foo"]
        let found = try tasks(words + ["-i", "l", "--save-session=s"], list: list).tasks
        #expect(
            Aria2Session.text(of: found) == """
                http://h/a\thttp://m/a\t
                 gid=00000000000000ab
                 max-tries=3
                 dir=
                 out=x
                 split=2
                 continue=true
                 max-connection-per-server=2
                 min-split-size=1048576
                 header=A: b
                 header=C: d
                 all-proxy=

                """)
        #expect(Aria2Session.text(of: []) == "")
        let again = try tasks(["-i", "l"], list: Aria2Session.text(of: found)).tasks
        #expect(Aria2Session.text(of: again) == Aria2Session.text(of: found))
    }
}
