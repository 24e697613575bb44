import Assembler
import Glibc
import Testing

@testable import SeggetQueue
@testable import SeggetReports
@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests how a queue classifies each failure: temporary, final or a lack of space.
@Suite struct FailureRuleTests {
    static let digest = Digest(crc32: 1)
    static let range = ByteRange(0, 1)

    static let transfers: [(TransferFailure, FailureRule)] = [
        // Failed name resolution, failed connection, timeout, aborted TLS handshake, empty reply,
        // and reset.
        (.network(code: 6, message: "Could not resolve host: h"), .passes()),
        (.network(code: 7, message: "Failed to connect"), .passes()),
        (.network(code: 28, message: "Timed out"), .passes()),
        (.network(code: 35, message: "unexpected eof"), .passes()),
        (.network(code: 52, message: "Empty reply"), .passes()),
        (.network(code: 56, message: "Connection reset by peer"), .passes()),
        (.network(code: 0, message: "no answer"), .passes()),
        (.network(code: 35, message: "tls alert protocol version"), .final),
        (.network(code: 35, message: "wrong version number"), .final),
        (.network(code: 3, message: "malformed"), .final),
        (.proxy(code: 5, message: "Could not resolve proxy: p"), .passes()),
        (.proxy(code: 7, message: "Failed to connect"), .passes()),
        (.proxy(code: 4, message: "not built in"), .final),
        (.status(408), .passes()), (.status(425), .passes()), (.status(429), .passes()),
        (.status(500), .passes()), (.status(502), .passes()), (.status(503), .passes()),
        (.status(504), .passes()), (.status(511), .passes()), (.status(599), .passes()),
        (.status(400), .final), (.status(401), .final), (.status(403), .passes()),
        (.status(404), .final), (.status(405), .final), (.status(407), .final),
        (.status(410), .final), (.status(416), .final), (.status(451), .final),
        (.status(501), .final), (.status(505), .final), (.status(204), .final),
        (.stalled(for: .seconds(30)), .passes()), (.truncated(missing: 5), .passes()),
        (.breach(.wholeFileForRange), .final),
        (.retryAfterTooLong(.seconds(7200)), .passes(notBefore: 7200)),
        (.resting(for: .seconds(20)), .rests(for: 20)),
    ]

    static let files: [(AssemblyError, FailureRule)] = [
        (.destinationExists(path: "p"), .final), (.notARegularFile(path: "p"), .final),
        (.folderUnavailable(path: "p", errno: ENOENT), .final),
        (.folderUnavailable(path: "p", errno: EMFILE), .passes()),
        (.cannotCreate(path: "p", errno: EACCES), .final),
        (.cannotCreate(path: "p", errno: EROFS), .final),
        (.cannotCreate(path: "p", errno: ENOSPC), .space()),
        (.cannotCreate(path: "p", errno: EDQUOT), .space()),
        (.cannotCreate(path: "p", errno: ENFILE), .passes()),
        (.locked(path: "p", lock: "l", host: "h", process: 1), .passes()),
        (.busy(path: "p"), .passes()), (.foreignPart(path: "p"), .final),
        (.noPart(path: "p", isThere: true), .final), (.partChanged(path: "p"), .passes()),
        (.partGone(path: "p", .removed), .final),
        (.notAdopted(path: "p", .inUse), .passes()), (.notAdopted(path: "p", .missing), .final),
        (.noSpace(path: "p", needed: 5000, free: 10), .space(needed: 5000)),
        (.io(operation: "write", path: "p", errno: ENOSPC), .space()),
        (.io(operation: "write", path: "p", errno: EDQUOT), .space()),
        (.io(operation: "write", path: "p", errno: EIO), .final),
        (.io(operation: "write", path: "p", errno: ESTALE), .passes()),
        (.digestMismatch(expected: digest, actual: digest, part: "p"), .final),
        (.streamDigestMismatch(expected: digest, actual: digest, path: "p"), .final),
        (.readerGone(path: "p"), .final),
    ]

    static let reasons: [(DownloadError.Reason, FailureRule)] =
        [
            (.invalidURL("u"), .final), (.foreignURL(.magnet, shown: "m"), .final),
            (.invalidHeader(.noColon), .final), (.access(.malformed(.proxy)), .final),
            (.certificateFile(path: "p"), .final), (.nameTaken(path: "p"), .final),
            (.refused(status: 401), .final), (.refused(status: 403), .final),
            (.proxyRefused(status: 407), .final), (.untrusted("text"), .final),
            (.addressDenied(.privateAddress("::1")), .final), (.addressDenied(.proxy), .final),
            (.unsafeRedirect(to: "u"), .final), (.tooManyRedirects(20), .final),
            (.remoteChanged(.rangeNotSatisfiable), .passes()),
            (.otherVersion(.rangeNotSatisfiable), .final),
            (.contract(.severalRanges), .final), (.tooLarge(size: nil, limit: 1), .final),
            (.tooSlow(bytesPerSecond: 1, minimum: 2, period: .seconds(3)), .passes()),
            (.timeIsUp(after: .seconds(1)), .final),
            (.unrepairable(.noManifest(isFileThere: true)), .final),
            (.notContinued(.noValidator), .final), (.htmlPage, .final),
            (.unusableScheme(["NTLM"]), .final),
            (.noCertificates(path: "f", variable: nil), .final),
            (.cancelled, .stopped),
        ] + transfers.map { (.transfer($0.0, attempts: 3), $0.1) }
        + files.map { (.assembly($0.0), $0.1) }

    @Test(arguments: reasons)
    func classifiesFailures(reason: DownloadError.Reason, rule: FailureRule) {
        #expect(FailureRule(reason) == rule)
        #expect(FailureRule(error(reason)) == rule)
    }

    /// Tests that the table has all cases.
    ///
    /// The compiler refuses these switches if a case is added.
    @Test func tableHasAllCases() {
        let reasons = Set(Self.reasons.map { Self.name($0.0) })
        #expect(reasons.count == 26)
        #expect(Set(Self.transfers.map { Self.name($0.0) }).count == 8)
        #expect(Set(Self.files.map { Self.name($0.0) }).count == 16)
    }

    private static func name(_ reason: DownloadError.Reason) -> String {
        switch reason {
        case .invalidURL, .foreignURL, .invalidHeader, .access, .certificateFile, .assembly,
            .nameTaken, .transfer, .refused, .proxyRefused, .untrusted, .addressDenied,
            .unsafeRedirect, .tooManyRedirects, .remoteChanged, .otherVersion, .contract,
            .tooLarge, .tooSlow, .timeIsUp,
            .unrepairable, .notContinued, .cancelled, .htmlPage, .unusableScheme, .noCertificates:
            caseName(reason)
        }
    }
    private static func name(_ failure: TransferFailure) -> String {
        switch failure {
        case .network, .proxy, .status, .stalled, .truncated, .breach, .retryAfterTooLong,
            .resting:
            caseName(failure)
        }
    }
    private static func name(_ error: AssemblyError) -> String {
        switch error {
        case .destinationExists, .notARegularFile, .folderUnavailable, .cannotCreate, .busy,
            .locked, .foreignPart, .noPart, .partChanged, .partGone, .notAdopted, .noSpace, .io,
            .digestMismatch,
            .streamDigestMismatch, .readerGone:
            caseName(error)
        }
    }
    private static func caseName(_ value: Any) -> String {
        String("\(value)".prefix { $0 != "(" })
    }

    // MARK: Mirrors

    private func error(_ reason: DownloadError.Reason) -> DownloadError {
        DownloadError(reason: reason, url: "u", path: nil, bytesKept: 0)
    }

    @Test func failureOfAnyMirrorCanBeTemporary() {
        func failed(_ reason: DownloadError.Reason) -> FailedMirror {
            FailedMirror(url: "u", fault: .failed(reason))
        }
        var gone = error(.transfer(.status(404), attempts: 1))
        gone.mirrors = [
            failed(.refused(status: 403)), failed(.transfer(.status(404), attempts: 1)),
        ]
        #expect(FailureRule(gone) == .final)
        gone.mirrors.append(
            failed(.transfer(.retryAfterTooLong(.seconds(9000)), attempts: 1)))
        #expect(FailureRule(gone) == .passes(notBefore: 9000))
        gone.mirrors.append(failed(.transfer(.status(503), attempts: 5)))
        #expect(FailureRule(gone) == .passes())
        // A local problem is the same with every mirror.
        gone.reason = .assembly(.destinationExists(path: "p"))
        #expect(FailureRule(gone) == .final)
    }

    // MARK: Decisions

    @Test func retriesAfterDelaysThenFails() {
        let delays: [Double] = [60, 300, 900]
        func next(_ failure: FailureRule, _ attempts: Int) -> FailureRule.Decision {
            FailureRule.next(after: failure, attempts: attempts, delays: delays)
        }
        #expect(next(.passes(), 0) == .retry(after: 60))
        #expect(next(.passes(), 1) == .retry(after: 300))
        #expect(next(.passes(), 2) == .retry(after: 900))
        #expect(next(.passes(), 3) == .fail)
        // The server's `Retry-After` applies if it is longer.
        #expect(next(.passes(notBefore: 7200), 0) == .retry(after: 7200))
        #expect(next(.passes(notBefore: 7200), 3) == .fail)
        #expect(next(.passes(notBefore: 30), 1) == .retry(after: 300))
        #expect(next(.passes(notBefore: 1e9), 0) == .retry(after: FailureRule.longestWait))
        for attempts in [0, 3, 100] {
            #expect(next(.final, attempts) == .fail)
            #expect(next(.space(needed: 7), attempts) == .waitForSpace(needed: 7))
            #expect(next(.stopped, attempts) == .stop)
        }
        #expect(FailureRule.next(after: .passes(), attempts: 0, delays: []) == .fail)
    }
}
