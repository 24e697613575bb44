import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct MirrorBalanceTests {
    typealias Share = MirrorBalance.Share

    /// A server with at most `total` bytes per second for all connections together, and `each` for
    /// one.
    private struct Server {
        var total: Double
        var each: Double
        func rate(_ connections: Int) -> Double { min(each, total / Double(max(1, connections))) }
    }

    private static func balance(_ counts: [Int], _ servers: [Server]) -> MirrorBalance {
        var shares: [Int: Share] = [:]
        for (number, count) in counts.enumerated() {
            let rate = count > 0 ? servers[number].rate(count) : nil
            shares[number] = Share(connections: count, rate: rate, isProven: true)
        }
        return MirrorBalance(shares: shares)
    }

    /// Frees connections in random order, until none moves to another server.
    ///
    /// - Returns: The number of connections of each server, and the number of moves.
    private static func settle(
        _ servers: [Server], connections: Int, _ random: inout SplitMix64
    ) -> (counts: [Int], moves: Int) {
        var counts = servers.indices.map { number in
            connections / servers.count + (number < connections % servers.count ? 1 : 0)
        }
        var moves = 0
        for _ in 0..<connections * 40 {
            let busy = counts.indices.filter { counts[$0] > 0 }
            guard let current = busy.randomElement(using: &random),
                let next = balance(counts, servers).place(from: current)
            else { break }
            guard next != current else { continue }
            counts[current] -= 1
            counts[next] += 1
            moves += 1
        }
        return (counts, moves)
    }

    @Test func fasterConnectionsAttractOthers() {
        var random = SplitMix64(seed: 1)
        let servers = [Server(total: .infinity, each: 1), Server(total: .infinity, each: 4)]
        #expect(Self.settle(servers, connections: 8, &random).counts == [1, 7])
    }

    @Test func equalServersKeepConnections() {
        var random = SplitMix64(seed: 2)
        for server in [Server(total: 8, each: 8), Server(total: .infinity, each: 2)] {
            let end = Self.settle([server, server], connections: 8, &random)
            #expect(end.counts == [4, 4])
            #expect(end.moves == 0)
        }
    }

    /// With servers of any rate, the moves end and each server is used.
    @Test func movesEndForRandomRates() {
        forEachSeed(500) { seed, random in
            let servers = (0..<Int.random(in: 2...5, using: &random)).map { _ in
                Server(
                    total: .random(in: 0.1...100, using: &random),
                    each: .random(in: 0.1...100, using: &random))
            }
            let connections = Int.random(in: servers.count...32, using: &random)
            let end = Self.settle(servers, connections: connections, &random)
            #expect(end.counts.reduce(0, +) == connections, "seed \(seed)")
            #expect(end.counts.allSatisfy { $0 > 0 }, "seed \(seed)")
            #expect(end.moves <= 4 * connections, "seed \(seed)")
        }
    }

    @Test func everyServerGetsConnectionIfEnough() {
        var balance = MirrorBalance(shares: [
            0: Share(connections: 2, rate: 9, isProven: true),
            1: Share(connections: 0, rate: nil, isProven: false),
        ])
        #expect(balance.place(from: 0) == 1)
        #expect(balance.donor(for: 1) == 0)
        balance.shares[0]?.connections = 1
        #expect(balance.place(from: 0) == 0)
        #expect(balance.donor(for: 1) == nil)
    }

    @Test func freedConnectionJoinsFastestServer() {
        let balance = MirrorBalance(shares: [
            1: Share(connections: 2, rate: 1, isProven: true),
            2: Share(connections: 2, rate: 9, isProven: true),
            3: Share(connections: 1, rate: nil, isProven: false),
        ])
        #expect(balance.place(from: nil) == 2)
        #expect(MirrorBalance(shares: [:]).place(from: nil) == nil)
        let unproven = MirrorBalance(shares: [
            3: Share(connections: 1, rate: nil, isProven: false)
        ])
        #expect(unproven.place(from: nil) == 3)
    }

    @Test func unprovenServerGetsNoFurtherConnection() {
        let balance = MirrorBalance(shares: [
            0: Share(connections: 4, rate: 0.1, isProven: true),
            1: Share(connections: 1, rate: 100, isProven: false),
        ])
        #expect(balance.place(from: 0) == 0)
        #expect(balance.fairShare(of: 8) == 8)
    }
}
