import Assembler
import Glibc
import Testing

@testable import SeggetReports
@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests that messages name the cause of a failure.
struct BlameTests {
    private func diagnostic(_ reason: DownloadError.Reason) -> Diagnostic {
        Diagnostic(DownloadError(reason: reason, url: "https://h/f", path: "f", bytesKept: 0))
    }

    @Test(
        arguments: [
            (.untrusted("certificate has expired"), "clock", 77),
            (.untrusted("certificate is not yet valid"), "clock", 77),
            (.noCertificates(path: "/etc/ssl/x", variable: nil), "`ca-certificates`", 64),
            (.noCertificates(path: "/x", variable: "SSL_CERT_FILE"), "`SSL_CERT_FILE`", 64),
            (
                .transfer(.proxy(code: 35, message: "wrong version number"), attempts: 1),
                "https_proxy=http://", 69
            ),
            (.unusableScheme(["Negotiate"]), "`--negotiate`", 77),
            (.unusableScheme(["NTLM"]), "NTLM", 77), (.htmlPage, "credentials", 69),
        ] as [(DownloadError.Reason, String, Int32)])
    func hintsNameTheCause(reason: DownloadError.Reason, word: String, code: Int32) {
        let diagnostic = diagnostic(reason)
        #expect(diagnostic.hint.contains(word), "\(diagnostic.hint)")
        #expect(diagnostic.status.rawValue == code)
    }

    @Test func refusedCharacterIsNamed() {
        let refused = diagnostic(
            .assembly(.cannotCreate(path: "/mnt/a:b?.iso.part", errno: EINVAL)))
        #expect(refused.message.contains("may not allow `:` or `?` in names"), "\(refused.message)")
        #expect(!refused.hint.contains("permissions"))
        let other = diagnostic(.assembly(.cannotCreate(path: "/mnt/a:b", errno: EACCES)))
        #expect(!other.message.contains("in names") && other.hint.contains("permissions"))
    }

    @Test func skippedFilesAreCountedSeparately() {
        var summary = BatchSummary(count: 2)
        let skipped = DownloadedFile(
            path: "f", size: 1, crc32: nil, verified: [], bytesReceived: 0, bytesResumed: 0,
            duration: .zero, unchanged: .skipped)
        for index in 0..<2 { summary.add(.success(skipped), of: index, received: 0, signal: nil) }
        #expect(summary.lines(seconds: 1)[0].hasPrefix("0 of 2 files done, 2 skipped;"))
        #expect(summary.status(signal: nil) == .done && summary.stop(signal: nil).isEmpty)
        #expect(
            Summary(skipped, endIsProven: true).text
                == "`f`: 1 B, skipped: the file exists; it was not checked")
    }
}
