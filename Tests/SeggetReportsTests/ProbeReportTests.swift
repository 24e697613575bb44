import Assembler
import ReportExamples
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport
@testable import SeggetReports

struct ProbeReportTests {
    private func remote(
        size: Int64? = 3 << 30, etag: String? = nil, ranges: Bool? = true
    ) -> RemoteFile {
        RemoteFile(
            url: Examples.url, effectiveURL: Examples.url, redirects: 0,
            identity: RemoteIdentity(size: size, etag: etag), acceptsRanges: ranges,
            contentType: nil,
            suggestedName: Examples.hostile, digests: [], probedBy: "HEAD", headProblem: nil)
    }

    private func lines(_ file: RemoteFile) -> String {
        ProbeReport(file).lines(connections: 4).joined(separator: "\n")
    }

    @Test func factsAreExact() {
        let text = lines(remote(etag: "\"v1\""))
        #expect(text.contains("3.00 GiB (3221225472 bytes)"))
        #expect(text.contains("\"v1\" (strong)"))
        #expect(lines(remote(etag: "W/\"v1\"")).contains("W/\"v1\" (weak)"))
        #expect(lines(remote(etag: "v1-2")).contains("v1-2 (malformed: not usable)"))
        #expect(text.contains("in segments, over up to 4 connections"))
        #expect(text.contains("by the ETag"))
    }

    @Test func singleStreamHasItsReason() {
        #expect(lines(remote(ranges: false)).contains("because the server serves no byte ranges"))
        #expect(lines(remote(size: nil)).contains("because the server does not state the size"))
        #expect(lines(remote(ranges: false)).contains("not possible"))
    }

    @Test func serverTextIsEscaped() {
        for line in ProbeReport(remote(etag: Examples.hostile)).lines(connections: 4) {
            #expect(!line.unicodeScalars.contains(where: PrintableText.isUnsafe))
        }
    }
}
