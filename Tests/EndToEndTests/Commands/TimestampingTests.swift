import Foundation
import Glibc
import TestSupport
import Testing

/// Tests `--timestamping` with nginx, and with an origin that ignores conditional requests.
struct TimestampingTests {
    private static let old = 1_500_000_000

    /// A file that nginx serves, and the folder of the download.
    private struct Site {
        let root: Sandbox
        let folder: Sandbox
        let nginx: Nginx

        init(directives: String = "") throws {
            root = try Sandbox()
            folder = try Sandbox()
            nginx = try Nginx(root: root.path, directives: directives)
        }

        func offer(_ content: Content, time: Int) throws {
            try content.write(to: root.path("file"))
            try TimestampingTests.touch(root.path("file"), time)
        }

        /// Runs segget, and waits until nginx has logged the expected number of bytes.
        func run(
            _ arguments: [String], fetches bytes: Int64 = 0
        ) throws -> (outcome: Run.Outcome, sent: Int64) {
            let before = try nginx.accessLog().count
            let outcome = try Run(arguments + [nginx.url("file")], in: folder.path).wait()
            func sent() throws -> Int64 {
                try nginx.accessLog().dropFirst(before).reduce(0) { $0 + $1.bytes }
            }
            // nginx logs a request when it has ended, which may be after segget's exit.
            _ = try eventually { try nginx.accessLog().count > before && sent() >= bytes }
            return (outcome, try sent())
        }
    }

    private static func touch(_ path: String, _ time: Int) throws {
        let times = [timeval](repeating: timeval(tv_sec: time, tv_usec: 0), count: 2)
        guard utimes(path, times) == 0 else { throw SystemCallError("utimes") }
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [[], ["--xattr"], ["--keep-manifest"], ["--no-remote-time"]],
        [[], ["-o", "file"]])
    func keepsFileIfRemoteIsNotNewer(way: [String], target: [String]) throws {
        let site = try Site()
        let content = Content(size: 2_000_000, seed: 1)
        try site.offer(content, time: Self.old)
        #expect(try site.run(way, fetches: 2_000_000).outcome.end == .exit(0))
        let (outcome, sent) = try site.run(["--timestamping"] + target)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("the remote file is not newer"))
        #expect(sent <= 1, "no body but the byte of a server that knows no condition")
        #expect(try content.firstDifference(at: site.folder.path("file")) == nil)
    }

    @Test(.timeLimit(.minutes(5)), arguments: [[], ["--xattr"], ["--keep-manifest"]])
    func newerRemoteFileReplacesFile(way: [String]) throws {
        let site = try Site()
        try site.offer(Content(size: 2_000_000, seed: 1), time: Self.old)
        #expect(try site.run(way, fetches: 2_000_000).outcome.end == .exit(0))
        let newer = Content(size: 2_000_000, seed: 2)
        try site.offer(newer, time: Self.old + 100)
        let (outcome, sent) = try site.run(way + ["--timestamping"], fetches: 2_000_000)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(sent >= 2_000_000)
        #expect(try newer.firstDifference(at: site.folder.path("file")) == nil)
        var status = stat()
        #expect(stat(site.folder.path("file"), &status) == 0)
        #expect(status.st_mtim.tv_sec == Self.old + 100)
        let again = try site.run(["--timestamping"])
        #expect(again.outcome.end == .exit(0) && again.sent <= 1)
    }

    @Test(.timeLimit(.minutes(5)), arguments: [[], ["-o", "file"]])
    func downloadsOlderFileOfOtherSize(target: [String]) throws {
        let site = try Site(directives: "etag off; if_modified_since before;")
        try site.offer(Content(size: 2_000_000, seed: 1), time: Self.old)
        #expect(try site.run([], fetches: 2_000_000).outcome.end == .exit(0))
        let other = Content(size: 2_000_001, seed: 2)
        try site.offer(other, time: Self.old - 100)
        #expect(try site.run(["--timestamping"] + target).outcome.end == .exit(0))
        #expect(try other.firstDifference(at: site.folder.path("file")) == nil)
    }

    @Test(.timeLimit(.minutes(5)), arguments: [[], ["-o", "file"]])
    func newerLocalFileStaysUnchanged(target: [String]) throws {
        let site = try Site(directives: "etag off;")
        try site.offer(Content(size: 2_000_000, seed: 1), time: Self.old)
        let mine = Content(size: 2_000_000, seed: 3)
        try mine.write(to: site.folder.path("file"))
        let (outcome, sent) = try site.run(["--timestamping"] + target)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(sent <= 1)
        #expect(try mine.firstDifference(at: site.folder.path("file")) == nil)
    }

    @Test(.timeLimit(.minutes(5))) func downloadsMissingFile() throws {
        let site = try Site()
        let content = Content(size: 2_000_000, seed: 1)
        try site.offer(content, time: Self.old)
        #expect(try site.run(["--timestamping"]).outcome.end == .exit(0))
        #expect(try content.firstDifference(at: site.folder.path("file")) == nil)
    }

    /// segget sends the validators of the downloaded file.
    @Test(.timeLimit(.minutes(5))) func sendsValidatorsOfDownloadedFile() throws {
        let stage = try Stage(size: 300_000)
        let date = httpDate(unixTime: Self.old)
        stage.origin.change { offer in
            offer.lastModified = date
            offer.bend = { request, reply in
                if request.header("If-None-Match") == "\"v1\"" { reply = .text(304) }
            }
        }
        #expect(try stage.run(["--xattr"]).end == .exit(0))
        let requests = stage.origin.requests.count
        let outcome = try stage.run(["--timestamping", "-o", "file"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        let asked = stage.origin.requests.dropFirst(requests)
        #expect(asked.count == 1)
        #expect(asked.first?.header("If-None-Match") == "\"v1\"")
        #expect(asked.first?.header("If-Modified-Since") == date)
        #expect(asked.first?.method == "GET")
        // A file with another size is not the downloaded one.
        try #require(truncate(stage.path("file"), 299_999) == 0)
        #expect(try stage.run(["--timestamping", "-o", "file"]).end == .exit(0))
        #expect(try stage.isRight())
    }

    /// A matching checksum completes the run; otherwise segget downloads the file.
    @Test(.timeLimit(.minutes(5))) func checksumDecides() throws {
        let stage = try Stage(size: 300_000)
        stage.origin.change { $0.lastModified = httpDate(unixTime: Self.old) }
        let wanted = ["--timestamping", "--checksum", "sha-256:\(stage.content.sha256Hex)"]
        try Content(size: 300_000, seed: 9).write(to: stage.path("file"))
        #expect(try stage.run(wanted).end == .exit(0))
        #expect(try stage.isRight())
        let requests = stage.origin.requests.count
        #expect(try stage.run(wanted).end == .exit(0))
        #expect(stage.bytesServed(after: requests) == 0)
    }

    /// An interrupted download of a newer file keeps the old file.
    @Test(.timeLimit(.minutes(5))) func oldFileStaysUntilNewOneIsComplete() throws {
        let stage = try Stage(size: 3_000_000)
        stage.origin.change { $0.lastModified = httpDate(unixTime: Self.old) }
        #expect(try stage.run().end == .exit(0))
        let before = stage.content
        stage.origin.change { offer in
            offer.content = Content(size: 3_000_000, seed: 8)
            offer.etag = "\"v2\""
            offer.lastModified = httpDate(unixTime: Self.old + 100)
        }
        let kept = try stage.leavePart(each: 300_000, arguments: ["--timestamping"])
        #expect(kept > 0)
        #expect(try before.firstDifference(at: stage.path("file")) == nil)
        let outcome = try stage.run(["--timestamping"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("resuming"), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }
}
