import Assembler
import Testing

@testable import Segmenter

/// Whole fetches in simulated time: the program's machine, and a network and a server that do something
/// on the way.
@Suite struct FetchStoryTests {
    /// Eight connections of 1 MB/s at 50 ms.
    var network: SimulatedNetwork {
        var network = SimulatedNetwork(roundTrip: 0.05)
        network.cap = { _ in 1e6 }
        return network
    }

    /// Runs a story to its end, and checks that no rule was broken.
    func run(_ fetch: inout SimulatedFetch, within limit: Double) throws -> Double {
        let ended = fetch.run(limit: limit)
        let log = fetch.log
        #expect(log.breaches == [])
        return try #require(ended, "no end: \(log.notices.suffix(5))")
    }

    // MARK: Stalls

    /// Everything dies, and five seconds later the way is there again: a canary finds that out, and all
    /// connections are new ones at once, without having failed.
    @Test func aCanaryWakesAll() throws {
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
        // A canary that went out just before has its second, and the next one follows with a tick.
        let woken = try #require(
            log.time { if case .stallOver = $0 { true } else { false } })
        #expect(woken <= 8 + StallDetector.patience + 0.1 + 0.15)
        // What is brought in 8 s is there after what was lost, and slow start of two seconds.
        #expect(seconds <= woken + 5 + 2)
    }

    /// An outage, then a connection that dies, then one that keeps the last bytes: a canary, a rescue and a
    /// second request follow each other in one file.
    @Test func aHedgeAfterARescueAfterAnOutage() throws {
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
        // The second request is there a little after the file would have been.
        #expect(seconds - hedged <= 1)
    }

    /// The last bytes are on a connection that brings nothing more, and all others are free: they are asked
    /// for a second time, once, though the answer takes longer than a tick.
    @Test func theLastBytesAreHedged() throws {
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
        // Late by what makes it late, a tick, and a request on a connection that is there.
        let lateness = max(Hedging.lateness.seconds, Hedging.lateness.trips * network.roundTrip)
        #expect(seconds <= least + lateness + 0.1 + network.roundTrip + 0.1)
    }

    // MARK: Writers

    /// Writers go on between the question where they are and the moment when their tails are taken: what
    /// they have written by then stays theirs.
    @Test func whoeverIsStolenFromHasMovedOn() throws {
        var network = network
        network.cap = { $0 % 4 == 3 ? 2e5 : 1e6 }
        var fetch = SimulatedFetch(network, size: 30_000_000, connections: 8, isChecked: true)
        fetch.world.lag = 200_000
        _ = try run(&fetch, within: 60)
        #expect(fetch.log.isComplete)
        #expect(fetch.log.steals > 0)
        #expect(fetch.log.overruns > 0)
    }

    /// A reply goes on behind what was taken of it: it ends at its writer's new end, the connection is
    /// closed, and whoever took the tail asks for no byte before that.
    @Test func aShortenedReplyEndsWhereItWasCut() throws {
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

    /// A server that serves four at a time, and after a minute eight: both are found, and kept to.
    @Test func aServersLimitIsFoundKeptAndRaised() throws {
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
        // Once known, no minute sees more than three refusals.
        let later = log.refusals.filter { $0 > 15 }
        #expect(later.allSatisfy { start in later.count { $0 >= start && $0 < start + 60 } <= 3 })
        // 4 MB/s until a probe finds out, which are at most forty seconds apart by then, and 8 MB/s.
        let raised = 60 + 40.0 + 8 * (ServerLimit.settling + 0.2)
        #expect(seconds <= 1.03 * (raised + (2000 - 4 * raised) / 8))
    }

    /// The server asks to wait for three seconds: so it is, and nobody asks meanwhile.
    @Test func retryAfterIsKept() throws {
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
        // Spread over a second at most, and then a tick, a connection and a request.
        #expect(after.first ?? 0 <= refused + 3 + 1 + 0.1 + 0.1)
        #expect(seconds <= 4 + 3 + 1 + 1.5)
    }

    /// From some moment on the server sends the whole file to whoever asks for a part: nothing of that is
    /// written, and the fetch ends with what is to be done otherwise.
    @Test func aServerIgnoresRangesMidway() throws {
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

    /// A server that answers `If-Range` with the whole file: the range is asked for without it.
    @Test func aServerIgnoresRangesWithIfRange() throws {
        var server = SimulatedServer()
        server.answer = { $0.sentIfRange ? .whole : .serve }
        var fetch = SimulatedFetch(
            network, server, size: 8_000_000, connections: 4, isChecked: true)
        let seconds = try run(&fetch, within: 60)
        #expect(fetch.log.isComplete)
        #expect(seconds <= 2 + 1.5)
    }

    /// A link that is refused midway is resolved again, once for all connections, and they go on with the
    /// new one.
    @Test func anExpiredLinkIsResolvedAgain() throws {
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

    /// A link states when it expires, and nothing else leads there: all was asked for in time, and
    /// what runs is left to run, however slow it is.
    ///
    /// A connection that breaks asks for all of its rest, though its rate is known by then.
    @Test func whatWasAskedForInTimeArrives() throws {
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

    /// Nobody answers at one of two addresses: its connections go to the other one, and nothing has failed.
    @Test func aDeadAddressBesideAGoodOne() throws {
        var network = network
        network.addresses = [.init(name: "192.0.2.1"), .init(name: "192.0.2.2", isDead: true)]
        var fetch = SimulatedFetch(network, size: 40_000_000, connections: 8, isChecked: true)
        let seconds = try run(&fetch, within: 60)
        let log = fetch.log
        #expect(log.isComplete && log.retries == 0)
        let left = try #require(
            log.time { if case .addressLeft("192.0.2.2", _) = $0 { true } else { false } })
        #expect(left <= StallDetector.patience + 0.2)
        // Half of the connections begin when it is left.
        #expect(seconds <= left + (40 - 4 * left) / 8 + 1)
    }

    /// The connections to one of two addresses are slow by far: no more go there.
    @Test func aSlowAddressBesideAGoodOne() throws {
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

    /// What has arrived when the fetch is cancelled stays, and nothing is under way.
    @Test func cancelledMidway() throws {
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

    /// What an earlier run left is checked while the rest comes, and only what is damaged comes again.
    @Test func whatIsDamagedComesAgain() throws {
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
