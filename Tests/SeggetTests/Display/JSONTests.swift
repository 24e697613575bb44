import Assembler
import FoundationEssentials
import ReportExamples
import Testing

@testable import SeggetReports
@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport
@testable import SeggetCommand

struct JSONTests {
    /// Every example in `docs/json.md`, generated from values.
    private static let examples: [String] = {
        var produced: [String?] = []
        func event(
            _ name: String, _ time: Double, file: Int? = nil, _ payload: some Encodable
        ) {
            let line = JSONLine(event: name, time: time, file: file, payload: payload)
            produced.append(JSONText.line(line))
        }
        let digest = Digest(.sha1, Array(0..<20))
        let probed = ProbeReport(
            RemoteFile(
                url: Examples.url, effectiveURL: "https://mirror.example/file.iso", redirects: 1,
                identity: RemoteIdentity(
                    size: 1 << 30, etag: "\"v1\"",
                    lastModified: "Tue, 01 Jul 2025 10:00:00 GMT", lastModifiedIsStrong: true),
                date: "Tue, 01 Jul 2025 12:00:00 GMT", acceptsRanges: true,
                contentType: "application/octet-stream", suggestedName: "file.iso",
                digests: [digest].compactMap { $0 }, probedBy: "GET",
                headProblem: "405 (Method Not Allowed)"))
        event("run", 0, JSONEvents.Run(at: Date(timeIntervalSince1970: 1_751_371_200)))
        event("probed", 0.0871, probed)
        produced.append(JSONText.line(probed))
        event(
            "started", 0.091,
            JSONEvents.Started(
                DownloadStart(
                    path: "file.iso", size: 1 << 30, resumedBytes: 256 << 20, connections: 8,
                    transfer: .segments, identity: "etag")))
        event("progress", 2.1, JSONEvents.Progress(Examples.progress()))
        event("notice", 1.5, JSONEvents.Notice(.startedOver(.changedMidway)))
        let range = ByteRange(4 << 20, 8 << 20)
        event(
            "notice", 1.6,
            JSONEvents.Notice(
                .retrying(range: range, attempt: 2, delay: .seconds(0.75), cause: .status(503))))
        event("notice", 1.7, JSONEvents.Notice(.resolvingAgain(status: 403)))
        event("notice", 0.09, JSONEvents.Notice(.resumedUnverified(bytes: 256 << 10)))
        event("notice", 1.9, JSONEvents.Notice(.stole(range, rate: 81920)))
        let fault = MirrorFault.otherSize(expected: 1 << 30, got: 1 << 29)
        event(
            "notice", 1.8,
            JSONEvents.Notice(.mirrorDropped(url: "https://mirror.example/file.iso", why: fault)))
        event(
            "finished", 6.3,
            JSONEvents.Finished(
                DownloadedFile(
                    path: "file.iso", size: 1 << 30, crc32: 0x1a2b_3c4d,
                    verified: [digest].compactMap { $0 }, bytesReceived: 768 << 20,
                    bytesResumed: 256 << 20, duration: .seconds(6.25))))
        event(
            "finished", 0.02,
            JSONEvents.Finished(
                DownloadedFile(
                    path: "file.iso", size: 1 << 30, crc32: nil, verified: [], bytesReceived: 0,
                    bytesResumed: 0, duration: .seconds(0.01), unchanged: .notNewer)))
        produced.append(
            JSONText.line(
                PreviewReport(
                    DownloadPreview(
                        action: .startOver(.etagChanged(was: "\"v0\"", now: "\"v1\"")),
                        path: "file.iso", file: nil, bytesKept: 0, connections: 8))))
        let error = Examples.error(.transfer(.status(503), attempts: 10), bytesKept: 512 << 20)
        event("error", 42.5, JSONEvents.Failure(error, Diagnostic(error)))
        let clock = Date(timeIntervalSince1970: 1_751_371_200)
        event(
            "set", 0.02,
            JSONEvents.SetStart(
                set: "99f9a94a6b411d28", path: "set", files: 300, size: 197_132_288, complete: 297,
                bytesComplete: 196_083_712, missing: 2, changed: 1, kept: [], extras: 0))
        event("run", 0, JSONEvents.Run(at: clock, files: 3))
        event("begun", 0.002, file: 1, JSONEvents.Begun(url: Examples.url))
        event("error", 42.5, file: 1, JSONEvents.Failure(error, Diagnostic(error)))
        event(
            "summary", 43,
            JSONEvents.Summary(
                files: 3, done: 1, failed: 1, stopped: 0, notStarted: 1,
                bytesReceived: 1 << 30, seconds: 43, code: 69))
        let failed = SetStatus.Failed(
            path: "file.iso", at: 1_795_953_600, failure: SetFailure(error))
        produced.append(
            JSONText.line(
                SetReport(
                    SetStatus(
                        folder: "set", plan: "set/.segget/99f9a94a6b411d28.plan",
                        set: "99f9a94a6b411d28", source: Listing.Source(.urls),
                        counts: [.complete: (299, 196_083_712), .failed: (1, 1 << 20)],
                        size: 197_132_288, failed: [failed], extras: [], lastRun: nil,
                        isInUse: false, asOf: nil))))
        produced.append(JSONText.line(VerificationReport(Examples.verification())))
        event(
            "schedule", 0.09,
            BenchEvents.Schedule(
                url: Examples.url, finalUrl: "https://mirror.example/file.iso", size: 1 << 30,
                transfer: "segments", clients: ["segget -x 8", "curl"], rounds: 3, measurements: 6,
                secondsAtMost: 60, bytesAtMost: 4 << 30, warmUp: 1, sink: "null"))
        for measured in Examples.measurements.prefix(2) {
            event("measured", 10.2, BenchEvents.Measured(measured))
        }
        let result = BenchSummary(Examples.measurements, subjects: Examples.subjects)
        event("result", 60.3, BenchEvents.Result(result, notes: result.notes, status: .done))
        return produced.compactMap { $0 }
    }()

    private func page() throws -> String {
        let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        return try String(contentsOfFile: "/\(root)/docs/json.md", encoding: .utf8)
    }

    @Test func pageShowsExactlyTheOutput() throws {
        let version = #""version":"\#(seggetVersion)""#
        let shown = try page().split(separator: "\n").filter { $0.hasPrefix("{") }.map {
            String($0).replacing(#/"version":"[0-9.]+"/#, with: version)
        }
        #expect(shown == Self.examples)
    }

    @Test func pageDescribesEveryKey() throws {
        let page = try page()
        #expect(Self.examples.count == 26)
        for example in Self.examples {
            let object = try JSONDecoder().decode([String: Anything].self, from: Data(example.utf8))
            for key in object.keys { #expect(page.contains("`\(key)`"), "\(key)") }
        }
    }

    @Test func pageListsEveryName() throws {
        let page = try page()
        let kinds = Examples.reasons.map { reason in
            let diagnostic = Diagnostic(Examples.error(reason))
            return "\n| `\(diagnostic.kind)` | \(diagnostic.status.rawValue)"
        }
        // A file that cannot be created has two exit codes, which the page lists in one row.
        for row in kinds where !row.contains("cannot_create") {
            #expect(page.contains(row), "\(row)")
        }
        for failure in Examples.verificationFailures {
            let diagnostic = Diagnostic(failure)
            let row = "\n| `\(diagnostic.kind)` | \(diagnostic.status.rawValue)"
            if !row.contains("cannot_create") { #expect(page.contains(row), "\(row)") }
        }
        for notice in Examples.notices { #expect(page.contains("\n| `\(notice.kind)` |")) }
        for fault in Examples.faults { #expect(page.contains("`\(fault.kind)`")) }
        for reason in Examples.startOverReasons { #expect(page.contains("`\(reason.kind)`")) }
        for plan in [
            RemoteFile.Transfer.segments, .oneStreamNoRanges, .oneStreamUnknownSize, .singleRequest,
        ] {
            #expect(page.contains("`\(plan.name)`"))
        }
    }

    @Test func hostileTextIsOneSafeLine() throws {
        let line = try #require(JSONText.line(["key": Examples.hostile]))
        #expect(!line.unicodeScalars.contains(where: PrintableText.isUnsafe))
        let decoded = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
        #expect(decoded == ["key": Examples.hostile])
    }

    @Test func numbersOutOfRangeAreValidJSON() throws {
        let progress = Examples.progress(speed: .infinity)
        #expect(JSONText.line(JSONEvents.Progress(progress)) != nil)
        #expect(JSONText.line(JSONEvents.Progress(Examples.progress(speed: 1e-300))) != nil)
        let notice = DownloadNotice.retrying(
            range: nil, attempt: 1, delay: .seconds(9e18), cause: .status(503))
        #expect(JSONText.line(JSONEvents.Notice(notice)) != nil)
    }

    /// Any JSON value; only its presence matters.
    private struct Anything: Decodable {
        init(from decoder: any Decoder) {}
    }
}
