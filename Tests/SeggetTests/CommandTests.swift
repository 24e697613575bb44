import ArgumentParser
import Assembler
import Segmenter
import Testing

@testable import segget

struct CommandTests {
    private static let sha1 = "000102030405060708090A0B0C0D0E0F10111213"

    private func get(_ arguments: [String]) throws -> GetCommand {
        try #require(try Segget.parseAsRoot(arguments) as? GetCommand)
    }

    @Test func aURLAloneMeansGet() throws {
        let command = try get(["http://h/f"])
        #expect(command.urls == ["http://h/f"])
        #expect(!command.isBatch)
        #expect(command.destination == .folder("."))
        #expect(command.options.connections == 8)
        #expect(command.options.resume && !command.options.overwrite)
    }

    @Test func everyOptionReachesTheLibrary() throws {
        let command = try get(
            [
                "get", "http://h/f", "-o", "out", "-x", "64", "--checksum", "SHA1=\(Self.sha1)",
                "--overwrite", "--no-resume", "-H", "A: b", "--header", "C:d",
                "--ca-certificate", "ca.pem", "--connect-timeout", "2.5", "--stall-timeout", "3",
                "--retries", "0",
            ])
        let options = command.options
        #expect(command.destination == .file("out"))
        #expect(options.connections == 64)
        #expect(options.checksum?.description == "sha-1:\(Self.sha1.lowercased())")
        #expect(options.overwrite && !options.resume)
        #expect(options.headers == ["A: b", "C:d"])
        #expect(options.caCertificate == "ca.pem")
        #expect(options.connectTimeout == 2.5)
        #expect(options.stallTimeout == 3)
        #expect(options.retries == 0)
    }

    @Test func severalURLsMakeABatch() throws {
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
            ([], "Missing expected argument"), (["http://h", "-o", "a", "-d", "b"], "together"),
            (["http://h", "-x", "0"], "1 to 64"), (["http://h", "-x", "65"], "1 to 64"),
            (["http://h", "--checksum", "abc"], "neither `:` nor `=`"),
            (["http://h", "--checksum", "sha3:00"], "`sha3` is unknown"),
            (["http://h", "--checksum", "md5:00"], "32 hexadecimal digits, not 2"),
            (["http://h", "--checksum", "crc32:0000000g"], "other than hexadecimal"),
            (["http://h", "-H", "secret"], "no colon"),
            (["http://h", "-H", ": secret"], "not the name"),
            (["http://h", "-H", "A b: secret"], "`A b` is not the name"),
            (["http://h", "-H", "A: secret\r\nB: c"], "line break"),
            (["http://h", "-H", "Range: bytes=0-"], "sets the header `Range` itself"),
            (["http://h", "-q", "-v"], "together"), (["http://h", "-o", "-"], "standard output"),
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
            (["probe", "http://h", "-H", "secret"], "no colon"), (["probe"], "Missing expected"),
            (["-j", "2"], "Missing expected"), (["http://h", ""], "empty URL"),
        ] as [([String], String)])
    func wrongUsageIsRefusedByName(arguments: [String], problem: String) {
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
    func progressGoesByOptionsAndTerminal(options: [String], style: ProgressView.Style) throws {
        let terminal = Terminal(isTerminal: false) { _ in nil }
        let settings = try get(["http://h"] + options).reportSettings(terminal: terminal)
        #expect(settings.style == style)
    }
}
