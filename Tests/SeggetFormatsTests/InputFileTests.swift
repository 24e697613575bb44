import Assembler
import Testing

@testable import SeggetFormats
import Segmenter
import TestSupport

struct InputFileTests {
    private func items(_ text: String) throws -> [InputFile.Item] {
        try InputFile(reading: text.utf8).items
    }

    private func item(_ settings: String...) throws -> BatchItem {
        let text = (["http://h/f"] + settings.map { " \($0)" }).joined(separator: "\n")
        var options = DownloadOptions()
        options.headers = ["Global: yes"]
        return try #require(items(text).first).batchItem(options: options, folder: "here")
    }

    @Test(
        arguments: [
            ("", []), ("\n\n \n\t\n", []), ("# http://h/a\n  # out=x\n", []),
            ("http://h/a", [["http://h/a"]]),
            ("http://h/a\nhttp://h/b\n", [["http://h/a"], ["http://h/b"]]),
            ("http://h/a\r\nhttp://h/b\r\n", [["http://h/a"], ["http://h/b"]]),
            ("\u{feff}http://h/a\n", [["http://h/a"]]),
            (
                "http://h/a\thttp://m/a\t\thttp://n/a \n",
                [["http://h/a", "http://m/a", "http://n/a"]]
            ),
            ("http://h/a b\n", [["http://h/a b"]]), ("http://h/ä\n", [["http://h/ä"]]),
            ("http://h/a#part\n", [["http://h/a#part"]]),
            ("http://h/a \t \n", [["http://h/a"]]),
        ] as [(String, [[String]])])
    func eachLineIsAFile(text: String, urls: [[String]]) throws {
        #expect(try items(text).map(\.urls) == urls)
    }

    @Test func optionsBelongToThePrecedingFile() throws {
        let found = try items(
            "http://h/a\n  out=one\r\n\n# between\n\tdir = d\nhttp://h/b\nhttp://h/c\n out=c=d\n")
        #expect(found.map(\.line) == [1, 6, 7])
        #expect(found.map { $0.settings.map(\.name) } == [["out", "dir"], [], ["out"]])
        #expect(found.map { $0.settings.map(\.value) } == [["one", "d"], [], ["c=d"]])
    }

    @Test(
        arguments: [
            ([], .folder("here")), (["out=x"], .file("here/x")), (["dir=d"], .folder("d")),
            (["dir=d", "out=x"], .file("d/x")), (["out=a/x", "dir=/d/"], .file("/d//a/x")),
            (["dir=.", "out=x"], .file("x")), (["dir=.", "out=-"], .file("./-")),
            (["out=x", "out=y"], .file("here/y")),
            (["out=\u{301}x"], .file("here/\u{301}x")),
        ] as [([String], Destination)])
    func outAndDirSetTheDestination(settings: [String], destination: Destination) throws {
        let text = (["http://h/f"] + settings.map { "\t\($0)" }).joined(separator: "\n")
        let item = try #require(items(text).first)
        let made = item.batchItem(options: DownloadOptions(), folder: "here")
        #expect(made.destination == destination)
    }

    @Test func optionsSetDownloadOptions() throws {
        let sum = String(repeating: "0", count: 64)
        let options = try item(
            "checksum=sha-256=\(sum)", "header=A: b", "header=C: d=e", "split=3",
            "max-connection-per-server=5", "allow-overwrite=true", "continue=false",
            "referer=http://r/", "user-agent=me", "timeout=3", "connect-timeout=2.5", "retries=0",
            "ca-certificate=ca.pem"
        ).options
        #expect(options.checksum?.description == "sha-256:\(sum)")
        #expect(options.headers == ["Global: yes", "A: b", "C: d=e"])
        #expect(options.access.referer == "http://r/")
        #expect(options.access.userAgent == "me")
        #expect(options.connections == 5)
        #expect(options.overwrite && !options.resume)
        #expect((options.stallTimeout, options.connectTimeout) == (.seconds(3), .seconds(2.5)))
        #expect(options.retries == 0)
        #expect(options.caCertificate == "ca.pem")
    }

    @Test(arguments: [("5", 4), ("1", 0), ("0", 1000)])
    func maxTriesIncludesFirstAttempt(tries: String, retries: Int) throws {
        #expect(try item("max-tries=\(tries)").options.retries == retries)
    }

    @Test(arguments: [
        ("none", FileAllocation.none), ("trunc", .trunc), ("falloc", .falloc),
        ("prealloc", .falloc), ("auto", .auto),
    ])
    func allocationIsSet(value: String, allocation: FileAllocation) throws {
        #expect(try item("file-allocation=\(value)").options.files.allocation == allocation)
    }

    @Test func credentialsCanDifferByFile() throws {
        let access = try item(
            "http-passwd=p", "http-user=u", "load-cookies=c", "all-proxy=http://p:1/",
            "no-proxy=a,b", "certificate=x.pem", "private-key=y.pem", "check-certificate=false"
        ).options.access
        #expect(access.credentials == .init(user: "u", password: "p"))
        #expect((access.cookieFile, access.noProxy) == ("c", "a,b"))
        #expect(access.proxy == "http://p:1/")
        #expect((access.clientCertificate, access.clientKey) == ("x.pem", "y.pem"))
        #expect(access.isInsecure)
        // The command line's password does not apply to another user.
        var options = DownloadOptions()
        options.access.credentials = .init(user: "me", password: "mine")
        let other = try #require(items("http://h/f\n http-user=u").first)
        let made = other.batchItem(options: options, folder: ".")
        #expect(made.options.access.credentials == .init(user: "u", password: nil))
    }

    @Test func limitsOfAFileReachIt() throws {
        let options = try item(
            "max-download-limit=1M", "lowest-speed-limit=20K", "retry-wait=3", "min-split-size=2M"
        ).options
        #expect((options.limits.rate, options.limits.minRate) == (1_048_576.0, 20_480.0))
        #expect((options.retryWait, options.minSplitSize) == (.seconds(3), 2 << 20))
        #expect(try item("max-download-limit=0").options.limits.rate == nil)
    }

    @Test func emptyFolderIsTheCurrentOne() throws {
        #expect(try item("dir=").destination == .folder("."))
        #expect(try item("dir=", "out=x").destination == .file("x"))
    }

    @Test func compressedListIsTheSameList() throws {
        let file = try InputFile(reading: GzipExamples.one + GzipExamples.two)
        #expect(file.items.map(\.urls) == [["http://a/f"], ["http://a/g"]])
        let problem = try #require(throws: InputFile.LineError.self) {
            try InputFile(reading: GzipExamples.one.dropLast())
        }
        #expect(problem.kind == .damagedCompression)
    }

    @Test func additionalURLsAreMirrors() throws {
        let item = try #require(items("http://h/f\thttp://m/f\thttp://n/f").first)
        let made = item.batchItem(options: DownloadOptions(), folder: ".")
        #expect(made.url == "http://h/f")
        #expect(made.options.mirrors == ["http://m/f", "http://n/f"])
    }

    @Test(
        arguments: [
            ("http://h/a\n  frobnicate=1", 2, .unknownOption("frobnicate")),
            ("\n\n\nhttp://h/a\n\n out=\n", 6, .badValue("out", expected: "")),
            ("http://h/a\n OUT=x", 2, .unknownOption("OUT")),
            ("http://h/a\n out=/x", 2, .badValue("out", expected: "")),
            ("http://h/a\n out=x/", 2, .badValue("out", expected: "")),
            ("http://h/a\n out=../x", 2, .badValue("out", expected: "")),
            ("http://h/a\n out=a/../../x", 2, .badValue("out", expected: "")),
            ("http://h/a\n save-cookies=c", 2, .unknownOption("save-cookies")),
            ("http://h/a\n min-split-size=0", 2, .badValue("min-split-size", expected: "")),
            ("http://h/a\n max-download-limit=x", 2, .badValue("max-download-limit", expected: "")),
            ("http://h/a\n retry-wait=-1", 2, .badValue("retry-wait", expected: "")),
            ("http://h/a\n split=0", 2, .badValue("split", expected: "")),
            ("http://h/a\n split=65", 2, .badValue("split", expected: "")),
            ("http://h/a\n split=4x", 2, .badValue("split", expected: "")),
            ("http://h/a\n checksum=sha-256=12", 2, .badValue("checksum", expected: "")),
            ("http://h/a\n header=secret", 2, .badValue("header", expected: "")),
            ("http://h/a\n header=Range: bytes=0-1", 2, .reservedHeader(name: "Range")),
            (
                "http://h/a\n header=Accept-Encoding: gzip", 2,
                .reservedHeader(name: "Accept-Encoding")
            ),
            ("http://h/a\n header=a secret: x", 2, .badValue("header", expected: "")),
            ("http://h/a\n dir=~/x", 2, .badValue("dir", expected: "")),
            ("http://h/a\n dir=http://h/x", 2, .badValue("dir", expected: "")),
            ("http://h/a\n out=http://h/x", 2, .badValue("out", expected: "")),
            ("http://h/a\n certificate=http://h/x", 2, .badValue("certificate", expected: "")),
            ("http://h/a\n out=~/x", 2, .badValue("out", expected: "")),
            ("http://h/a\n overwrite=yes", 2, .badValue("overwrite", expected: "")),
            ("http://h/a\n timeout=nan", 2, .badValue("timeout", expected: "")),
            ("http://h/a\n all-proxy=ftp://u:secret@h", 2, .badValue("all-proxy", expected: "")),
            ("http://h/a\n http-user=a:b", 2, .badValue("http-user", expected: "")),
            ("  out=x\nhttp://h/a", 1, .optionWithoutURL),
            ("http://h/a\n out", 2, .notAnOption), ("http://h/a\n =x", 2, .notAnOption),
            // A URL that was indented by mistake may contain a password, so the message omits it.
            ("http://h/a\n http://u:secret@h/?a=b", 2, .notAnOption),
            ("http://h/a\u{0}b", 1, .controlCharacter),
            ("x\nhttp://h/\u{1b}[2J", 2, .controlCharacter),
            ("http://h/a\rhttp://h/b", 1, .controlCharacter),
        ] as [(String, Int, InputFile.LineError.Kind)])
    func errorsHaveTheirLine(text: String, line: Int, kind: InputFile.LineError.Kind) throws {
        let problem = try #require(throws: InputFile.LineError.self) { try items(text) }
        #expect(problem.line == line)
        guard case .badValue(let name, _) = kind else {
            #expect(problem.kind == kind)
            return
        }
        guard case .badValue(name, let expected) = problem.kind else {
            Issue.record("\(problem)")
            return
        }
        #expect(!expected.isEmpty && !expected.contains("secret"))
    }

    @Test(arguments: [
        [0xff], [0xc3], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf8, 0x88, 0x80, 0x80],
    ])
    func invalidUTF8IsRefused(bytes: [UInt8]) throws {
        let text = Array("http://h/a\n\nhttp://h/".utf8) + bytes + Array("\n".utf8)
        let problem = try #require(throws: InputFile.LineError.self) {
            try InputFile(reading: text)
        }
        #expect(problem == InputFile.LineError(line: 3, kind: .notUTF8))
    }

    /// Random bytes are read or refused.
    @Test func parsesOrRefusesAnyBytes() {
        let pieces: [[UInt8]] = [
            Array("http://h/a".utf8), Array("\n".utf8), Array("\r\n".utf8), Array(" ".utf8),
            Array("\t".utf8), Array("#".utf8), Array("out=x".utf8), Array("=".utf8), [0xff], [0],
            [0xef, 0xbb, 0xbf], Array("e\u{301}".utf8), Array("\u{2028}".utf8),
        ]
        for _ in 0..<5000 {
            let bytes = (0..<Int.random(in: 0...12)).flatMap { _ in pieces.randomElement() ?? [] }
            guard let list = try? InputFile(reading: bytes) else { continue }
            let lines = bytes.split(separator: UInt8(ascii: "\n"))
            #expect(list.items.count <= lines.count)
            #expect(list.items.allSatisfy { !$0.urls.isEmpty && !$0.urls.contains("") })
        }
    }

    @Test func everyOptionDescribesItsValues() {
        for (name, option) in InputOption.table {
            #expect(!option.expected.isEmpty)
            var target = InputOption.Target()
            // An empty folder means the current one; an empty proxy none, and an empty user agent
            // no field.
            let canBeEmpty = ["dir", "proxy", "all-proxy", "no-proxy", "user-agent"].contains(name)
            #expect(option.apply(&target, "") == canBeEmpty, "\(name) and nothing at all")
        }
        #expect(InputFile.optionNames == InputFile.optionNames.sorted())
    }
}
