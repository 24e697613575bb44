import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct FairShareTests {
    typealias Claim = FairShare.Claim

    @Test(
        arguments: [
            (0, [], []), (100, [], []), (0, [5, 5], [0, 0]), (10, [5, 5], [5, 5]),
            (9, [5, 5], [5, 4]), (100, [5, 5], [5, 5]), (100, [10, .max], [10, 90]),
            (100, [.max, 10, .max], [45, 10, 45]), (3, [.max, .max, .max, .max], [1, 1, 1, 0]),
            (30, [1, 50, 8], [1, 21, 8]), (7, [0, 7], [0, 7]),
        ] as [(Int64, [Int64], [Int64])])
    func fillsEqually(total: Int64, wishes: [Int64], shares: [Int64]) {
        #expect(FairShare.fill(total, wishes) == shares)
    }

    /// A download with eight connections gets no more than a download with one.
    @Test func dividesAmongDownloadsFirst() {
        let claims =
            [Claim(group: 7, demand: .max)]
            + Array(repeating: Claim(group: 2, demand: .max), count: 8)
        #expect(FairShare.divide(1600, among: claims) == [800] + Array(repeating: 100, count: 8))
    }

    /// The unused share of a slow download is divided among the others.
    @Test func dividesUnusedShare() {
        let claims = [(1, 100), (2, .max), (1, 50), (2, 20), (3, 0)].map {
            Claim(group: $0, demand: $1)
        }
        #expect(FairShare.divide(1000, among: claims) == [100, 830, 50, 20, 0])
    }

    /// Two downloads, one with two connections, with and without limits of their own.
    @Test(
        arguments: [
            (100, [1: 10], [90, 5, 5]), (nil, [1: 10], [0, 5, 5]),
            (100, [0: 30, 1: 10], [30, 5, 5]),
            (12, [1: 10], [6, 3, 3]), (nil, [0: 7, 1: 0], [7, 0, 0]), (100, [:], [50, 25, 25]),
        ] as [(Int64?, [Int: Int64], [Int64])])
    func respectsLimitOfDownload(total: Int64?, most: [Int: Int64], shares: [Int64]) {
        let claims = [0, 1, 1].map { Claim(group: $0, demand: .max) }
        #expect(FairShare.divide(total, among: claims, most: most) == shares)
        // Shares beyond the demand are lent, within each download's limit.
        let modest = [0, 1, 1].map { Claim(group: $0, demand: 0) }
        let lent = FairShare.divide(total, among: modest, most: most)
        for (group, limit) in most {
            #expect(
                zip(modest, lent).filter { $0.0.group == group }.reduce(0) { $0 + $1.1 } <= limit)
        }
        #expect(lent.reduce(0, +) <= total ?? .max)
    }

    @Test func randomSharesAreFair() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        for _ in 0..<2000 {
            let claims = (0..<Int.random(in: 1...12, using: &random)).map { _ in
                Claim(
                    group: .random(in: 0...3, using: &random),
                    demand: [0, 1, .random(in: 0...5000, using: &random), .max]
                        .randomElement(using: &random) ?? 0)
            }
            let total = Int64.random(in: 0...10_000, using: &random)
            let shares = FairShare.divide(total, among: claims)
            let wanted = claims.reduce(Int64(0)) { $0 + min($1.demand, total) }
            #expect(shares.reduce(0, +) == min(total, wanted), "seed \(seed)")
            for (claim, share) in zip(claims, shares) {
                #expect((0...claim.demand).contains(share), "seed \(seed)")
                // A connection with an unmet demand has as much as any other of its download.
                guard share < claim.demand else { continue }
                let best = zip(claims, shares).filter { $0.0.group == claim.group }.map(\.1).max()
                #expect(share + 1 >= best ?? 0, "seed \(seed)")
            }
        }
    }
}
