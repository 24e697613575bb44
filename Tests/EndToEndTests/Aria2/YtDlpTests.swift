import Foundation
import Glibc
import TestSupport
import Testing

/// Tests yt-dlp from PyPI with the drop-in as its downloader.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct YtDlpTests {
    private static let size: Int64 = 6_000_000
    private static let saved = "clip [clip].mp4"

    private let dropIn: DropIn
    private let home: Sandbox
    private let stage: Stage

    init() throws {
        dropIn = try DropIn()
        home = try Sandbox("segget-home")
        stage = try Stage(size: Self.size, seed: 26)
        bend { _, _ in }
    }

    /// Serves a video, and changes the replies for the downloader.
    ///
    /// yt-dlp's own request, the first of a run, has `Connection: close` and is served unchanged.
    private func bend(_ body: @escaping @Sendable (OriginRequest, inout OriginReply) -> Void) {
        stage.origin.bend { request, reply in
            reply.set("Content-Type", "video/mp4")
            if request.header("Connection") != "close" { body(request, &reply) }
        }
    }

    /// Starts `yt-dlp --downloader DOWNLOADER OPTIONS URL`.
    private func start(_ downloader: String, _ options: [String] = []) throws -> Run {
        try Run(
            RealServer.Kind.program("yt-dlp"),
            ["--ignore-config", "--downloader", downloader] + options
                + [stage.origin.url("/clip.mp4")],
            in: stage.folder,
            environment: [
                "HOME": home.path, "XDG_CONFIG_HOME": home.path, "XDG_CACHE_HOME": home.path,
                "TMPDIR": home.path,
            ])
    }

    private func run(
        _ downloader: String, _ options: [String] = []
    ) throws -> Run.Outcome {
        let outcome = try start(downloader, options).wait()
        stage.origin.hearOut()
        return outcome
    }

    /// Returns the requests of the downloader, without those of yt-dlp.
    private func downloads(after count: Int = 0) -> [OriginRequest] {
        stage.origin.requests.dropFirst(count).filter { $0.header("Connection") != "close" }
    }

    /// Returns the number of bytes that the downloader requested in ranges, each counted once.
    private func bytesAsked(after count: Int) -> Int64 {
        downloads(after: count).filter { $0.method == "GET" && $0.range != nil }
            .bytesAsked(of: Self.size)
    }

    private func expectRight(
        _ outcome: Run.Outcome, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let said = Comment(rawValue: outcome.output + outcome.errorOutput)
        #expect(outcome.end == .exit(0), said, sourceLocation: location)
        #expect(outcome.errorOutput.isEmpty, said, sourceLocation: location)
        let isTold = outcome.output.contains(/\[download\] (100% of |Download completed)/)
        #expect(isTold, said, sourceLocation: location)
        #expect(try stage.names() == [Self.saved], said, sourceLocation: location)
        #expect((try? stage.isRight(Self.saved)) == true, said, sourceLocation: location)
    }

    /// Kills yt-dlp and the downloader when the first half of the video has been received.
    private func killHalfWay(_ downloader: String) throws {
        bend { request, reply in
            let first = request.range?.first ?? 0
            reply.stallAfter = max(0, Self.size / 2 - first)
        }
        let process = try start(downloader)
        let isThere = process.waits(for: Self.size / 2, name: "\(Self.saved).part")
        guard isThere else { throw Unexpected(text: try process.wait(timeout: 1).errorOutput) }
        #expect(try DropIn.kill(process) >= 2)
        stage.origin.dropConnections()
        stage.origin.hearOut()
        bend { _, _ in }
        #expect(try !stage.names().contains { $0 == Self.saved || $0 == "\(Self.saved).part" })
    }

    // MARK: Tests

    /// aria2c is included to check that the tests also hold for the original.
    @Test(
        arguments: DropIn.names + ["/usr/bin/aria2c"],
        [
            [], ["--downloader-args", "aria2c:-x 4 -k 1M"], ["--no-progress"], ["--no-part"],
            ["--no-mtime", "--no-check-certificate"], ["--mtime", "-o", "%(id)s [clip].%(ext)s"],
        ])
    func downloadsVideo(downloader: String, options: [String]) throws {
        let isReal = downloader.hasPrefix("/")
        try expectRight(run(isReal ? downloader : dropIn.path(downloader), options))
        #expect(downloads().allSatisfy { $0.header("User-Agent")?.hasPrefix("Mozilla/") == true })
    }

    @Test(arguments: DropIn.names) func resumesAfterKill(name: String) throws {
        let downloader = dropIn.path(name)
        try killHalfWay(downloader)
        let there = try #require(stage.recorded("\(Self.saved).part"))
        let count = stage.origin.requests.count
        try expectRight(run(downloader))
        #expect(there >= Self.size / 2)
        #expect(bytesAsked(after: count) <= Self.size - there + (256 << 10))
    }

    @Test func noContinueStartsOver() throws {
        let downloader = dropIn.path(DropIn.names[0])
        try killHalfWay(downloader)
        let count = stage.origin.requests.count
        try expectRight(run(downloader, ["--no-continue"]))
        #expect(bytesAsked(after: count) == Self.size)
    }

    /// Only the minimum time is checked, because a busy machine is slower.
    @Test(arguments: DropIn.names) func respectsRateLimit(name: String) throws {
        let started = monotonicSeconds()
        try expectRight(run(dropIn.path(name), ["--limit-rate", "2M"]))
        #expect(monotonicSeconds() - started >= 2)
    }

    @Test func sendsCookies() throws {
        let jar = try home.write(
            "cookies",
            """
            # Netscape HTTP Cookie File
            127.0.0.1\tFALSE\t/\tFALSE\t2147483647\tseen\tyes
            #HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t2147483647\tsession\tsecret
            127.0.0.2\tFALSE\t/\tFALSE\t2147483647\tother\thost

            """)
        let outcome = try run(dropIn.path(DropIn.names[0]), ["--cookies", jar])
        try expectRight(outcome)
        let cookies = Set(stage.origin.requests.map(CookieEndToEndTests.cookies))
        #expect(cookies == [["seen=yes", "session=secret"]])
        #expect(!downloads().isEmpty)
        #expect(!outcome.output.contains("secret"))
    }

    /// yt-dlp passes on standard output, and shows standard error only after a failure.
    @Test func progressIsOnStandardOutput() throws {
        let gate = Guarded(false)
        bend { request, reply in
            reply.stallAfter = max(0, Self.size / 2 - (request.range?.first ?? 0))
            reply.release = gate
        }
        let process = try start(dropIn.path(DropIn.names[0]))
        let readout = /\[#[0-9a-f]{6} [^\/ ]+B\/5\.7MiB\(\d+%\) CN:\d+ DL:[^\] ]+B/
        #expect(process.waits { process.output.contains(readout) })
        gate.withLock { $0 = true }
        try expectRight(process.wait())
    }

    @Test(arguments: [(404, "3"), (403, "22"), (503, "29")])
    func reportsFailuresAsAria2cDoes(status: Int, code: String) throws {
        bend { _, reply in reply = .text(status) }
        let arguments = ["--downloader-args", "aria2c:--max-tries=1"]
        for downloader in [dropIn.path(DropIn.names[0]), "/usr/bin/aria2c"] {
            let outcome = try run(downloader, arguments)
            let said = Comment(rawValue: outcome.output + outcome.errorOutput)
            #expect(outcome.end == .exit(1), said)
            #expect(outcome.errorOutput.contains("ERROR: aria2c exited with code \(code)"), said)
            #expect(try stage.names() == [], said)
        }
    }
}
