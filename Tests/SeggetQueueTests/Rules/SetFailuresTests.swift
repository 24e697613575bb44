import Assembler
import Glibc
import SeggetReports
import Testing

@testable import SeggetQueue
@testable import Segmenter
@testable import SegmenterTransport

/// Tests what the failed files of a set mean for its task.
@Suite struct SetFailuresTests {
    private static func error(_ reason: DownloadError.Reason) -> DownloadError {
        DownloadError(reason: reason, url: "http://h/f", path: "/f", bytesKept: 0)
    }

    private static func status(_ code: Int) -> DownloadError.Reason {
        .transfer(.status(code), attempts: 1)
    }

    private static let digest = DownloadError.Reason.assembly(
        .digestMismatch(expected: Digest(crc32: 1), actual: Digest(crc32: 2), part: "p"))
    private static let full = DownloadError.Reason.assembly(
        .noSpace(path: "p", needed: 5, free: 1))
    private static let resting = DownloadError.Reason.transfer(
        .resting(for: .seconds(20)), attempts: 1)

    /// The failures in order, the one that counts, its rule, and whether the run ends early.
    private static let rows:
        [(reasons: [DownloadError.Reason], index: Int, rule: FailureRule, ends: Bool)] = [
            ([status(503)], 0, .passes(), false),
            ([status(503), status(404), status(503)], 1, .final, false),
            // Wrong bytes are worse than a missing file.
            ([status(404), digest, status(401)], 1, .final, false),
            ([status(404), status(410)], 0, .final, false),
            (
                [status(503), .transfer(.retryAfterTooLong(.seconds(900)), attempts: 1)], 1,
                .passes(notBefore: 900), false
            ),
            (
                [.transfer(.retryAfterTooLong(.seconds(900)), attempts: 1), status(500)], 0,
                .passes(notBefore: 900), false
            ),
            ([status(503), full], 1, .space(needed: 5), true),
            ([full, resting], 0, .space(needed: 5), true),
            ([resting, status(503)], 0, .rests(for: 20), true),
            ([full, status(404)], 1, .final, true),
        ]

    @Test(arguments: rows.indices) func worstPermanentFailureCounts(index: Int) {
        let row = Self.rows[index]
        var failures = SetFailures()
        #expect(failures.ending == nil)
        for reason in row.reasons { failures.add(Self.error(reason)) }
        #expect(failures.count == row.reasons.count)
        #expect(failures.ending?.error.reason == row.reasons[row.index])
        #expect(failures.ending?.rule == row.rule)
        #expect(failures.endsRun == row.ends)
        #expect(!failures.areNetworkLosses)
    }

    @Test func stoppedFileIsNoFailure() {
        var failures = SetFailures()
        failures.add(Self.error(.cancelled))
        #expect(failures.count == 0 && failures.ending == nil)
    }
}
