import Assembler
import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests the next step after each outcome, and that attempts end.
@Suite struct AttemptsTests {
    typealias Step = Attempts.Step
    typealias Question = Attempts.Question

    static let reset = TransferFailure.network(code: 56, message: "reset")
    static let coded = TransferFailure.breach(.contentCoding("gzip"))
    static let otherTag = ContractBreach.otherETag(expected: "\"1\"", got: "\"2\"")

    static func file(_ tag: String = "\"1\"", ranges: Bool = true, size: Int64? = 1 << 30)
        -> RemoteFile
    {
        RemoteFile(
            url: "http://a/f", effectiveURL: "http://a/f", redirects: 0,
            identity: RemoteIdentity(size: size, etag: tag), acceptsRanges: ranges,
            suggestedName: "f", digests: [], probedBy: "GET")
    }

    /// A row of the table: the outcomes of a download's attempts, and the step after the last one.
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        /// The outcomes, each with the bytes of the file that were received until then.
        var outcomes: [(Fetch.Outcome, received: Int64)]
        var file = AttemptsTests.file()
        var isSurplus = false
        var isDateConfirmed = false
        var retries = 2
        var next: Step

        var testDescription: String { name }
    }

    static let changed = Fetch.Outcome.changed(otherTag)
    static func broken(_ failure: TransferFailure = reset, at reached: Int64) -> Fetch.Outcome {
        .streamBroken(failure, retryAfter: 7, reached: reached)
    }
    static func paused(_ failures: Int, _ extent: Question.Extent = .firstRange) -> Step {
        .pause(failures: failures, retryAfter: 7, reset, then: Question(extent: extent))
    }

    static let rows = [
        Row(
            name: "a complete file is published", outcomes: [(.complete(size: 9), 9)],
            next: .publish(size: 9, isChecked: false)),
        Row(
            name: "the date of a complete file without one is requested",
            outcomes: [(.complete(size: 9, isUndated: true), 9)], next: .askForDate),
        Row(
            name: "a complete file with a confirmed date is published",
            outcomes: [(.complete(size: 9, isUndated: true), 9)], isDateConfirmed: true,
            next: .publish(size: 9, isChecked: true)),
        Row(
            name: "cancelling ends the download", outcomes: [(.cancelled, 0)],
            next: .end(.cancelled)),
        Row(
            name: "a final failure ends the download",
            outcomes: [(.failed(.refused(status: 403)), 0)],
            next: .end(.refused(status: 403))),
        Row(
            name: "a contradicted probe before the first byte is repeated as a first contact",
            outcomes: [(.contradictsProbe, 0)],
            next: .find(Question(extent: .firstRange, earlier: .hint, isBeginning: true))),
        Row(
            name: "a probe that is contradicted later is repeated",
            outcomes: [(.contradictsProbe, 1)],
            next: .find(Question(extent: .firstRange, earlier: .hint))),
        Row(
            name: "a possible partial response leads to a request for the whole file",
            outcomes: [(.mayBePart, 0)],
            next: .find(Question(extent: .whole, earlier: .forgotten))),
        Row(
            name: "ignored ranges are requested again", outcomes: [(.rangesIgnored, 0)],
            next: .find(Question(extent: .firstByte))),
        Row(
            name: "ranges are not requested after being ignored repeatedly",
            outcomes: Array(repeating: (.rangesIgnored, 0), count: 4),
            next: .find(Question(extent: .whole))),
        Row(
            name: "ignored ranges after received bytes are requested again",
            outcomes: [
                (.rangesIgnored, 0), (.rangesIgnored, 0), (.rangesIgnored, 0), (.rangesIgnored, 1),
            ], next: .find(Question(extent: .firstByte))),
        Row(
            name: "a change leads to a new probe", outcomes: [(changed, 5)],
            next: .find(Question(extent: .firstRange))),
        Row(
            name: "a change leads to one response if ranges have no date",
            outcomes: [(.complete(size: 9, isUndated: true), 9), (changed, 9)],
            next: .find(Question(extent: .whole))),
        Row(
            name: "a broken stream is requested again after a pause",
            outcomes: [(broken(at: 5), 5)], next: paused(1)),
        Row(
            name: "a stream that breaks at the same byte pauses for longer",
            outcomes: [(broken(at: 5), 5), (broken(at: 5), 10)], next: paused(2)),
        Row(
            name: "a stream that breaks at a later byte does not",
            outcomes: [(broken(at: 5), 5), (broken(at: 6), 11)], next: paused(1)),
        Row(
            name: "a broken stream that may be partial is requested whole",
            outcomes: [(.mayBePart, 0), (broken(at: 5), 5)], next: paused(1, .whole)),
        Row(
            name: "a stream that breaks without progress ends the download",
            outcomes: Array(repeating: (broken(at: 5), 5), count: 3),
            next: .end(.transfer(reset, attempts: 3))),
        Row(
            name: "failures over the server's limit do not count",
            outcomes: Array(repeating: (broken(at: 0), 0), count: 9), isSurplus: true,
            next: paused(9)),
        Row(
            name: "a breach ends the download with its reason",
            outcomes: [(broken(.breach(.bodyTooLong), at: 5), 5)], retries: 0,
            next: .end(.contract(.bodyTooLong))),
        Row(
            name: "an undecodable response is not retried",
            outcomes: [(broken(coded, at: 0), 0)], file: decoded,
            next: .end(.contract(.contentCoding("gzip")))),
    ]

    static var decoded: RemoteFile {
        var file = file(size: nil)
        file.isDecoded = true
        return file
    }

    @Test(arguments: rows) func nextStepFollowsOutcomes(_ row: Row) {
        var attempts = Attempts()
        var step: Step?
        for (outcome, received) in row.outcomes {
            step = attempts.next(
                after: outcome, of: row.file, received: received,
                policy: RetryPolicy(retries: row.retries), isSurplus: row.isSurplus,
                isDateConfirmed: row.isDateConfirmed)
        }
        #expect(step == row.next)
    }

    // MARK: Changes

    /// Returns the settlements after changes, with the server's offer after each of them.
    private func settled(
        _ offers: [RemoteFile], keepsPart: Bool = false, received: [Int64] = []
    ) -> [Attempts.Settlement] {
        var attempts = Attempts()
        return offers.enumerated().map { index, offered in
            _ = attempts.next(
                after: Self.changed, of: Self.file(),
                received: received.isEmpty ? 0 : received[index], policy: RetryPolicy(retries: 2))
            let settlement = attempts.settle(offered.identity, keepsPart: keepsPart)
            if settlement == .startOver { attempts.startOver(with: offered.identity) }
            return settlement
        }
    }

    @Test func startsOverOnceWithAnotherVersion() {
        let other = Self.file("\"2\"")
        #expect(settled([other, other]) == [.startOver, .end(.remoteChanged(Self.otherTag))])
        #expect(settled([other], keepsPart: true) == [.end(.remoteChanged(Self.otherTag))])
    }

    @Test func revokedChangeContinues() {
        let same = Self.file()
        #expect(
            settled(Array(repeating: same, count: 5))
                == [.goOn, .goOn, .goOn, .startOver, .end(.remoteChanged(Self.otherTag))])
        let moving = settled(Array(repeating: same, count: 9), received: Array(1...9))
        #expect(moving.allSatisfy { $0 == .goOn })
    }

    @Test func continuesWithoutChange() {
        var attempts = Attempts()
        let settlement = attempts.settle(Self.file().identity, keepsPart: true)
        #expect(settlement == .goOn)
        attempts.startOver(with: Self.file("\"2\"").identity)
        #expect(attempts.startOver == nil)
    }

    @Test(arguments: [("\"1\"", nil), ("\"2\"", StartOverReason.changedMidway)])
    func startOverReportsOnlyAnotherVersion(tag: String, reason: StartOverReason?) {
        var attempts = Attempts()
        _ = attempts.next(
            after: Self.changed, of: Self.file(), received: 0, policy: RetryPolicy(retries: 2))
        attempts.distrustRanges()
        attempts.startOver(with: Self.file(tag).identity)
        #expect(attempts.startOver == reason)
        #expect(attempts.isRangeless)
    }

    @Test func anotherServerResetsAttempts() {
        var attempts = Attempts()
        let policy = RetryPolicy(retries: 2)
        for _ in 0..<5 {
            _ = attempts.next(
                after: .rangesIgnored, of: Self.file(), received: 0, policy: policy)
        }
        _ = attempts.next(after: Self.changed, of: Self.file(), received: 0, policy: policy)
        attempts.startOver(because: .mirrorsDiffer)
        attempts.turnToAnotherServer()
        #expect(attempts.startOver == nil)
        #expect(!attempts.isRangeless)
        let settlement = attempts.settle(Self.file("\"2\"").identity, keepsPart: true)
        #expect(settlement == .goOn)
        #expect(attempts.isDoubted, "doubts about the file apply to all of its servers")
    }

    // MARK: Streams

    @Test(
        arguments: [
            (5, file(ranges: false), StartOverReason.streamBroken), (0, file(ranges: false), nil),
            (5, file(), nil), (5, file("\"2\"", ranges: false), nil),
        ] as [(Int64, RemoteFile, StartOverReason?)])
    func streamWithoutRangesStartsOver(
        reached: Int64, offered: RemoteFile, reason: StartOverReason?
    ) {
        var attempts = Attempts()
        let outcome = Self.broken(at: reached)
        _ = attempts.next(
            after: outcome, of: Self.file(ranges: false), received: reached,
            policy: RetryPolicy(retries: 2))
        attempts.take(offered)
        #expect(attempts.startOver == reason)
        attempts.opened(hasStartedOver: reason != nil)
        attempts.take(offered)
        #expect(attempts.startOver == nil, "only once after each break")
    }

    @Test func reportsLastingIgnoredRangesOnce() {
        var attempts = Attempts()
        let policy = RetryPolicy(retries: 2)
        var reported = [attempts.takeRangesIgnored(Self.file(ranges: false))]
        _ = attempts.next(after: .rangesIgnored, of: Self.file(), received: 0, policy: policy)
        reported.append(attempts.takeRangesIgnored(Self.file(ranges: false)))
        reported.append(attempts.takeRangesIgnored(Self.file(ranges: false)))
        _ = attempts.next(after: .rangesIgnored, of: Self.file(), received: 0, policy: policy)
        reported.append(attempts.takeRangesIgnored(Self.file()))
        #expect(reported == [false, true, false, false])
    }

    // MARK: Samples

    @Test func sampleBelongsToOnePart() {
        var samples = Samples()
        samples.agree(generation: "g", date: "d")
        #expect(samples.generation == "g" && samples.areNeeded && samples.vouchedDates == ["d"])
        samples.forgetPart()
        #expect(samples.generation == nil && samples.areNeeded && samples.vouchedDates == ["d"])
        var attempts = Attempts()
        attempts.samples = samples
        attempts.opened(hasStartedOver: false)
        #expect(attempts.samples.areNeeded)
        attempts.opened(hasStartedOver: true)
        #expect(!attempts.samples.areNeeded && attempts.samples.vouchedDates.isEmpty)
    }

    @Test func onlyNewVouchedDatesNeedSample() {
        var samples = Samples()
        samples.take([])
        #expect(!samples.areNeeded)
        samples.take(["d"])
        #expect(samples.areNeeded && samples.vouchedDates == ["d"])
    }

    // MARK: Termination

    /// The server never sends a byte of the file, and its responses are random.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func endsWithoutReceivedBytes(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let retries = Int.random(in: 0...3, using: &random)
        var attempts = Attempts()
        var file = Self.file()
        var isProven = false
        var steps = 0
        let most =
            2 * Attempts.takeBackLimit + Attempts.restartLimit + retries + 4
        while true {
            steps += 1
            guard steps <= most else {
                Issue.record("the attempts do not end")
                return
            }
            var outcomes = [Self.changed]
            if file.transfer == .segments {
                outcomes.append(.rangesIgnored)
                // After a `GET` no response contradicts `HEAD`.
                if !isProven { outcomes.append(.contradictsProbe) }
            } else {
                outcomes += [Self.broken(at: 0), .mayBePart].prefix(attempts.isRangeless ? 1 : 2)
            }
            let step = attempts.next(
                after: outcomes[Int.random(in: 0..<outcomes.count, using: &random)], of: file,
                received: 0, policy: RetryPolicy(retries: retries))
            let question: Question
            switch step {
            case .end: return
            case .find(let next), .pause(_, _, _, let next): question = next
            case .publish, .askForDate:
                Issue.record("no byte was received")
                return
            }
            isProven = true
            let isAnother = Int.random(in: 0..<4, using: &random) == 0
            let offered = Self.file(
                isAnother ? "\"2\"" : "\"1\"",
                ranges: question.extent != .whole && Bool.random(using: &random))
            attempts.take(offered)
            switch attempts.settle(offered.identity, keepsPart: false) {
            case .goOn: break
            case .startOver: attempts.startOver(with: offered.identity)
            case .end: return
            }
            file = offered
            attempts.opened(hasStartedOver: attempts.startOver != nil)
        }
    }
}
