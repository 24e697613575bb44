import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests how the connections of a host are divided among the files of a set.
struct HostGovernorTests {
    private static let mebibyte: Int64 = 1 << 20

    /// A governor with files of which some MiB remain, and a fixed number of connections.
    private func governor(_ remaining: [Int64], most: Int = 8) -> HostGovernor {
        var governor = HostGovernor(roundTrip: 0.05)
        for (id, remaining) in remaining.enumerated() {
            governor.report(
                id,
                .init(
                    received: 0, remaining: remaining * Self.mebibyte, busy: 1, most: most,
                    isFixed: true))
        }
        return governor
    }

    private func shares(_ governor: HostGovernor, _ count: Int) -> [Int] {
        (0..<count).map(governor.share)
    }

    @Test func filesHaveOneConnectionWhileOthersWait() {
        var governor = governor([100, 10, 1])
        governor.step(.init(), backlog: .init(files: 50), now: 1)
        #expect(shares(governor, 3) == [1, 1, 1])
        #expect(governor.room == .init(files: 8))
    }

    @Test func freeConnectionsHelpFilesThatWouldEndLast() {
        var governor = governor([40, 20, 10])
        governor.step(.init(), backlog: .init(), now: 1)
        let shares = shares(governor, 3)
        #expect(shares.reduce(0, +) == 8 && shares[0] > shares[1] && shares[1] > shares[2])
        #expect(shares[2] == 1 && governor.room.extra == 5)
    }

    @Test func smallRestMayBeHedged() {
        var governor = HostGovernor(roundTrip: 0.05)
        governor.report(0, .init(received: 0, remaining: 60_000, busy: 1, most: 8, isFixed: true))
        governor.step(.init(), backlog: .init(), now: 1)
        #expect(governor.share(of: 0) == 2)
    }

    @Test func fileThatWouldOutlastSetIsHelpedEarly() {
        var governor = governor([100, 10])
        let backlog = HostGovernor.Backlog(files: 30, bytes: 50 * Self.mebibyte)
        governor.step(.init(), backlog: backlog, now: 1)
        // 160 MiB over 8 connections are 20 MiB for each.
        #expect(shares(governor, 2) == [3, 1])
        // Without sizes, nothing shows that it would.
        var other = self.governor([100, 10])
        other.step(.init(), backlog: .init(files: 30), now: 1)
        #expect(shares(other, 2) == [1, 1])
    }

    /// The files that wait may be those of another host.
    @Test func connectionsDoNotWaitLongForFiles() {
        var governor = governor([100, 100])
        governor.step(.init(), backlog: .init(files: 9), now: 1)
        #expect(shares(governor, 2) == [1, 1])
        governor.step(.init(), backlog: .init(files: 9), now: 1 + HostGovernor.patience)
        #expect(shares(governor, 2) == [4, 4])
    }

    @Test func connectionMovesAfterItsRequest() {
        var governor = governor([100])
        governor.step(.init(), backlog: .init(), now: 1)
        #expect(governor.share(of: 0) == 8)
        for id in 0..<2 {
            let busy = id == 0 ? 8 : 1
            governor.report(
                id,
                .init(
                    received: 0, remaining: 50 * Self.mebibyte, busy: busy, most: 8, isFixed: true))
        }
        governor.step(.init(), backlog: .init(), now: 1.1)
        #expect(governor.share(of: 0) < 8 && governor.share(of: 1) == 1)
        #expect(governor.room.extra == 7)
    }

    @Test func requestsForOtherFilesCount() {
        var governor = governor([100, 100])
        governor.step(.init(), others: 4, backlog: .init(), now: 1)
        #expect(shares(governor, 2) == [2, 2])
    }

    /// A file that waits for a further attempt takes no part, but keeps a connection.
    @Test func activeFilesKeepConnections() {
        var governor = governor([100, 100], most: 4)
        var backlog = HostGovernor.Backlog()
        backlog.active = 3
        governor.step(.init(), backlog: backlog, now: 2)
        #expect(shares(governor, 2).reduce(0, +) == 3)
        backlog.active = 2
        governor.step(.init(), backlog: backlog, now: 3)
        #expect(shares(governor, 2) == [2, 2])
    }

    @Test func serversLimitHolds() {
        var governor = HostGovernor(roundTrip: 0.05)
        for id in 0..<2 {
            governor.report(
                id, .init(received: 0, remaining: 100 * Self.mebibyte, busy: 1, most: 64))
        }
        governor.step(.init(roundTrip: 0.05), limit: 5, backlog: .init(), now: 1)
        // One more tests whether the limit has risen.
        #expect(governor.target == 6 && shares(governor, 2) == [3, 3])
    }

    /// A nearby server starts with few connections, but more files have begun already.
    @Test(arguments: [0.0005, 0.005]) func numberGrowsWhereServerLimitsConnections(trip: Double) {
        var governor = HostGovernor(roundTrip: trip)
        var received = [Int64](repeating: 0, count: 8)
        for tick in 1...60 {
            for id in received.indices {
                let share = governor.share(of: id)
                received[id] += Int64(share) * 200_000
                governor.report(
                    id, .init(received: received[id], remaining: 1 << 30, busy: share, most: 64))
            }
            governor.step(
                .init(roundTrip: trip), backlog: .init(files: 9), now: Double(tick) / 10)
        }
        #expect(governor.target == 64)
    }

    @Test func sharesStayWithinBound() {
        forEachSeed(200) { seed, random in
            let most = Int.random(in: 1...64, using: &random)
            var governor = HostGovernor(roundTrip: 0.05)
            var now = 0.0
            var ids: Set<Int> = []
            for id in 0..<60 {
                now += 0.1
                if ids.count < most, Bool.random(using: &random) { ids.insert(id) }
                if let old = ids.min(), Int.random(in: 0..<4, using: &random) == 0 {
                    ids.remove(old)
                    governor.leave(old)
                }
                for id in ids {
                    governor.report(
                        id,
                        .init(
                            received: 0, remaining: .random(in: 0...1 << 30, using: &random),
                            busy: governor.share(of: id), most: most, isFixed: true))
                }
                let files = Int.random(in: 0...2, using: &random)
                governor.step(.init(), backlog: .init(files: files), now: now)
                let sum = ids.reduce(0) { $0 + governor.share(of: $1) }
                #expect(sum <= max(most, ids.count), "seed \(seed)")
                #expect(ids.allSatisfy { governor.share(of: $0) >= 1 }, "seed \(seed)")
                #expect(governor.room.files >= 1, "seed \(seed)")
            }
        }
    }

    // MARK: Which files begin

    @Test func filesOfUnknownSizeBeginByRatioOfLargeOnes() {
        var width = BatchWidth(jobs: nil)
        width.take([.init(files: 16)])
        for _ in 0..<30 { width.saw(isLarge: true) }
        #expect(width.allows(size: nil, beside: .init(large: 15)))
        #expect(!width.allows(size: nil, beside: .init(large: 15, unknown: 2)))
        #expect(!width.allows(size: nil, beside: .init(large: 16)))
        // A small file does not wait for large ones.
        #expect(width.allows(size: 1_000, beside: .init(large: 16)))
        #expect(!width.allows(size: 1 << 30, beside: .init(large: 16)))
    }

    @Test func boundCountsAllFilesAndConnections() {
        var width = BatchWidth(jobs: 4)
        width.bound(to: .fixed(6))
        var load = BatchWidth.Load(large: 3)
        load.ofHost = (files: 3, extra: 2)
        #expect(width.allows(size: nil, beside: load))
        #expect(!width.allows(size: nil, beside: .init(large: 4)))
        load.ofHost.extra = 3
        #expect(!width.allows(size: nil, beside: load))
        load.ofHost = (files: 0, extra: 6)
        #expect(width.allows(size: nil, beside: load))
    }

    @Test func largeFilesComeFirst() {
        let sizes: [Int64?] = [5, 3 << 20, nil, 9 << 20, 7, 3 << 20]
        #expect(BatchOrder.largeFirst(sizes.count) { sizes[$0] } == [3, 1, 5, 0, 2, 4])
    }
}
