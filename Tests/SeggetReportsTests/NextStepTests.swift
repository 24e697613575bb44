import ReportExamples
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport
@testable import SeggetReports

struct NextStepTests {
    private static let members = [["urls", "headers", "user"], ["options"], []]

    @Test(arguments: NextStep.allCases)
    func eachSurfaceHasItsOwnText(step: NextStep) {
        for members in Self.members {
            let api = step.words(on: .api, members: members)
            #expect(!api.contains("segget") && !api.contains("--"), "\(api)")
            let queue = step.words(on: .queue("0123456789abcdef"), members: members)
            for word in ["same command", "docs/", "--no-resume", "--netrc"] {
                #expect(!api.contains(word) && !queue.contains(word), "\(word)")
            }
            #expect(!api.isEmpty && !queue.isEmpty)
        }
        #expect(NextStep(rawValue: step.rawValue) == step)
    }

    @Test(
        arguments: [
            (.transfer(.status(401), attempts: 1), .credentials),
            (.refused(status: 401), .credentials),
            (.refused(status: 403), .access), (.transfer(.status(404), attempts: 1), .link),
            (.transfer(.status(503), attempts: 9), .retryLater),
            (.proxyRefused(status: 407), .proxy),
            (.transfer(.stalled(for: .seconds(1)), attempts: 9), .retry),
            (.invalidURL(""), .link), (.invalidHeader(.noColon), .headers),
            (.assembly(.noSpace(path: "f", needed: 2, free: 1)), .space),
            (.assembly(.destinationExists(path: "f")), .place), (.htmlPage, .link),
            (.untrusted("expired"), .certificate), (.tooLarge(size: 2, limit: 1), .options),
        ] as [(DownloadError.Reason, NextStep)])
    func failureHasItsNextStep(reason: DownloadError.Reason, step: NextStep) {
        #expect(NextStep(after: Examples.error(reason)) == step)
    }

    /// A failure that was recorded without a step has the same step as a new one, or a similar one.
    @Test(arguments: Examples.reasons)
    func kindHasANextStepOfItsFailures(reason: DownloadError.Reason) {
        let error = Examples.error(reason)
        let new = NextStep(after: error)
        // Tasks of a queue are neither adopted nor repaired.
        guard let old = NextStep(ofKind: Diagnostic(error).kind), new != .options else { return }
        let close: [Set<NextStep>] = [
            [.access, .credentials, .link, .proxy], [.retry, .retryLater, .link], [.disk, .space],
        ]
        #expect(
            old == new || close.contains { $0.contains(old) && $0.contains(new) }, "\(old) \(new)")
    }
}
