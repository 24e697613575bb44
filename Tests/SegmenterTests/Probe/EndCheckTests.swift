import Assembler
import Testing

@testable import Segmenter

/// What the answers after the last byte come to.
@Suite(.timeLimit(.minutes(1))) struct EndCheckTests {
    typealias Answer = Result<ContractBreach?, TransferFailure>

    private static let changed = Answer.success(.otherETag(expected: "\"a\"", got: "\"b\""))
    private static let failed = Answer.failure(.status(503))

    /// What was answered, one after the other; the last answer is for all that follows.
    ///
    /// - Returns: Whether the file may have its name, and how often the server was asked.
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

    @Test func aFileIsDoubtedOnlyAfterThreeAnswers() async {
        #expect(await end([.success(nil)]) == (true, 1))
        #expect(await end([Self.changed, .success(nil)]) == (true, 2))
        #expect(await end([Self.changed, Self.changed, .success(nil)]) == (true, 3))
        #expect(await end([Self.changed]) == (false, 3))
    }

    /// An answer that does not come says nothing, and takes nothing back.
    @Test func noAnswerContradictsNothing() async {
        #expect(await end([Self.failed]) == (true, 1))
        #expect(await end([Self.changed, Self.failed]) == (false, 2))
    }
}
