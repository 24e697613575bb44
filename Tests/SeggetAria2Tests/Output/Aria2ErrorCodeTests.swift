import Assembler
import Glibc
import ReportExamples
import Segmenter
import Testing

@testable import SeggetAria2

struct Aria2ErrorCodeTests {
    private static let digest = Digest(crc32: 1)

    @Test(
        arguments: [
            (.transfer(.network(code: 6, message: ""), attempts: 1), 19),
            (.transfer(.network(code: 7, message: ""), attempts: 1), 1),
            (.transfer(.network(code: 28, message: ""), attempts: 1), 2),
            (.transfer(.network(code: 35, message: ""), attempts: 1), 1),
            (.transfer(.network(code: 56, message: ""), attempts: 1), 1),
            (.transfer(.proxy(code: 5, message: ""), attempts: 1), 19),
            (.transfer(.proxy(code: 7, message: ""), attempts: 1), 1),
            (.transfer(.stalled(for: .seconds(1)), attempts: 1), 2),
            (.transfer(.truncated(missing: 1), attempts: 1), 1),
            (.transfer(.breach(.severalRanges), attempts: 1), 8),
            (.transfer(.retryAfterTooLong(.seconds(1)), attempts: 1), 29),
            (.transfer(.resting(for: .seconds(1)), attempts: 1), 29),
            (.refused(status: 401), 24), (.refused(status: 403), 22),
            (.proxyRefused(status: 407), 22),
            (.proxyRefused(status: nil), 1), (.untrusted(""), 1),
            (.addressDenied(.privateAddress("::1")), 24), (.addressDenied(.proxy), 24),
            (.unsafeRedirect(to: ""), 22),
            (.tooManyRedirects(20), 23), (.remoteChanged(.rangeNotSatisfiable), 8),
            (.contract(.wholeFileForRange), 8), (.tooLarge(size: 1, limit: 0), 1),
            (.tooSlow(bytesPerSecond: 1, minimum: 2, period: .seconds(1)), 5),
            (.timeIsUp(after: .seconds(1)), 7), (.cancelled, 7), (.nameTaken(path: "f"), 11),
            (.invalidURL(""), 1), (.foreignURL(.magnet, shown: ""), 1),
            (.invalidHeader(.noColon), 28), (.certificateFile(path: "f"), 28),
            (.access(.malformed(.proxy)), 28), (.notContinued(.urlChanged), 8),
            (.unrepairable(.noManifest(isFileThere: true)), 8),
            (.unrepairable(.otherDigest(expected: digest, actual: digest)), 32),
            (.assembly(.destinationExists(path: "f")), 13),
            (.assembly(.foreignPart(path: "f")), 13),
            (.assembly(.notARegularFile(path: "f")), 16),
            (.assembly(.folderUnavailable(path: "f", errno: ENOTDIR)), 18),
            (.assembly(.folderUnavailable(path: "f", errno: ENOSPC)), 9),
            (.assembly(.cannotCreate(path: "f", errno: EACCES)), 16),
            (.assembly(.cannotCreate(path: "f", errno: EDQUOT)), 9),
            (.assembly(.io(operation: "pwrite", path: "f", errno: ENOSPC)), 9),
            (.assembly(.io(operation: "pwrite", path: "f", errno: EIO)), 17),
            (.assembly(.noSpace(path: "f", needed: 2, free: 1)), 9),
            (.assembly(.busy(path: "f")), 11), (.assembly(.noPart(path: "f", isThere: false)), 28),
            (.assembly(.partChanged(path: "f")), 17),
            (.assembly(.partGone(path: "f", .removed)), 17),
            (.assembly(.readerGone(path: "f")), 17),
            (.assembly(.digestMismatch(expected: digest, actual: digest, part: "f")), 32),
            (.assembly(.streamDigestMismatch(expected: digest, actual: digest, path: "f")), 32),
            (.assembly(.notAdopted(path: "f", .noProof)), 8),
            (.assembly(.notAdopted(path: "f", .missing)), 15),
            (.assembly(.notAdopted(path: "f", .inUse)), 11),
            (
                .assembly(
                    .notAdopted(
                        path: "f", .otherDigest(expected: digest, actual: digest, part: nil))), 32
            ),
        ] as [(DownloadError.Reason, Int32)])
    func eachReasonHasACode(_ reason: DownloadError.Reason, _ code: Int32) {
        #expect(Aria2ErrorCode(Examples.error(reason)).rawValue == code)
    }

    /// The codes were measured with aria2c 1.36.
    @Test(
        arguments: [
            (400, 22), (401, 24), (403, 22), (404, 3), (405, 22), (407, 22), (408, 22), (410, 22),
            (416, 22), (429, 22), (500, 22), (502, 29), (503, 29), (504, 29),
        ] as [(Int, Int32)])
    func eachStatusHasACode(_ status: Int, _ code: Int32) {
        let error = Examples.error(.transfer(.status(status), attempts: 1))
        #expect(Aria2ErrorCode(error).rawValue == code)
    }

    /// `--max-file-not-found` has a separate code if it is reached no later than `--max-tries`.
    @Test(
        arguments: [
            (404, 2, 5, 4), (404, 5, 2, 3), (404, 2, 2, 4), (404, 2, 0, 4), (404, 0, 5, 3),
            (403, 2, 5, 22),
        ] as [(Int, Int, Int, Int32)])
    func repeatedNotFoundHasItsOwnCode(_ status: Int, _ most: Int, _ tries: Int, _ code: Int32) {
        let error = Examples.error(.transfer(.status(status), attempts: 1))
        #expect(Aria2ErrorCode(error, mostNotFound: most, tries: tries).rawValue == code)
    }

    @Test func failuresAreNeverSuccess() {
        for reason in Examples.reasons {
            #expect(Aria2ErrorCode(Examples.error(reason)) != .finished)
        }
        for fault in Examples.faults { #expect(Aria2ErrorCode(fault) != .finished) }
    }

    @Test func allCodesExist() {
        #expect(Aria2ErrorCode.allCases.map(\.rawValue) == Array(0...32))
    }
}
