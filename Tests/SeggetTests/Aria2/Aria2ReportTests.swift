import Assembler
import Glibc
import ReportExamples
import SeggetFormats
import Testing

@testable import SeggetReports
@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport
@testable import SeggetCommand
import SeggetAria2

struct Aria2ReportTests {
    /// Collects the output of a report.
    private final class Streams {
        var output = ""
        var log = ""
    }

    private static let now = 1_764_117_671.0
    private static let time = Aria2Time(now).console

    private func report(
        _ count: Int = 1, to streams: Streams, isTerminal: Bool = false,
        _ change: (inout Aria2Console) -> Void = { _ in }
    ) throws -> Aria2Report {
        var console = Aria2Console()
        change(&console)
        let tasks = try (0..<count).map { index in
            Aria2Task(
                gid: try #require(Download.ID("aaaaa\(index)0123456789")),
                urls: ["https://user:secret@example.org/f?token=secret"], options: Aria2Options())
        }
        return Aria2Report(
            console, tasks: tasks, folder: "/d",
            screen: Aria2Screen(
                isTerminal: isTerminal, isColoured: isTerminal && console.hasColour,
                columns: { 30 }, write: { streams.output += $0 }, writeLog: { streams.log += $0 }))
    }

    private static let url = "https://example.org/f.iso"

    private static func start(_ path: String, resumed: Int64 = 0) -> BatchEvent.Kind {
        .event(
            .started(
                DownloadStart(
                    path: path, size: 200_000, resumedBytes: resumed, connections: 4,
                    transfer: .segments,
                    identity: "etag")))
    }

    private static func progress(_ done: Int64, rate: Double = 59_700) -> BatchEvent.Kind {
        .event(
            .progress(
                DownloadProgress(
                    phase: .downloading, bytesDone: done, size: 200_000, bytesVerifying: 0,
                    bytesReceived: done, bytesPerSecond: rate, connections: 1, map: [],
                    elapsed: .seconds(1), limit: nil)))
    }

    private static func done(
        _ path: String, verified: [Digest] = [], unchanged: DownloadedFile.Unchanged? = nil
    ) -> BatchEvent.Kind {
        .ended(
            .success(
                DownloadedFile(
                    path: path, size: 200_000, crc32: 0, verified: verified, bytesReceived: 200_000,
                    bytesResumed: 0, duration: .seconds(3), unchanged: unchanged)))
    }

    private static func failed(_ reason: DownloadError.Reason, path: String? = nil)
        -> BatchEvent.Kind
    {
        .ended(
            .failure(DownloadError(reason: reason, url: url, path: path, bytesKept: 50_000)))
    }

    private func run(
        _ kinds: [(Int, BatchEvent.Kind)], of count: Int = 1, ticks: Bool = false,
        isTerminal: Bool = false, to streams: Streams = Streams(),
        _ change: (inout Aria2Console) -> Void = { _ in }
    ) throws -> Int32 {
        var report = try report(count, to: streams, isTerminal: isTerminal, change)
        report.start(now: Self.now)
        for (index, kind) in kinds {
            report.handle(BatchEvent(index: index, kind: kind), now: Self.now)
            if case .event(.progress) = kind, ticks { report.tick(now: Self.now) }
        }
        return report.finish()
    }

    private static let one: [(Int, BatchEvent.Kind)] = [
        (0, .begun(url: url)), (0, start("f.iso")), (0, progress(49_152)), (0, progress(163_840)),
        (0, done("f.iso")),
    ]

    /// The output of aria2c 1.36 for the same events, without colours, which are for terminals
    /// only.
    @Test func fileIsReportedAsByAria2() throws {
        let streams = Streams()
        #expect(try run(Self.one, ticks: true, to: streams) == 0)
        #expect(
            streams.output == """

                \(Self.time) [NOTICE] Downloading 1 item(s)
                [#aaaaa0 48KiB/195KiB(24%) CN:1 DL:58KiB ETA:2s]
                [#aaaaa0 160KiB/195KiB(81%) CN:1 DL:58KiB]

                \(Self.time) [NOTICE] Download complete: /d/f.iso

                Download Results:
                gid   |stat|avg speed  |path/URI
                ======+====+===========+=======================================================
                aaaaa0|OK  |    65KiB/s|/d/f.iso

                Status Legend:
                (OK):download completed.

                """)
    }

    @Test func terminalIsRedrawn() throws {
        let streams = Streams()
        #expect(try run(Self.one, ticks: true, isTerminal: true, to: streams) == 0)
        let erased = "\r\(String(repeating: " ", count: 29))\r"
        func colour(_ code: String) -> String { "\u{1b}[\(code)m" }
        #expect(
            streams.output.hasPrefix(
                "\n\(Self.time) [\(colour("1;32"))NOTICE\(colour("0"))] Downloading 1 item(s)\n\(erased)"
                    + "\(colour("35"))[\(colour("0"))#aaaaa0 48KiB/195KiB\(colour("36"))(24%)\(colour("0"))"
                    + " CN\(colour("0"))\(erased)\(colour("35"))["))
        #expect(streams.output.contains("\(colour("0"))\n\(Self.time) [\(colour("1;32"))NOTICE"))
    }

    @Test func coloursCanBeDisabled() throws {
        let streams = Streams()
        _ = try run(Self.one, ticks: true, isTerminal: true, to: streams) {
            $0.hasColour = false
            $0.cutsReadout = false
        }
        #expect(
            streams.output.contains(
                "\r[#aaaaa0 48KiB/195KiB(24%) CN:1 DL:58KiB ETA:2s]\r                             \r["
            ))
        #expect(!streams.output.contains("\u{1b}"))
    }

    @Test func summaryIsPrintedPeriodically() throws {
        let streams = Streams()
        _ = try run(Self.one, ticks: true, to: streams) {
            $0.summaryInterval = 2
            $0.showsReadout = false
        }
        let parts = streams.output.split(separator: " *** Download Progress Summary as of ")
        #expect(parts.count == 2)
        #expect(
            parts.last?.contains(
                "\n[#aaaaa0 160KiB/195KiB(81%) CN:1 DL:58KiB]\nFILE: /d/f.iso\n-----") == true)
        #expect(!streams.output.contains("48KiB"))
    }

    /// With yt-dlp's options only the readout is printed.
    @Test func readoutAloneCanBeShown() throws {
        let streams = Streams()
        _ = try run(Self.one, ticks: true, to: streams) {
            $0.level = .warn
            $0.results = .hide
            $0.summaryInterval = 0
        }
        #expect(
            streams.output == """
                [#aaaaa0 48KiB/195KiB(24%) CN:1 DL:58KiB ETA:2s]
                [#aaaaa0 160KiB/195KiB(81%) CN:1 DL:58KiB]

                """)
    }

    @Test func failuresAreReportedAsByAria2() throws {
        let streams = Streams()
        let code = try run(
            [
                (0, .begun(url: Self.url)), (1, .begun(url: Self.url)),
                (0, Self.failed(.refused(status: 403))),
                (1, Self.failed(.transfer(.status(404), attempts: 1))),
            ], of: 2, to: streams)
        #expect(code == 3)
        #expect(
            streams.output == """

                \(Self.time) [NOTICE] Downloading 2 item(s)

                \(Self.time) [ERROR] CUID#7 - Download aborted. URI=\(Self.url)
                Exception: [segget:0] errorCode=22 URI=\(Self.url)
                  -> [segget:0] errorCode=22 the server refused access to `\(Self.url)`: 403 (Forbidden)

                \(Self.time) [NOTICE] Download GID#aaaaa00123456789 not complete:\u{20}

                \(Self.time) [ERROR] CUID#8 - Download aborted. URI=\(Self.url)
                Exception: [segget:0] errorCode=3 URI=\(Self.url)
                  -> [segget:0] errorCode=3 `\(Self.url)` could not be downloaded: the \
                server answered 404 (Not Found)

                \(Self.time) [NOTICE] Download GID#aaaaa10123456789 not complete:\u{20}

                Download Results:
                gid   |stat|avg speed  |path/URI
                ======+====+===========+=======================================================
                aaaaa0|ERR |        n/a|\(Self.url)
                aaaaa1|ERR |        n/a|\(Self.url)

                Status Legend:
                (ERR):error occurred.

                aria2 will resume download if the transfer is restarted.
                If there are any errors, then see the log file. See '-l' option in help/man page for \
                details.

                """)
        #expect(!(streams.output + streams.log).contains("secret"))
    }

    @Test func signalLeavesAPart() throws {
        let streams = Streams()
        var report = try report(2, to: streams) { $0.results = .full }
        report.start(now: Self.now)
        for kind in [.begun(url: Self.url), Self.start("/d/f.iso"), Self.progress(50_000)] {
            report.handle(BatchEvent(index: 0, kind: kind), now: Self.now)
        }
        report.stopping(signal: SIGINT, now: Self.now)
        report.handle(
            BatchEvent(index: 0, kind: Self.failed(.cancelled, path: "/d/f.iso")), now: Self.now)
        #expect(report.finish() == 7)
        #expect(
            streams.output.contains(
                "[NOTICE] Shutdown sequence commencing... Press Ctrl-C again for emergency shutdown.\n"
            ))
        #expect(
            streams.output.contains(
                "[NOTICE] Download GID#aaaaa00123456789 not complete: /d/f.iso\n"))
        #expect(streams.output.contains("\naaaaa0|INPR|    48KiB/s| 25|/d/f.iso\n"))
        #expect(!streams.output.contains("ERROR"))
    }

    @Test func quietWritesOnlyTheLog() throws {
        let streams = Streams()
        let code = try run(
            [(0, .begun(url: Self.url)), (0, Self.failed(.transfer(.status(404), attempts: 1)))],
            to: streams
        ) {
            $0.isQuiet = true
            $0.logLevel = .error
        }
        #expect(code == 3)
        #expect(streams.output.isEmpty)
        let head = "\(Aria2Time(Self.now).log) [ERROR] [segget:0] CUID#7 - Download aborted. URI="
        #expect(streams.log.hasPrefix("\(head)\(Self.url)\nException: [segget:0] errorCode=3 "))
        #expect(streams.log.split(separator: "\n").count == 3)
    }

    @Test func existingFileIsReported() throws {
        let streams = Streams()
        _ = try run(
            [
                (0, .begun(url: Self.url)),
                (0, Self.done("f.iso", unchanged: .alreadyComplete)),
            ], to: streams)
        #expect(
            streams.output.contains(
                " [NOTICE] GID#aaaaa00123456789 - Download has already completed: /d/f.iso\n\n"
                    + "\(Self.time) [NOTICE] Download complete: /d/f.iso\n"))
    }

    @Test func otherNameIsReported() throws {
        let streams = Streams()
        let probed = BatchEvent.Kind.event(
            .probed(
                RemoteFile(
                    url: Self.url, effectiveURL: "https://cdn.example.org/f", redirects: 1,
                    identity: RemoteIdentity(size: 200_000, etag: nil, lastModified: nil),
                    date: nil,
                    acceptsRanges: true, contentType: nil, suggestedName: "f.iso", digests: [],
                    probedBy: "HEAD", headProblem: nil)))
        _ = try run(
            [
                (0, .begun(url: Self.url)), (0, probed),
                (0, Self.start("/d/f.1.iso", resumed: 2048)),
                (0, Self.done("/d/f.1.iso")),
            ], to: streams)
        #expect(
            streams.output.contains(" [NOTICE] CUID#7 - Redirecting to https://cdn.example.org/f\n")
        )
        #expect(
            streams.output.contains(
                "[NOTICE] File already exists. Renamed to /d/f.1.iso.\n\n\(Self.time) [NOTICE] "
                    + "GID#aaaaa00123456789 - Continuing with 2.0KiB already received: /d/f.1.iso\n"
            ))
    }

    @Test func requestedDigestIsReported() throws {
        let line = "Verification finished successfully. file=/d/f.iso\n"
        let streams = Streams()
        let kinds =
            [(0, .begun(url: Self.url)), (0, Self.done("f.iso", verified: [Digest(crc32: 1)]))]
            as [(Int, BatchEvent.Kind)]
        _ = try run(kinds, to: streams)
        // A server's digest is reported at level `info` only.
        #expect(!streams.output.contains(line))
        _ = try run(kinds, to: streams) { $0.level = .info }
        #expect(streams.output.contains(" [INFO] \(line)"))
    }

    @Test func noticesHaveLevels() throws {
        let streams = Streams()
        let kinds: [(Int, BatchEvent.Kind)] = [
            (0, .begun(url: Self.url)),
            (0, .event(.notice(.startedOver(.urlChanged)))),
            (0, .event(.notice(.rangesIgnored))),
        ]
        #expect(try run(kinds, to: streams) { $0.level = .warn } == 7)
        #expect(streams.output.contains(" [WARN] GID#aaaaa00123456789 - starting over: "))
        #expect(!streams.output.contains("ignored"))
        #expect(
            streams.log.contains(" [INFO] [segget:0] GID#aaaaa00123456789 - the server ignored"))
    }

    @Test func earlierRefusalsCount() throws {
        let streams = Streams()
        var report = try report(3, to: streams)
        report.conclude(0, .finished, "/d/f.iso", now: Self.now)
        report.conclude(2, .checksum, "/d/g.iso", now: Self.now)
        report.conclude(1, .unknown, "magnet:", why: "no web address", now: Self.now)
        #expect(report.finish() == 1)
        #expect(streams.output.contains(" [ERROR] Checksum error detected. file=/d/g.iso\n"))
        #expect(
            streams.output.contains(
                " [ERROR] CUID#8 - Download aborted. URI=magnet:\nException: [segget:0] errorCode=1 "
                    + "no web address\n"))
        #expect(
            streams.output.contains(
                "\naaaaa0|OK  |        n/a|/d/f.iso\naaaaa2|ERR |        n/a|/d/g.iso\naaaaa1|ERR |        n/a|magnet:\n"
            ))
    }

    @Test func unopenableLogIsAnError() throws {
        var console = Aria2Console()
        console.log = "/dev/null/log"
        do throws(Aria2LogError) {
            _ = try Aria2Screen(console)
            Issue.record("it was opened")
        } catch {
            #expect(error.errno == ENOTDIR)
            #expect(
                error.lines[1].contains(
                    "errorCode=1 Failed to open the file /dev/null/log, cause: ")
            )
        }
    }
}
