import Assembler
import Glibc
import ReportExamples
import Testing

@testable import SeggetReports
@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport
@testable import SeggetCommand

struct DownloadReportTests {
    /// Collects both outputs of a report.
    private final class Streams {
        var errors = ""
        var json: [String] = []
        var takesJSON = true
    }

    private func report(
        to streams: Streams, detail: DownloadReport.Settings.Detail = .normal,
        json: JSONFormat? = nil
    ) -> DownloadReport {
        let terminal = Terminal(isTerminal: false) { _ in nil }
        let view = ProgressView(
            style: .none, terminal: terminal, width: { 80 }, write: { streams.errors += $0 })
        let settings = DownloadReport.Settings(
            style: .none, terminal: terminal, detail: detail, json: json, connections: 8)
        return DownloadReport(settings, view: view) {
            streams.json.append($0)
            return streams.takesJSON
        }
    }

    private func file(verified: [Digest] = [], resumed: Int64 = 0) -> DownloadedFile {
        DownloadedFile(
            path: "dir/file.iso", size: 1 << 30, crc32: 0x1a2b_3c4d, verified: verified,
            bytesReceived: (1 << 30) - resumed, bytesResumed: resumed, duration: .seconds(8))
    }

    private func start(
        transfer: RemoteFile.Transfer = .segments, identity: String = "etag", resumed: Int64 = 0
    ) -> DownloadEvent {
        .started(
            DownloadStart(
                path: "dir/file.iso", size: transfer == .oneStreamUnknownSize ? nil : 1 << 30,
                resumedBytes: resumed, connections: 8, transfer: transfer, identity: identity))
    }

    @Test func summaryNamesTheProof() {
        let streams = Streams()
        var report = report(to: streams)
        let digest = Digest(crc32: 0x1a2b_3c4d)
        let file = file(verified: [digest], resumed: 256 << 20)
        #expect(report.finish(.success(file), signal: nil) == .done)
        #expect(
            streams.errors == "`dir/file.iso`: 1.00 GiB in 8.0 s, 96.0 MiB/s; resumed 256 MiB; "
                + "verified crc32:1a2b3c4d\n")
    }

    @Test func withoutDigestOnlyTheSizeIsVerified() {
        let streams = Streams()
        var report = report(to: streams)
        _ = report.finish(.success(file()), signal: nil)
        #expect(streams.errors.contains("only the size is verified"))
        #expect(streams.errors.contains("(CRC-32 1a2b3c4d)"))
    }

    @Test func withoutSizeNothingIsVerified() {
        let streams = Streams()
        var report = report(to: streams)
        report.handle(start(transfer: .oneStreamUnknownSize, identity: "none"))
        report.handle(.notice(.endUnproven))
        _ = report.finish(.success(file()), signal: nil)
        #expect(streams.errors.contains("note: the server does not state the size"))
        #expect(streams.errors.contains("nothing is verified"))
    }

    @Test(arguments: [
        (DownloadReport.Settings.Detail.errors, [false, false, true]),
        (.normal, [true, false, true]),
        (.all, [true, true, true]),
    ])
    func verbosityDeterminesTheMessages(
        detail: DownloadReport.Settings.Detail, shown: [Bool]
    ) {
        let streams = Streams()
        var report = report(to: streams, detail: detail)
        report.handle(start(identity: "none", resumed: 1 << 20))
        report.handle(.notice(.startedOver(.changedMidway)))
        report.handle(.notice(.stole(ByteRange(0, 9), rate: nil)))
        let status = report.finish(
            .failure(Examples.error(.cancelled, bytesKept: 9)), signal: SIGINT)
        #expect(status == .interrupted)
        let texts = ["note: starting over", "note: a free connection", "error: the download"]
        #expect(texts.map { streams.errors.contains($0) } == shown)
        #expect(streams.errors.contains("identity: none") == shown[0])
        #expect(streams.errors.contains("resuming: 1.00 MiB of 1.00 GiB") == shown[0])
    }

    @Test func jsonHasOneEventPerLine() {
        let streams = Streams()
        var report = report(to: streams, json: .current)
        report.handle(start())
        for tenth in 0..<5 {
            report.handle(.progress(Examples.progress(elapsed: 0.1 * Double(tenth))))
        }
        report.handle(.progress(Examples.progress(elapsed: 0.42)))
        report.handle(.finished(file()))
        _ = report.finish(.success(file()), signal: nil)
        let names = streams.json.map { line in
            ["run", "started", "progress", "finished"].filter {
                line.contains("\"event\":\"\($0)\"")
            }.joined()
        }
        let progress = [String](repeating: "progress", count: 5)
        #expect(names == ["run", "started"] + progress + ["finished"])
        #expect(
            streams.json.allSatisfy { $0.hasSuffix("}\n") && $0.filter(\.isNewline).count == 1 })
    }

    @Test func jsonEndsWhenTheReaderCloses() {
        let streams = Streams()
        streams.takesJSON = false
        var report = report(to: streams, json: .current)
        report.handle(start())
        #expect(report.finish(.success(file()), signal: nil) == .done)
        #expect(streams.json.count == 1)
    }

    @Test func withoutJSONStandardOutputIsEmpty() {
        let streams = Streams()
        var report = report(to: streams)
        report.handle(start())
        _ = report.finish(.success(file()), signal: nil)
        #expect(streams.json.isEmpty)
    }
}
