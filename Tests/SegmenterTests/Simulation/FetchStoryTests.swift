import Assembler
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests whole fetches in simulated time: the program's machine, with a network and a server that
/// change during the fetch.
@Suite struct FetchStoryTests {
    /// Eight connections of 1 MB/s with a round trip of 50 ms.
    var network: SimulatedNetwork {
        var network = SimulatedNetwork(roundTrip: 0.05)
        network.cap = { _ in 1e6 }
        return network
    }

    /// Runs a fetch until it ends, and checks that no rule was broken.
    func run(_ fetch: inout SimulatedFetch, within limit: Double) throws -> Double {
        let ended = fetch.run(limit: limit)
        let log = fetch.log
        #expect(log.breaches == [])
        return try #require(ended, "no end: \(log.notices.suffix(5))")
    }

    // MARK: Stalls

    /// All connections die, and the network returns five seconds later.
    ///
    /// A canary detects that, and all connections are replaced at once without counting as failed.
    @Test func answeredCanaryReplacesAllConnections() throws {
        var network = network
        network.capacity = [(0, 8e6), (3, 0), (8, 8e6)]
        network.cuts = [3]
        var fetch = SimulatedFetch(network, size: 64_000_000, connections: 8, isChecked: true)
        let seconds = try run(&fetch, within: 60)
        let log = fetch.log
        #expect(log.isComplete)
        #expect(log.count { if case .stalled = $0 { true } else { false } } == 1)
        #expect(log.count { $0 == .stallOver(connections: 8) } == 1)
        #expect(log.retries == 0)
        // A canary that was sent just before may take its second, and the next one follows at the
        // next tick.
        let woken = try #require(
            log.time { if case .stallOver = $0 { true } else { false } })
        #expect(woken <= 8 + StallDetector.patience + 0.1 + 0.15)
        // The remaining bytes take at most five seconds, after two seconds of slow start.
        #expect(seconds <= woken + 5 + 2)
    }

    /// An outage, then a connection that dies, then one that delays the last bytes: a canary, a
    /// rescue and a second request follow each other in one file.
    @Test func canaryRescueAndHedgeInOneFile() throws {
        var network = network
        network.capacity = [(0, 4e6), (2, 0), (4, 4e6)]
        network.cuts = [2]
        var (dies, isLate) = (true, true)
        var server = SimulatedServer()
        server.answer = { arrival in
            guard let range = arrival.range, range.count > 1 else { return .serve }
            if dies, arrival.now > 7 {
                dies = false
                return .fallSilent(after: 10_000)
            }
            if isLate, !dies, range.end == 40_000_000 {
                isLate = false
                return .fallSilent(after: range.count - 50_000)
            }
            return .serve
        }
        var fetch = SimulatedFetch(
            network, server, size: 40_000_000, connections: 4, isChecked: true)
        let seconds = try run(&fetch, within: 60)
        let log = fetch.log
        let over = try #require(
            log.time { if case .stallOver = $0 { true } else { false } })
        let rescued = try #require(
            log.time { if case .rescued = $0 { true } else { false } })
        let hedged = try #require(log.time { if case .hedged = $0 { true } else { false } })
        #expect(over < rescued && rescued < hedged)
        #expect(log.isComplete && log.retries == 0)
        // The second request completes a little later than the file would have.
        #expect(seconds - hedged <= 1)
    }

    /// A connection with the last bytes stalls, and all others are free.
    ///
    /// The bytes are requested a second time, only once, although the response takes longer than a
    /// tick.
    @Test func stalledLastBytesAreHedgedOnce() throws {
        var network = network
        network.roundTrip = 0.2
        var untroubled = SimulatedFetch(network, size: 8_000_000, connections: 4, isChecked: true)
        let least = try run(&untroubled, within: 30)
        var isLate = true
        var server = SimulatedServer()
        server.answer = { arrival in
            guard let range = arrival.range, isLate, range.end == 8_000_000 else { return .serve }
            isLate = false
            return .fallSilent(after: range.count - 30_000)
        }
        var fetch = SimulatedFetch(
            network, server, size: 8_000_000, connections: 4, isChecked: true)
        let seconds = try run(&fetch, within: 30)
        let log = fetch.log
        #expect(log.isComplete && log.hedges == 1)
        #expect(log.hedged <= 30_000)
        // The lateness that triggers a second request, a tick, and a request on an open connection.
        let lateness = max(Hedging.lateness.seconds, Hedging.lateness.trips * network.roundTrip)
        #expect(seconds <= least + lateness + 0.1 + network.roundTrip + 0.1)
    }

    // MARK: Writers

    /// Writers continue between the query of their position and the theft of their tails.
    ///
    /// They keep the bytes that they have written by then.
    @Test func stealAccountsForWritersProgress() throws {
        var network = network
        network.cap = { $0 % 4 == 3 ? 2e5 : 1e6 }
        var fetch = SimulatedFetch(network, size: 30_000_000, connections: 8, isChecked: true)
        fetch.world.lag = 200_000
        _ = try run(&fetch, within: 60)
        #expect(fetch.log.isComplete)
        #expect(fetch.log.steals > 0)
        #expect(fetch.log.overruns > 0)
    }

    /// A response continues beyond the stolen tail.
    ///
    /// It ends at its writer's new end, and its connection is closed. The thief requests no byte
    /// before that end.
    @Test func shortenedResponseEndsAtNewLimit() throws {
        var network = network
        network.cap = { $0 == 0 ? 1e5 : 1e6 }
        var fetch = SimulatedFetch(network, size: 20_000_000, connections: 4, isChecked: true)
        _ = try run(&fetch, within: 60)
        let log = fetch.log
        #expect(log.isComplete)
        #expect(log.cuts > 0 && log.overruns == 0)
        #expect(log.wire == 20_000_000 + log.hedgedWire)
    }

    // MARK: Servers

    /// A server serves four requests at a time, and eight after a minute: both limits are found and
    /// respected.
    @Test func serversLimitIsLearnedKeptAndRaised() throws {
        var server = SimulatedServer()
        server.answer = { $0.served < ($0.now < 60 ? 4 : 8) ? .serve : .status(503) }
        var fetch = SimulatedFetch(
            network, server, size: 2_000_000_000, connections: 16, isChecked: true)
        let seconds = try run(&fetch, within: 600)
        let log = fetch.log
        #expect(log.isComplete)
        #expect(fetch.world.limits.values.map(\.limit) == [8])
        let limits = log.notices.compactMap { _, notice -> Int? in
            if case .serverLimit(let limit, _) = notice { limit } else { nil }
        }
        #expect(limits.first == 4 && limits.last == 8 && limits == limits.sorted())
        // Once the limit is known, no minute has more than three refusals.
        let later = log.refusals.filter { $0 > 15 }
        #expect(later.allSatisfy { start in later.count { $0 >= start && $0 < start + 60 } <= 3 })
        // 4 MB/s until a probe detects the change, then 8 MB/s. Probes are at most forty seconds
        // apart by then.
        let raised = 60 + 40.0 + 8 * (ServerLimit.settling + 0.2)
        #expect(seconds <= 1.03 * (raised + (2000 - 4 * raised) / 8))
    }

    /// The server sends `Retry-After: 3`, and receives no requests for three seconds.
    @Test func retryAfterIsRespected() throws {
        var (refused, after) = (-1.0, [Double]())
        var server = SimulatedServer()
        server.answer = { arrival in
            if arrival.number == 0 { return .breakOff(after: 500_000) }
            if refused < 0 {
                refused = arrival.now
                return .status(503, retryAfter: 3)
            }
            after.append(arrival.now)
            return .serve
        }
        var fetch = SimulatedFetch(
            network, server, size: 4_000_000, connections: 1, isChecked: true)
        let seconds = try run(&fetch, within: 60)
        #expect(fetch.log.isComplete)
        #expect(after.allSatisfy { $0 >= refused + 3 })
        // Spread over at most a second, plus a tick, a connection and a request.
        #expect(after.first ?? 0 <= refused + 3 + 1 + 0.1 + 0.1)
        #expect(seconds <= 4 + 3 + 1 + 1.5)
    }

    /// The server starts to answer ranges with the whole file.
    ///
    /// Nothing of that is written, and the fetch ends with the outcome that names the alternative.
    @Test func ignoredRangesMidwayEndFetch() throws {
        var server = SimulatedServer()
        server.answer = { $0.now < 3 ? .serve : .whole }
        var fetch = SimulatedFetch(
            network, server, size: 200_000_000, connections: 4, isChecked: true)
        _ = try run(&fetch, within: 60)
        guard case .rangesIgnored? = fetch.log.outcome else {
            Issue.record("\(String(describing: fetch.log.outcome))")
            return
        }
        #expect(fetch.log.written.count == fetch.log.received)
        #expect(fetch.log.wire == fetch.log.received)
    }

    /// A server answers `If-Range` with the whole file: the range is requested without it.
    @Test func ignoredIfRangeIsOmitted() throws {
        var server = SimulatedServer()
        server.answer = { $0.sentIfRange ? .whole : .serve }
        var fetch = SimulatedFetch(
            network, server, size: 8_000_000, connections: 4, isChecked: true)
        let seconds = try run(&fetch, within: 60)
        #expect(fetch.log.isComplete)
        #expect(seconds <= 2 + 1.5)
    }

    /// A link that is refused during the fetch is resolved again, once for all connections, which
    /// continue with the new one.
    @Test func expiredLinkIsResolvedAgain() throws {
        let fresh = try #require(WebURL("https://a.test/file?again"))
        var server = SimulatedServer()
        server.answer = { $0.now < 2 || $0.url.text == fresh.text ? .serve : .status(403) }
        server.resolution = { _ in .same(fresh) }
        var fetch = SimulatedFetch(
            network, server, size: 40_000_000, connections: 8, isChecked: true)
        let seconds = try run(&fetch, within: 60)
        let log = fetch.log
        #expect(log.isComplete)
        #expect(log.count { $0 == .resolvingAgain(status: 403) } == 1)
        #expect(seconds <= 5 + 1.5)
    }

    /// Each new link invalidates the previous one.
    ///
    /// Refusals of requests that were sent to a previous link do not lead to yet another one.
    @Test func lateRefusalsResolveLinkOnlyOnce() throws {
        var server = SimulatedServer()
        var links = 0
        server.answer = {
            let isCurrent = $0.url.text.hasSuffix("?\(links)")
            return $0.number < 8 || isCurrent ? .serve : .status(404)
        }
        server.thinking = { $0.number < 8 ? 0 : Double($0.number % 8) * 0.3 }
        server.resolution = { _ in
            links += 1
            return WebURL("https://a.test/file?\(links)").map { .same($0) }
                ?? .failed(.refused(status: 404))
        }
        var fetch = SimulatedFetch(
            network, server, size: 40_000_000, connections: 8, isChecked: true)
        _ = try run(&fetch, within: 60)
        #expect(fetch.log.isComplete)
        #expect(fetch.log.count { $0 == .resolvingAgain(status: 404) } == 1)
    }

    /// A link states its expiry, and no other link exists.
    ///
    /// All bytes are requested in time, and active requests are left alone, however slow they are.
    /// A connection that breaks requests its whole rest, although its rate is known by then.
    @Test func requestsBeforeExpiryComplete() throws {
        var network = network
        network.cap = { $0 == 0 ? 4e5 : 1e6 }
        var server = SimulatedServer()
        server.answer = {
            $0.number == 1 ? .breakOff(after: 1_000_000) : $0.now < 5 ? .serve : .status(403)
        }
        server.resolution = { _ in .failed(.refused(status: 403)) }
        let url = try #require(WebURL("https://a.test/file?Expires=1800000035"))
        var fetch = SimulatedFetch(
            network, server, size: 40_000_000, connections: 4, isChecked: true
        ) { setup in
            setup.primary.url = url
            setup.primary.expiry = LinkExpiry(url)
        }
        _ = try run(&fetch, within: 60)
        #expect(fetch.log.isComplete)
        #expect(fetch.log.requests - fetch.log.hedges == 5)
    }

    // MARK: Addresses

    /// No server answers at one of two addresses.
    ///
    /// Its connections use the other one, and nothing counts as failed.
    @Test func deadAddressIsAvoided() throws {
        var network = network
        network.addresses = [.init(name: "192.0.2.1"), .init(name: "192.0.2.2", isDead: true)]
        var fetch = SimulatedFetch(network, size: 40_000_000, connections: 8, isChecked: true)
        let seconds = try run(&fetch, within: 60)
        let log = fetch.log
        #expect(log.isComplete && log.retries == 0)
        let left = try #require(
            log.time { if case .addressLeft("192.0.2.2", _) = $0 { true } else { false } })
        #expect(left <= StallDetector.patience + 0.2)
        // Half of the connections start when the dead address is avoided.
        #expect(seconds <= left + (40 - 4 * left) / 8 + 1)
    }

    /// Connections to one of two addresses are far slower, so no more connections use it.
    @Test func slowAddressIsAvoided() throws {
        var network = network
        network.addresses = [.init(name: "192.0.2.1"), .init(name: "192.0.2.2", cap: 5e4)]
        var fetch = SimulatedFetch(network, size: 80_000_000, connections: 8, isChecked: true)
        let seconds = try run(&fetch, within: 60)
        let log = fetch.log
        #expect(log.isComplete)
        let left = try #require(
            log.time {
                if case .addressLeft("192.0.2.2", .slow) = $0 { true } else { false }
            })
        #expect(left <= 3)
        #expect(seconds <= left + (80 - 4 * left) / 8 + 1)
    }

    // MARK: The end

    /// The bytes that were received before the cancellation are kept, and no request is active.
    @Test func cancellingKeepsReceivedBytes() throws {
        var fetch = SimulatedFetch(network, size: 80_000_000, connections: 8, isChecked: true)
        fetch.world.plan("cancel", in: 4.03) { machine, world in machine.cancel(world) }
        let seconds = try run(&fetch, within: 60)
        let log = fetch.log
        guard case .cancelled? = log.outcome else {
            Issue.record("\(String(describing: log.outcome))")
            return
        }
        #expect(seconds == 4.03)
        #expect(log.written.count == log.received)
        // Slow start takes about a second.
        #expect(log.written.count >= 3 * 8_000_000)
        #expect(fetch.world.requests.allSatisfy { $0 == nil })
    }

    /// The bytes of an earlier run are checked while the rest is downloaded; only damaged ones are
    /// downloaded again.
    @Test func damagedBytesAreDownloadedAgain() throws {
        let earlier: [(ByteRange, Bool)] = [
            (ByteRange(0, 10_000_000), true), (ByteRange(12_000_000, 14_000_000), false),
        ]
        var fetch = SimulatedFetch(
            network, size: 20_000_000, connections: 4, isChecked: true, earlier: earlier)
        _ = try run(&fetch, within: 60)
        #expect(fetch.log.isComplete)
        #expect(fetch.log.received == 10_000_000)
    }
}
