import Assembler
import Glibc
import ReportExamples
import Testing

@testable import SeggetReports
@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport
@testable import SeggetCommand

struct BatchReportTests {
    /// Collects both outputs of a report.
    private final class Streams {
        var errors = ""
        var json: [String] = []
    }

    private func report(
        _ count: Int, complete: Int? = nil, to streams: Streams,
        detail: DownloadReport.Settings.Detail = .normal
    ) -> BatchReport {
        let terminal = Terminal(isTerminal: false) { _ in nil }
        let view = BatchView(
            style: .none, terminal: terminal, count: count, size: { (80, 24) },
            write: { streams.errors += $0 })
        let settings = DownloadReport.Settings(
            style: .none, terminal: terminal, detail: detail, json: .current, connections: 8)
        return BatchReport(settings, count: count, complete: complete, view: view) {
            streams.json.append($0)
            return true
        }
    }

    private static let file = DownloadedFile(
        path: "a.iso", size: 1 << 20, crc32: 0, verified: [], bytesReceived: 1 << 20,
        bytesResumed: 0, duration: .seconds(1))
    private static let done = Result<DownloadedFile, DownloadError>.success(file)

    private func failed(_ reason: DownloadError.Reason) -> Result<DownloadedFile, DownloadError> {
        .failure(Examples.error(reason, bytesKept: 1 << 20))
    }

    private func run(
        _ results: [Result<DownloadedFile, DownloadError>], of count: Int, signal: Int32? = nil,
        detail: DownloadReport.Settings.Detail = .normal, to streams: Streams = Streams()
    ) -> SeggetReports.ExitStatus {
        var report = report(count, to: streams, detail: detail)
        for (index, result) in results.enumerated() {
            let begun = BatchEvent.Kind.begun(url: Examples.url)
            report.handle(BatchEvent(index: index, kind: begun), signal: nil)
            report.handle(
                BatchEvent(index: index, kind: .event(.notice(.rangesIgnored))), signal: nil)
            report.handle(BatchEvent(index: index, kind: .ended(result)), signal: signal)
        }
        return report.finish(signal: signal)
    }

    @Test func worstFailureDeterminesTheCode() {
        let checksum = failed(
            .assembly(
                .digestMismatch(expected: Digest(crc32: 1), actual: Digest(crc32: 2), part: "p")))
        let network = failed(.transfer(.status(503), attempts: 1))
        let refused = failed(.refused(status: 403))
        #expect(run([Self.done, Self.done], of: 2) == .done)
        #expect(run([Self.done, network], of: 2) == .unavailable)
        #expect(run([network, refused, network], of: 3) == .refused)
        #expect(run([checksum, refused, Self.done], of: 3) == .checksumMismatch)
        #expect(run([network, failed(.cancelled)], of: 4) == .unavailable)
        // Code 0 requires that all files are complete.
        #expect(run([Self.done], of: 2) == .stopped)
        #expect(Set(SeggetReports.ExitStatus.worstFirst) == Set(SeggetReports.ExitStatus.allCases))
        #expect(
            SeggetReports.ExitStatus.worstFirst.count == SeggetReports.ExitStatus.allCases.count)
    }

    @Test func signalDeterminesTheCodeOfStoppedFiles() {
        let network = failed(.transfer(.status(503), attempts: 1))
        let signal = SIGTERM
        #expect(run([network, failed(.cancelled)], of: 2, signal: signal) == .terminated)
        #expect(run([network], of: 2, signal: signal) == .terminated)
        // The signal arrived too late to stop a file.
        #expect(run([Self.done], of: 1, signal: signal) == .done)
        #expect(run([network], of: 1, signal: signal) == .unavailable)
    }

    @Test func summaryNamesFailedFiles() {
        let streams = Streams()
        let results = [Self.done, failed(.refused(status: 403)), failed(.cancelled)]
        _ = run(results, of: 5, signal: SIGINT, to: streams)
        let lines = streams.errors.split(separator: "\n").map(String.init)
        let first = "1 of 5 files done, 1 failed, 1 stopped, 2 not started; 1.00 MiB in "
        let place = lines.firstIndex { $0.hasPrefix(first) } ?? 0
        #expect(place > 0, "\(streams.errors)")
        #expect(
            Array(lines[(place + 1)...]) == [
                "  failed: the server refused access to `\(Examples.url)`: 403 (Forbidden)",
                "  stopped: `\(Examples.url)`, kept: 1.00 MiB in `file.iso.part`",
                "error: stopped by SIGINT: 3 of 5 files remaining",
                "hint: run the same command again to resume",
            ])
        // Notes name their file.
        #expect(lines.contains { $0.hasPrefix("note: `file.iso`: the server ignored") })
    }

    /// A worker of a fleet tries the files of a shard again that failed.
    @Test func lastTryOfAFileCounts() {
        let streams = Streams()
        var report = report(4, complete: 1, to: streams)
        let failed = failed(.transfer(.status(503), attempts: 1))
        for (index, result) in [
            (0, failed), (1, failed), (2, Self.done), (0, failed), (1, failed), (1, Self.done),
        ] {
            report.handle(BatchEvent(index: index, kind: .begun(url: Examples.url)), signal: nil)
            report.handle(BatchEvent(index: index, kind: .ended(result)), signal: nil)
        }
        #expect(report.finish(signal: nil) == .stopped)
        let lines = streams.errors.split(separator: "\n")
        let summary = lines.drop {
            !$0.hasPrefix("3 of 4 files done, 1 failed (may succeed later);")
        }
        #expect(summary.count == 2 && summary.last?.hasPrefix("  failed: ") == true, "\(lines)")
    }

    @Test func quietPrintsOnlyErrors() {
        let streams = Streams()
        let results = [Self.done, failed(.refused(status: 403))]
        _ = run(results, of: 2, detail: .errors, to: streams)
        let lines = streams.errors.split(separator: "\n")
        #expect(lines.map { $0.prefix { $0 != ":" } } == ["error", "kept", "hint"])
        let silent = Streams()
        _ = run([Self.done, Self.done], of: 2, detail: .errors, to: silent)
        #expect(silent.errors.isEmpty)
    }

    @Test func jsonHasTheFileNumber() {
        let streams = Streams()
        _ = run([Self.done, failed(.cancelled)], of: 2, to: streams)
        let found = streams.json.map { line in
            let names = ["run", "begun", "notice", "finished", "error", "summary"]
            let name = names.first { line.contains("\"event\":\"\($0)\"") } ?? ""
            return name + ((1...2).first { line.contains("\"file\":\($0),") }.map { "\($0)" } ?? "")
        }
        #expect(
            found == [
                "run", "begun1", "notice1", "finished1", "begun2", "notice2", "error2", "summary",
            ])
    }
}
