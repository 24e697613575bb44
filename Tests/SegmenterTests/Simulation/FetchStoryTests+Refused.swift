import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests of a file that its server refuses while it serves requests of other downloads.
extension FetchStoryTests {
    /// The ways in which the file is refused.
    static let refusals: [SimulatedServer.Answer] = [
        .status(500), .status(502), .status(503), .status(429), .status(403), .reset,
    ]

    private func refused(
        _ answer: SimulatedServer.Answer, others: @escaping (Double) -> Int,
        _ adjust: (inout FetchMachine.Setup) -> Void = { _ in }
    ) -> SimulatedFetch {
        var server = SimulatedServer()
        server.answer = { _ in answer }
        let fetch = SimulatedFetch(
            network, server, size: 60_000_000, connections: 2, isChecked: true
        ) {
            $0.isBeginning = true
            adjust(&$0)
        }
        fetch.world.servedOthers = others
        return fetch
    }

    /// In a queue the fetch ends within ten seconds, whatever the server answers, and can be
    /// retried.
    @Test(arguments: refusals.indices)
    func fileRefusedBesideOthersEndsEarly(number: Int) throws {
        var fetch = refused(Self.refusals[number], others: { _ in 2 }) { $0.endsToRest = true }
        #expect(try run(&fetch, within: 60) <= 10)
        guard case .failed(.transfer(_, attempts: let attempts)) = fetch.log.outcome else {
            Issue.record("\(String(describing: fetch.log.outcome))")
            return
        }
        #expect(attempts >= 3)
    }

    /// 500 and 502 do not show a limit.
    ///
    /// They count while others are served, even without retries.
    @Test(arguments: [500, 502])
    func serverErrorBesideOthersCountsAsFailure(status: Int) throws {
        var fetch = refused(.status(status), others: { _ in 2 })
        #expect(try run(&fetch, within: 60) <= 10)
        guard case .failed(.transfer(.status(status), attempts: 3)) = fetch.log.outcome else {
            Issue.record("\(String(describing: fetch.log.outcome))")
            return
        }
    }

    /// A failure that may show a limit does not count beside others: the file is downloaded after
    /// these.
    @Test(arguments: [503, 429])
    func possibleLimitBesideOthersIsRetried(status: Int) throws {
        var server = SimulatedServer()
        server.answer = { $0.now < 30 ? .status(status) : .serve }
        var fetch = SimulatedFetch(
            network, server, size: 6_000_000, connections: 2, isChecked: true
        ) { $0.isBeginning = true }
        fetch.world.servedOthers = { $0 < 30 ? 2 : 0 }
        #expect(try run(&fetch, within: 120) >= 30)
        #expect(fetch.log.isComplete)
    }
}
