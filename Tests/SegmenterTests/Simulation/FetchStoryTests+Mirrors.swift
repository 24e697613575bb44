import Assembler
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

// Tests with several servers for one file, and with a reader that takes it in order.
extension FetchStoryTests {
    /// Returns another server of the file.
    private func mirror(_ size: Int64) throws -> FetchMachine.Mirror {
        let url = try #require(WebURL("https://b.test/file"))
        let identity = RemoteIdentity(size: size, etag: SimulatedFetch.tag)
        return .init(number: 1, shownURL: "https://b.test/file", url: url, identity: identity)
    }

    /// A mirror joins after its sample matched, and continues alone when the first server loses the
    /// file.
    @Test func mirrorContinuesWithoutPrimary() throws {
        let size: Int64 = 64_000_000
        let mirror = try mirror(size)
        var server = SimulatedServer()
        server.answer = { $0.now > 3 && $0.url.origin.contains("a.test") ? .status(404) : .serve }
        server.resolution = { _ in .failed(.transfer(.status(404), attempts: 1)) }
        var fetch = SimulatedFetch(
            network, server, size: size, connections: 8, isChecked: true)
        fetch.world.plan("join", in: 1) { machine, world in machine.join(mirror, world) }
        let seconds = try run(&fetch, within: 60)
        let log = fetch.log
        #expect(log.isComplete)
        #expect(log.count { if case .mirrorJoined = $0 { true } else { false } } == 1)
        #expect(log.count { if case .mirrorDropped = $0 { true } else { false } } == 1)
        #expect(log.wire == log.received + log.hedgedWire + log.sampledWire)
        #expect(log.sampledWire > 0)
        #expect(seconds <= 8 + 3)
    }

    /// A mirror whose server has reached its limit is compared once the limit permits another
    /// request.
    @Test func mirrorWaitsForServersLimit() throws {
        let size: Int64 = 200_000_000
        let url = try #require(WebURL("https://a.test/other"))
        let mirror = FetchMachine.Mirror(
            number: 1, shownURL: "https://a.test/other", url: url,
            identity: RemoteIdentity(size: size, etag: SimulatedFetch.tag))
        var asked = 0
        var server = SimulatedServer()
        server.answer = {
            if $0.url == url { asked += 1 }
            return $0.served < 2 ? .serve : .status(503)
        }
        var fetch = SimulatedFetch(network, server, size: size, connections: 4, isChecked: true)
        fetch.world.plan("join", in: 20) { machine, world in machine.join(mirror, world) }
        _ = try run(&fetch, within: 300)
        #expect(fetch.log.isComplete)
        // Later refusals are only those of probes of the limit, at growing intervals.
        #expect(fetch.log.refusals.count { $0 > 20 } <= 3)
        #expect(asked <= 3)
    }

    /// A mirror has other bytes with the same entity tag.
    ///
    /// A sample shows this, and none of its bytes are written.
    @Test func mirrorWithOtherBytesIsDropped() throws {
        let mirror = try mirror(40_000_000)
        var server = SimulatedServer()
        server.liars = [mirror.url.origin]
        var fetch = SimulatedFetch(
            network, server, size: 40_000_000, connections: 8, isChecked: true)
        fetch.world.plan("join", in: 1) { machine, world in machine.join(mirror, world) }
        let seconds = try run(&fetch, within: 60)
        let log = fetch.log
        #expect(log.isComplete)
        #expect(log.count { if case .mirrorJoined = $0 { true } else { false } } == 0)
        #expect(log.count { if case .mirrorDropped = $0 { true } else { false } } == 1)
        #expect(log.wire - log.received - log.hedgedWire <= MirrorSample.length)
        #expect(seconds <= 5 + 1.5)
    }

    /// A reader is slower than the network.
    ///
    /// Nothing is written behind its window, and it never waits for long.
    @Test(arguments: [1e6, 4e6, 1e9]) func writesStayWithinReadersWindow(rate: Double) throws {
        var fetch = SimulatedFetch(network, size: 40_000_000, connections: 8, isChecked: true)
        fetch.world.reader = SimulatedReader(rate: rate, size: 8 << 20)
        let seconds = try run(&fetch, within: 120)
        #expect(fetch.log.isComplete)
        // When the last window arrives, the reader has all bytes before it.
        let least = max((40e6 - 0x1p23) / rate, 5)
        #expect(seconds <= 1.1 * least + 2)
    }
}
