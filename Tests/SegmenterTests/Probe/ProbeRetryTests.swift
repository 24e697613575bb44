import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests how often a probe is retried, and which failures count as attempts.
@Suite(.timeLimit(.minutes(1))) struct ProbeRetryTests {
    private final class Busy: ServerUser {
        func load(of origin: String, now: Double) -> ServerLimit.Load { .init(served: 1) }
    }

    private let loop = TransferLoop()
    private let url: WebURL

    init() throws { url = try #require(WebURL("http://127.0.0.1:1/")) }

    private func probe(retries: Int) -> Probe {
        var policy = RetryPolicy(retries: retries)
        (policy.base, policy.cap) = (0.001, 0.001)
        return Probe(
            loop: loop, url: url, connecting: .init(DownloadOptions(), url: url), policy: policy,
            report: { _ in })
    }

    private func landing(_ status: Int, isOverLimit: Bool = false) -> Probe.Landing {
        let exchange = Exchange(reply: Reply(status: status), isOverLimit: isOverLimit)
        return .init(url: url, redirects: 0, exchange: exchange)
    }

    /// Repeats a probe that fails a number of times.
    ///
    /// - Returns: The turn of each attempt, and the reason if the probe was given up.
    private func ask(
        _ probe: Probe, _ question: Persistence.Question, failing times: Int,
        _ failed: Probe.Attempt<Void>
    ) async -> (turns: [Int], end: DownloadError.Reason?) {
        var turns: [Int] = []
        do throws(DownloadError.Reason) {
            try await probe.persist(with: question) {
                (before) async throws(DownloadError.Reason) -> Probe.Attempt<Void> in
                turns.append(before.turn)
                return turns.count > times ? .answered(()) : failed
            }
            return (turns, nil)
        } catch {
            return (turns, error)
        }
    }

    private static let questions: [@Sendable () -> Persistence.Question] = [
        { .later }, { .first(nil, isMute: false) },
    ]

    @Test(arguments: [0, 1]) func transientFailureIsRetried(index: Int) async {
        let question = Self.questions[index]()
        let probe = probe(retries: 3)
        #expect(
            await ask(probe, question, failing: 3, .failed(landing(503))) == ([0, 1, 2, 3], nil))
        #expect(
            await ask(probe, question, failing: 4, .failed(landing(503)))
                == ([0, 1, 2, 3], .transfer(.status(503), attempts: 4)))
    }

    @Test(arguments: [0, 1]) func refusalIsNotRetried(index: Int) async {
        let question = Self.questions[index]()
        #expect(
            await ask(probe(retries: 3), question, failing: 9, .failed(landing(404)))
                == ([0], .transfer(.status(404), attempts: 1)))
        #expect(
            await ask(probe(retries: 3), question, failing: 9, .failed(landing(403)))
                == ([0], .refused(status: 403)))
    }

    /// Another request that is served shows that the server is reachable.
    @Test(arguments: [0, 1]) func failureOverLimitIsNoAttempt(index: Int) async {
        let question = Self.questions[index]()
        loop.perform { $0.servers.join(Busy(), as: $0.makeID()) }
        let answer = await ask(probe(retries: 0), question, failing: 9, .failed(landing(503)))
        if index == 0 {
            #expect(answer == (Array(0...9), nil))
        } else {
            // A file without received bytes has three further attempts.
            #expect(answer == ([0, 1, 2, 3], .transfer(.status(503), attempts: 1)))
        }
        // A failure that does not show a limit counts.
        let other = await ask(probe(retries: 0), question, failing: 9, .failed(landing(500)))
        #expect(other == ([0], .transfer(.status(500), attempts: 1)))
        let over = landing(503, isOverLimit: true)
        #expect(
            await ask(probe(retries: 0), question, failing: 2, .failed(over)) == ([0, 1, 2], nil))
    }

    @Test func changedRequestIsNoFailure() async {
        let answer = await ask(probe(retries: 0), .later, failing: 5, .again)
        #expect(answer == ([0, 0, 0, 0, 0, 0], nil))
    }

    @Test func unansweredHeadCountsAsTurn() async {
        let question = Persistence.Question.first(nil, isMute: true)
        let answer = await ask(probe(retries: 3), question, failing: 1, .failed(landing(503)))
        #expect(answer == ([1, 2], nil))
    }

    /// A host that has not served anything yet gets three attempts.
    @Test func unknownHostIsGivenUpSooner() async {
        var gone = Exchange()
        gone.end = .failed(.network(code: 6, message: ""))
        let nowhere = Probe.Landing(url: url, redirects: 0, exchange: gone)
        var beginning = Probe.Beginning()
        beginning.contact.failures = FirstContact.tries - 1
        let question = Persistence.Question.first(beginning, isMute: false)
        let answer = await ask(probe(retries: 9), question, failing: 9, .failed(nowhere))
        #expect(
            answer == ([0], .transfer(.network(code: 6, message: ""), attempts: 1)))
        beginning.isContinued = { true }
        let continued = Persistence.Question.first(beginning, isMute: false)
        let patient = await ask(probe(retries: 9), continued, failing: 3, .failed(nowhere))
        #expect(patient == ([0, 1, 2, 3], nil))
    }

    @Test func firstProbeReportsBreachAsContract() async {
        let breach = ContractBreach.headTooLong
        let failed = Probe.Attempt<Void>.failed(landing(206), .breach(breach))
        let first = await ask(probe(retries: 0), .first(nil, isMute: false), failing: 9, failed)
        #expect(first == ([0], .contract(breach)))
        let later = await ask(probe(retries: 0), .later, failing: 9, failed)
        #expect(later == ([0], .transfer(.breach(breach), attempts: 1)))
    }
}
