import Assembler
import Glibc
import ReportExamples
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport
@testable import SeggetReports

struct DiagnosticsTests {
    @Test(arguments: [
        ("", "redirects to an address that is not http or https: not followed"),
        ("http://h/f", "redirects to `http://h/f`, which is less secure: not followed"),
    ])
    func unsafeRedirectNamesItsTarget(target: String, text: String) {
        let message = Diagnostic(Examples.error(.unsafeRedirect(to: target))).message
        #expect(message.hasSuffix(text), "\(message)")
    }

    @Test(arguments: Examples.reasons)
    func everyReasonHasSafeText(reason: DownloadError.Reason) {
        for kept: Int64 in [0, 1 << 30] {
            let diagnostic = Diagnostic(Examples.error(reason, bytesKept: kept))
            let lines = diagnostic.messages.map { $0.line(colour: false) }
            #expect(lines.first?.hasPrefix("error: ") == true)
            #expect(lines.last?.hasPrefix("hint: ") == true)
            for line in lines {
                #expect(!line.unicodeScalars.contains(where: PrintableText.isUnsafe))
                #expect(!line.hasSuffix(".") && !line.contains("``"))
            }
            #expect(diagnostic.status != .done)
        }
    }

    @Test(arguments: Examples.notices)
    func everyNoticeHasSafeText(notice: DownloadNotice) {
        let line = Message(.note, notice.text).line(colour: false)
        #expect(line.count > 20)
        #expect(!line.unicodeScalars.contains(where: PrintableText.isUnsafe))
        #expect(!notice.kind.isEmpty)
    }

    @Test func everyFailedMirrorIsListed() {
        var error = Examples.error(.transfer(.status(404), attempts: 1))
        error.mirrors = Examples.faults.map { FailedMirror(url: Examples.url, fault: $0) }
        let lines = Diagnostic(error).messages.map { $0.line(colour: false) }
        #expect(
            lines.count { $0.hasPrefix("note: the mirror `\(Examples.url)`: ") }
                == Examples.faults.count)
        #expect(lines.first?.hasPrefix("error: ") == true)
        #expect(lines.last?.hasPrefix("hint: ") == true)
        for line in lines { #expect(!line.unicodeScalars.contains(where: PrintableText.isUnsafe)) }
    }

    @Test func startOverReasonsHaveDistinctTexts() {
        #expect(Set(Examples.startOverReasons.map(\.text)).count == Examples.startOverReasons.count)
        #expect(Set(Examples.startOverReasons.map(\.kind)).count == Examples.startOverReasons.count)
    }

    @Test(
        arguments: [
            (.invalidURL(""), 64), (.foreignURL(.magnet, shown: "magnet:"), 64),
            (.invalidHeader(.noColon), 64), (.certificateFile(path: ""), 64),
            (.transfer(.network(code: 6, message: ""), attempts: 1), 69),
            (.transfer(.status(404), attempts: 1), 69), (.transfer(.status(503), attempts: 9), 69),
            (.transfer(.status(401), attempts: 1), 77), (.proxyRefused(status: 407), 77),
            (.access(.malformed(.proxy)), 64),
            (.transfer(.proxy(code: 7, message: ""), attempts: 1), 69),
            (.transfer(.stalled(for: .seconds(1)), attempts: 9), 69),
            (.transfer(.truncated(missing: 1), attempts: 9), 69),
            (.transfer(.retryAfterTooLong(.seconds(1)), attempts: 1), 69),
            (.transfer(.resting(for: .seconds(1)), attempts: 1), 69),
            (.transfer(.breach(.bodyTooLong), attempts: 1), 76), (.tooManyRedirects(20), 69),
            (.refused(status: 401), 77), (.refused(status: 403), 77), (.untrusted(""), 77),
            (.addressDenied(.privateAddress("::1")), 77), (.addressDenied(.proxy), 77),
            (.unsafeRedirect(to: ""), 77), (.remoteChanged(.rangeNotSatisfiable), 76),
            (.otherVersion(.otherSize(expected: 1, got: 2)), 76),
            (.contract(.bodyTooLong), 76), (.cancelled, 75), (.timeIsUp(after: .seconds(1)), 75),
            (.tooLarge(size: nil, limit: 1), 69), (.tooLarge(size: 2, limit: 1), 69),
            (.tooSlow(bytesPerSecond: 0, minimum: 1, period: .seconds(30)), 69),
            (.assembly(.destinationExists(path: "f")), 73), (.assembly(.busy(path: "f")), 73),
            (.assembly(.notARegularFile(path: "f")), 73), (.assembly(.foreignPart(path: "f")), 73),
            (.assembly(.folderUnavailable(path: "f", errno: ENOENT)), 73),
            (.assembly(.cannotCreate(path: "f", errno: EACCES)), 73),
            (.assembly(.cannotCreate(path: "f", errno: ENOSPC)), 74),
            (.assembly(.noSpace(path: "f", needed: 2, free: 1)), 74),
            (.assembly(.partChanged(path: "f")), 74),
            (.assembly(.partGone(path: "f", .unmounted)), 74),
            (.assembly(.io(operation: "pwrite", path: "f", errno: EIO)), 74),
            (
                .assembly(
                    .digestMismatch(
                        expected: Digest(crc32: 1), actual: Digest(crc32: 2), part: "f.part")), 65
            ),
            (
                .assembly(
                    .streamDigestMismatch(
                        expected: Digest(crc32: 1), actual: Digest(crc32: 2), path: "f")), 65
            ),
        ] as [(DownloadError.Reason, Int32)])
    func eachReasonHasItsExitCode(reason: DownloadError.Reason, code: Int32) {
        #expect(Diagnostic(Examples.error(reason)).status.rawValue == code)
    }

    @Test(arguments: [(SIGINT, 130, "SIGINT"), (SIGTERM, 143, "SIGTERM"), (SIGHUP, 75, "SIGHUP")])
    func signalsHaveTheirExitCodes(signal: Int32, code: Int32, name: String) {
        let diagnostic = Diagnostic(Examples.error(.cancelled), signal: signal)
        #expect(diagnostic.status.rawValue == code)
        #expect(diagnostic.message.hasSuffix("by \(name)"))
    }

    @Test func signalDoesNotHideOtherFailure() {
        let diagnostic = Diagnostic(Examples.error(.refused(status: 403)), signal: SIGINT)
        #expect(diagnostic.status == .refused)
    }

    @Test func keptBytesAreReportedWithTheName() {
        let lost = Examples.error(.transfer(.status(503), attempts: 10), bytesKept: 3 << 29)
        #expect(
            Diagnostic(lost).messages.map { $0.line(colour: false) } == [
                "error: `https://example.org/file.iso` could not be downloaded: the "
                    + "server answered 503 (Service Unavailable) (10 attempts without progress)",
                "kept: 1.50 GiB in `file.iso.part`",
                "hint: the server may recover: run the same command again to resume later",
            ])
        #expect(Diagnostic(Examples.error(.cancelled)).kept?.hasPrefix("nothing") == true)
        #expect(Diagnostic(Examples.error(.cancelled, path: nil)).kept == nil)
        #expect(Diagnostic(Examples.error(.assembly(.busy(path: "f")))).kept == nil)
    }

    @Test func closedReaderIsQuiet() {
        let diagnostic = Diagnostic(
            Examples.error(.assembly(.readerGone(path: "/dev/stdout")), path: "/dev/stdout"))
        #expect(diagnostic.messages.isEmpty)
        #expect(diagnostic.status.rawValue == 141)
    }

    @Test func writtenBytesReplaceKeptBytes() {
        var error = Examples.error(
            .remoteChanged(.otherSize(expected: 9, got: 8)), path: "/dev/stdout")
        error.bytesWritten = 1234
        #expect(
            Diagnostic(error).messages.map { $0.line(colour: false) } == [
                "error: `https://example.org/file.iso` changed during the download, and the bytes "
                    + "already written cannot be withdrawn: the size was 9 bytes and is now 8 bytes",
                "written: the first 1234 bytes to `/dev/stdout`; the rest is missing",
                "hint: run the same command again when the remote file no longer changes",
            ])
        error.bytesWritten = 0
        #expect(Diagnostic(error).written == "nothing to `/dev/stdout`")
    }

    @Test func mismatchShowsBothDigests() throws {
        let (good, bad) = (Digest(crc32: 0x1a2b_3c4d), Digest(crc32: 0xdead_beef))
        let error = AssemblyError.digestMismatch(expected: good, actual: bad, part: "f.part")
        let diagnostic = Diagnostic(Examples.error(.assembly(error)))
        #expect(diagnostic.message.contains("crc32:1a2b3c4d"))
        #expect(diagnostic.message.contains("crc32:deadbeef"))
        #expect(diagnostic.kept?.contains("`f.part`") == true)
    }

    @Test func helpListsEveryExitCode() {
        let codes = ExitStatus.help.split(separator: "\n").compactMap {
            $0.split(separator: " ").first.flatMap { Int($0) }
        }
        #expect(codes == [0, 64, 65, 69, 73, 74, 75, 76, 77, 130, 141, 143])
    }
}
