import Assembler
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests the report about connections and servers during a fetch.
@Suite struct TrafficTests {
    @Test func reportsConnectionsAndServers() throws {
        let size: Int64 = 64_000_000
        var network = SimulatedNetwork(roundTrip: 0.2)
        network.cap = { _ in 1e6 }
        var fetch = SimulatedFetch(network, size: size, connections: 4)
        // The connections are being established: no round trip has passed.
        _ = fetch.run(limit: 0.1)
        let first = fetch.machine.traffic(fetch.world)
        #expect(first.connections.allSatisfy { $0.activity == .connecting })
        #expect(first.connections.allSatisfy { $0.address == nil && $0.position != nil })
        #expect(first.servers.map(\.bytes) == [0])
        _ = fetch.run(limit: 5)
        let traffic = fetch.machine.traffic(fetch.world)
        #expect(traffic.connections.count == 4)
        var asked = RangeSet()
        var received: Int64 = 0
        for connection in traffic.connections {
            #expect(connection.activity == .receives)
            #expect(connection.server == 0)
            #expect(connection.httpVersion == "1.1")
            #expect((8e5...1.2e6).contains(connection.bytesPerSecond))
            let range = try #require(connection.range)
            let position = try #require(connection.position)
            #expect(position > range.start && position < range.end)
            #expect(asked.overlap(with: range) == 0)
            asked.insert(range)
            received += position - range.start
        }
        let server = try #require(traffic.servers.first)
        #expect(traffic.servers.count == 1)
        #expect(server.standing == .used)
        #expect(server.connections == 4)
        #expect(server.bytes == received)
        #expect(server.url == fetch.machine.sources[0].mirror.shownURL)
    }

    /// A connection that has failed waits, without a request.
    @Test func failedConnectionAwaitsRetry() throws {
        var server = SimulatedServer()
        server.answer = { _ in .status(503, retryAfter: 60) }
        var fetch = SimulatedFetch(
            SimulatedNetwork(roundTrip: 0.05), server, size: 64_000_000, connections: 1)
        _ = fetch.run(limit: 2)
        let traffic = fetch.machine.traffic(fetch.world)
        let connection = try #require(traffic.connections.first)
        #expect(connection.activity == .awaitsRetry)
        #expect(connection.range == nil)
        #expect(connection.bytesPerSecond == 0)
        #expect(traffic.servers.map(\.connections) == [0])
    }
}
