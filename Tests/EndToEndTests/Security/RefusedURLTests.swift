import Foundation
import TestSupport
import Testing

/// Messages about URLs that segget cannot download.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct RefusedURLTests {
    @Test(
        arguments: [
            ("magnet:?xt=urn:btih:hush", "`magnet:` is a magnet link of BitTorrent"),
            ("ftp://h.example/f?hush", "`ftp://h.example/f` is a `ftp:` URL"),
            ("sftp://u:hush@h.example/f", "is a `sftp:` URL"),
            ("s3://bucket/key", "`s3://bucket/key` names an object in a store"),
            ("gs://bucket/key", "`gs://bucket/key` names an object in a store"),
            ("file:///etc/passwd", "is a file on this machine, not a URL"),
            ("/etc/passwd", "`/etc/passwd` is a file on this machine, not a URL"),
            ("list.txt", "`list.txt` is a file on this machine, not a URL"),
            ("http://h.example/a\nhttp://h.example/b", "there is a line break"),
            ("http://h.example/f\u{1b}[31m", "there is a line break or another control character"),
        ])
    func oneLineSaysWhyURLIsRefused(url: String, words: String) async throws {
        let sandbox = try Sandbox()
        try sandbox.write("list.txt", "http://127.0.0.1:1/x\n")
        for command in [["get"], ["probe"], ["get", "--dry-run"]] {
            let outcome = try await Run(command + [url], in: sandbox.path).ended()
            #expect(outcome.exitCode == 64, "\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains(words), "\(outcome.errorOutput)")
            let lines = outcome.errorOutput.split(separator: "\n")
            #expect(lines.map { $0.prefix { $0 != ":" } } == ["error", "hint"])
            #expect(!outcome.errorOutput.contains("hush"))
            #expect(!outcome.errorOutput.contains("\u{1b}"))
        }
        #expect(try sandbox.names() == ["list.txt"])
    }

    /// segget downloads the other URLs of a list, and reports the line of a control character.
    @Test func listReportsEachRefusedURL() throws {
        let stage = try BatchStage(size: 1000)
        let outcome = try stage.run(
            list: "ftp://h.example/f?hush\n\(stage.origin.url("/1/f"))\nmagnet:?xt=hush\n")
        #expect(outcome.end == .exit(64), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("is a `ftp:` URL"), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("is a magnet link"), "\(outcome.errorOutput)")
        #expect(!outcome.errorOutput.contains("hush"))
        #expect(try stage.sandbox.names() == ["f"])
        let broken = try stage.run(list: "http://h.example/\n\nhttp://h.example/\u{1}\n")
        #expect(broken.end == .exit(64))
        #expect(broken.errorOutput.contains("line 3: the line has a control character"))
    }

    /// A folder may have the same name as the URL's host.
    @Test func ignoresFolderWithNameOfHost() async throws {
        let trial = try WireTrial(size: 1000)
        let host = "127.0.0.1:\(trial.origin.port)"
        let folder = try Sandbox()
        try FileManager.default.createDirectory(
            atPath: folder.path(host), withIntermediateDirectories: true)
        let outcome = try await Run(["\(host)/dir/file.bin"], in: folder.path).ended()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        // With a scheme it is a URL, even if such a path exists.
        try FileManager.default.createDirectory(
            atPath: folder.path("http:/\(host)"), withIntermediateDirectories: true)
        try folder.write("http:/\(host)/x", "")
        let second = try await Run(["http://\(host)/x"], in: folder.path).ended()
        #expect(second.exitCode == 0, "\(second.errorOutput)")
    }

    private static let words = "if the URL continues after `&`, quote it"

    @Test(arguments: [400, 401, 403, 404, 410])
    func hintsThatShellMayHaveCutTheQuery(status: Int) async throws {
        let trial = try WireTrial(size: 1000) { _, reply in reply = .text(status) }
        for (query, isHinted) in [
            ("?token=hush", true), ("?hush", true), ("?a=hush&b=hush", false), ("", false),
            ("?", false), ("#a?b=hush", false),
        ] {
            for command in [[], ["probe"], ["--dry-run"]] {
                let outcome = try await Run(
                    command + [trial.origin.url("/f\(query)")], in: trial.sandbox.path
                ).ended()
                #expect([69, 77].contains(outcome.exitCode), "\(outcome.errorOutput)")
                #expect(
                    outcome.errorOutput.contains(Self.words) == isHinted, "\(outcome.errorOutput)")
                #expect(!outcome.errorOutput.contains("hush"))
            }
        }
        // No shell has cut the URLs of a list, so only the other URL gets the hint.
        let list = try Sandbox().keeping("\(trial.origin.url("/f?a=hush"))\n")
        let listed = try await Run(
            ["-i", list.path("list"), trial.origin.url("/g?a=hush")], in: trial.sandbox.path
        ).ended()
        let hints = listed.errorOutput.components(separatedBy: Self.words).count - 1
        #expect(hints == 1, "\(listed.errorOutput)")
    }

    @Test func otherFailuresGetNoHintAboutTheQuery() async throws {
        let trial = try WireTrial(size: 1000) { _, reply in reply = .text(501) }
        let outcome = try await trial.run("--retries", "0", path: "/f?a=b")
        #expect(outcome.exitCode == 69)
        #expect(!outcome.errorOutput.contains(Self.words))
    }
}

extension Sandbox {
    fileprivate func keeping(_ text: String) throws -> Sandbox {
        try write("list", text)
        return self
    }
}
