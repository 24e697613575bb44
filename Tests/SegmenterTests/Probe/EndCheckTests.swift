import Assembler
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests the check of a file after its last byte.
@Suite(.timeLimit(.minutes(1))) struct EndCheckTests {
    typealias Answer = Result<ContractBreach?, TransferFailure>

    private static let changed = Answer.success(.otherETag(expected: "\"a\"", got: "\"b\""))
    private static let failed = Answer.failure(.status(503))

    /// Runs a check with successive answers of the server; the last answer is repeated.
    ///
    /// - Returns: Whether the file may be published, and the number of requests.
    private func end(_ answers: [Answer]) async -> (passes: Bool, asked: Int) {
        let asked = Monitor(0)
        let check = EndCheck {
            let number = asked.withLock { asked in
                defer { asked += 1 }
                return asked
            }
            return answers[min(number, answers.count - 1)]
        } report: { _ in
        }
        let passes = await offLoop("end check") { check.passes() }
        return (passes, asked.withLock { $0 })
    }

    @Test func changeNeedsThreeAnswers() async {
        #expect(await end([.success(nil)]) == (true, 1))
        #expect(await end([Self.changed, .success(nil)]) == (true, 2))
        #expect(await end([Self.changed, Self.changed, .success(nil)]) == (true, 3))
        #expect(await end([Self.changed]) == (false, 3))
    }

    /// A failed request neither shows nor disproves a change.
    @Test func failedRequestKeepsEarlierAnswer() async {
        #expect(await end([Self.failed]) == (true, 1))
        #expect(await end([Self.changed, Self.failed]) == (false, 2))
    }
}
