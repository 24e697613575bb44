import Assembler
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests of servers that count requests.
extension FetchStoryTests {
    /// A server that forbids all requests after too many, until there was none for ten seconds.
    private final class Evasive {
        /// The number of requests since the last refusal that is too high; with 0 it forbids all.
        var most = 3
        /// Whether it forbids all further requests permanently.
        var isForGood = false
        private(set) var arrivals: [(time: Double, range: ByteRange?, isServed: Bool)] = []
        private(set) var blockedUntil = -Double.infinity

        func answer(_ arrival: SimulatedServer.Arrival) -> SimulatedServer.Answer {
            let recent = arrivals.filter { $0.time >= blockedUntil && $0.isServed }.count + 1
            let isServed = arrival.now >= blockedUntil && recent < most
            if !isServed { blockedUntil = isForGood ? .infinity : arrival.now + 10 }
            arrivals.append((arrival.now, arrival.range, isServed))
            return isServed ? .serve : .status(403)
        }

        var server: SimulatedServer {
            var server = SimulatedServer()
            server.answer = { self.answer($0) }
            server.resolution = { url in
                self.blockedUntil > 0 ? .failed(.refused(status: 403)) : .same(url)
            }
            return server
        }
    }

    private func rests(of log: SimulatedRecord) -> [(time: Double, seconds: Double)] {
        log.notices.compactMap {
            guard case .resting(_, let rest) = $0.notice else { return nil }
            return ($0.time, rest.inSeconds)
        }
    }

    private func failure(of log: SimulatedRecord) -> DownloadError.Reason? {
        if case .failed(let reason) = log.outcome { reason } else { nil }
    }

    /// After a 403 that follows 206s, the server gets no requests for ten seconds, and then one
    /// request for all missing bytes.
    @Test func forbiddenAfterServedPausesRequests() throws {
        let evasive = Evasive()
        var fetch = SimulatedFetch(
            network, evasive.server, size: 60_000_000, connections: 8, isChecked: true)
        _ = try run(&fetch, within: 300)
        #expect(fetch.log.isComplete)
        let rests = rests(of: fetch.log)
        #expect(rests.count == 1 && rests.first?.seconds == 10, "\(rests)")
        let rest = try #require(rests.first)
        let after = evasive.arrivals.filter { $0.time > rest.time + network.roundTrip }
        #expect(after.allSatisfy { $0.time >= rest.time + 10 && $0.isServed }, "\(after)")
        #expect(after.count == 1)
        let first = try #require(after.first?.range?.count)
        #expect(first >= RequestQuota.leastRequest)
    }

    /// After ten, twenty and forty seconds, the next 403 is final.
    @Test func refusalAfterThirdPauseIsFinal() throws {
        let evasive = Evasive()
        evasive.isForGood = true
        var fetch = SimulatedFetch(
            network, evasive.server, size: 60_000_000, connections: 8, isChecked: true)
        let seconds = try run(&fetch, within: 300)
        #expect(failure(of: fetch.log) == .refused(status: 403))
        let rests = rests(of: fetch.log)
        #expect(rests.map(\.seconds) == RequestQuota.rests)
        let lasted = seconds - (rests.first?.time ?? 0)
        #expect(lasted >= 70 && lasted < 75, "\(lasted)")
        // One request for each pause, after those of the initial connections.
        #expect(evasive.arrivals.count <= 2 * 8)
    }

    /// Related cases: a URL that was never served, or a request with a password, is refused at
    /// once.
    @Test func firstRefusalEndsFetchWithoutPause() throws {
        let evasive = Evasive()
        (evasive.most, evasive.isForGood) = (0, true)
        var fetch = SimulatedFetch(
            network, evasive.server, size: 60_000_000, connections: 4, isChecked: true)
        #expect(try run(&fetch, within: 300) < 5)
        #expect(failure(of: fetch.log) == .refused(status: 403))
        #expect(rests(of: fetch.log).isEmpty)
        let other = Evasive()
        var second = SimulatedFetch(
            network, other.server, size: 60_000_000, connections: 8, isFound: true,
            isChecked: true
        ) { $0.primary.mayRest = false }
        #expect(try run(&second, within: 300) < 60)
        #expect(failure(of: second.log) == .refused(status: 403))
        #expect(rests(of: second.log).isEmpty)
    }

    /// A server forbids ranges of more than 4 MiB (aria2#1627); after the second pause, shorter
    /// ones are requested.
    @Test func forbiddenLongRangesAreRequestedInParts() throws {
        var network = network
        network.cap = { _ in 20e6 }
        var server = SimulatedServer()
        var longest: Int64 = 0
        server.answer = { arrival in
            guard let count = arrival.range?.count, count <= 4 << 20 else { return .status(403) }
            longest = max(longest, count)
            return .serve
        }
        server.resolution = { _ in .failed(.refused(status: 403)) }
        // The first missing range is short.
        var fetch = SimulatedFetch(
            network, server, size: 200_000_000, connections: 2, isChecked: true,
            earlier: [(ByteRange(2_000_000, 50_000_000), true)])
        _ = try run(&fetch, within: 300)
        #expect(fetch.log.isComplete)
        #expect(rests(of: fetch.log).map(\.seconds) == [10, 20])
        #expect(longest > 0)
    }

    /// In a queue the fetch ends, so that another download can run during the pause.
    @Test func endsFetchInsteadOfPausingInQueue() throws {
        let evasive = Evasive()
        var fetch = SimulatedFetch(
            network, evasive.server, size: 60_000_000, connections: 8, isFound: true,
            isChecked: true
        ) { $0.endsToRest = true }
        #expect(try run(&fetch, within: 300) < 60)
        #expect(
            failure(of: fetch.log) == .transfer(.resting(for: .seconds(10)), attempts: 1))
    }

    /// The server serves one request a second, and answers 503 to others.
    ///
    /// Few large requests are no slower than a single one.
    @Test(arguments: [1, 4])
    func ratePerSecondLimitNeedsFewLargeRequests(connections: Int) throws {
        var network = network
        network.cap = { _ in 20e6 }
        var alone = SimulatedFetch(network, size: 100_000_000, connections: 1)
        let least = try run(&alone, within: 60)
        // `HEAD` was the first request.
        var last = 0.0
        var requests = 0
        var server = SimulatedServer()
        server.answer = { arrival in
            requests += 1
            guard arrival.now >= last + 1 else { return .status(503) }
            last = arrival.now
            return .serve
        }
        var fetch = SimulatedFetch(
            network, server, size: 100_000_000, connections: connections, isFound: connections > 1,
            isChecked: true)
        let seconds = try run(&fetch, within: 60)
        #expect(fetch.log.isComplete)
        // A second passes until the second request is served.
        #expect(seconds <= least + 1.25, "\(seconds) of \(least)")
        #expect(requests <= 12 && fetch.log.refusals.count <= 8, "\(requests)")
    }

    /// Failures at the start do not show a quota: after a while all connections are active.
    @Test func failuresAtStartAreForgotten() throws {
        var server = SimulatedServer()
        server.answer = { $0.now < 1 ? .status(503) : .serve }
        var fetch = SimulatedFetch(
            network, server, size: 400_000_000, connections: 8, isChecked: true)
        let seconds = try run(&fetch, within: 300)
        #expect(fetch.log.isComplete)
        #expect(fetch.log.mostBusy == 8)
        #expect(seconds <= 50 + 10)
    }

    // MARK: Servers that do not count

    /// On a fast path with a short round trip few requests suffice: most of them would last a
    /// millisecond.
    @Test(arguments: [(100, 30), (1000, 60)] as [(Int64, Int)])
    func fastPathNeedsFewRequests(mebibytes: Int64, most: Int) throws {
        var network = SimulatedNetwork(roundTrip: 0.0002, handshakes: 1)
        network.capacity = [(0, 1e9)]
        var fetch = SimulatedFetch(
            network, size: mebibytes << 20, connections: 64, isFound: true, isChecked: true)
        let seconds = try run(&fetch, within: 30)
        #expect(fetch.log.requests <= most, "\(fetch.log.requests)")
        #expect(seconds <= 1.1 * Double(mebibytes << 20) / 1e9 + 0.05, "\(seconds)")
    }
}
