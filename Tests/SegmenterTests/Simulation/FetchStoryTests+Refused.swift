import Testing

@testable import Segmenter

/// A file that its server refuses while it serves others of other downloads.
extension FetchStoryTests {
    /// How the file is refused.
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

    /// In a queue it ends within ten seconds, whatever the server answers, and may be tried again.
    @Test(arguments: refusals.indices)
    func aFileThatIsRefusedBesideOthersEndsSoon(number: Int) throws {
        var fetch = refused(Self.refusals[number], others: { _ in 2 }) { $0.endsToRest = true }
        #expect(try run(&fetch, within: 60) <= 10)
        guard case .failed(.transfer(_, attempts: let attempts)) = fetch.log.outcome else {
            Issue.record("\(String(describing: fetch.log.outcome))")
            return
        }
        #expect(attempts >= 3)
    }

    /// 500 and 502 are no limits: they count although others are served, also where nobody tries again.
    @Test(arguments: [500, 502])
    func whatIsNoLimitCountsBesideOthers(status: Int) throws {
        var fetch = refused(.status(status), others: { _ in 2 })
        #expect(try run(&fetch, within: 60) <= 10)
        guard case .failed(.transfer(.status(status), attempts: 3)) = fetch.log.outcome else {
            Issue.record("\(String(describing: fetch.log.outcome))")
            return
        }
    }

    /// What may be a limit is no failure beside others: the file comes when these have ended.
    @Test(arguments: [503, 429])
    func whatMayBeALimitIsWaitedOut(status: Int) throws {
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
