import Assembler
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

// Tests of a lost network: a download that waits for the network ends its fetch early, others do
// not.
extension FetchStoryTests {
    private func isNetworkLoss(_ outcome: FetchMachine.Outcome?) -> Bool {
        guard case .failed(let reason)? = outcome else { return false }
        return reason.isNetworkLoss
    }

    private func lost(at time: Double, until end: Double = .infinity) -> SimulatedNetwork {
        var network = network
        network.capacity = [(0, 8e6), (time, 0)] + (end < .infinity ? [(end, 8e6)] : [])
        network.cuts = [time]
        return network
    }

    /// A stall of a second, and three unanswered canaries of a second each.
    @Test(arguments: [1, 8])
    func lostNetworkEndsFetchEarly(connections: Int) throws {
        var fetch = SimulatedFetch(
            lost(at: 3), size: 640_000_000, connections: connections, isChecked: true
        ) { $0.endsWithNetwork = true }
        let seconds = try run(&fetch, within: 60)
        #expect(isNetworkLoss(fetch.log.outcome), "\(String(describing: fetch.log.outcome))")
        #expect((5...9).contains(seconds), "\(seconds)")
    }

    /// The connections' second failures in a row end the fetch, if these are faster than stalls and
    /// canaries.
    @Test func shortTimeoutsEndFetchEarlier() throws {
        var fetch = SimulatedFetch(
            lost(at: 3), size: 640_000_000, connections: 8, isChecked: true
        ) { $0.endsWithNetwork = true }
        (fetch.world.connectTimeout, fetch.world.stallTimeout) = (0.3, 0.5)
        let seconds = try run(&fetch, within: 60)
        #expect(isNetworkLoss(fetch.log.outcome), "\(String(describing: fetch.log.outcome))")
        #expect(seconds < 9, "\(seconds)")
    }

    @Test func lostNetworkDoesNotEndFetchByDefault() {
        var fetch = SimulatedFetch(
            lost(at: 3), size: 640_000_000, connections: 8, isChecked: true)
        #expect(fetch.run(limit: 30) == nil)
        #expect(fetch.log.breaches == [])
    }

    /// An outage of two seconds is too short to count as a loss.
    @Test func shortOutageIsNoNetworkLoss() throws {
        var fetch = SimulatedFetch(
            lost(at: 3, until: 5), size: 64_000_000, connections: 8, isChecked: true
        ) { $0.endsWithNetwork = true }
        _ = try run(&fetch, within: 60)
        #expect(fetch.log.isComplete)
    }

    /// A server that answers each request late, or with an error, is reachable.
    @Test func failingServerIsNoNetworkLoss() throws {
        var server = SimulatedServer()
        server.answer = { (3..<20).contains($0.now) ? .status(503) : .serve }
        var fetch = SimulatedFetch(
            network, server, size: 64_000_000, connections: 8, isChecked: true
        ) { $0.endsWithNetwork = true }
        _ = try run(&fetch, within: 200)
        #expect(fetch.log.isComplete)
    }
}
