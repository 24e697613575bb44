import Assembler
import Glibc
import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests properties of every download, with many in simulated time whose world is random.
///
/// With `SEGGET_SIMULATION=all` in the environment there are many more.
@Suite struct DownloadPropertyTests {
    private static let seeds: UInt64 = getenv("SEGGET_SIMULATION") != nil ? 20_000 : 200

    private static func world(_ random: inout SplitMix64) -> SimulatedDownload.World {
        func chance(_ part: Double) -> Bool { Double.random(in: 0..<1, using: &random) < part }
        func time() -> Double { .random(in: 0..<8, using: &random) }
        var world = SimulatedDownload.World(
            size: .random(in: 100_000...16_000_000, using: &random))
        if chance(0.4) {
            let count = Int.random(in: 1...3, using: &random)
            world.changes = (0..<count).map { _ in time() }.sorted()
        }
        world.servesRanges = chance(0.8)
        if chance(0.4) {
            world.expiries = [time(), time() + 4, time() + 8]
            world.links = .random(in: 0...3, using: &random)
        }
        if chance(0.4) {
            let start = time()
            world.outages = [start..<start + .random(in: 1...900, using: &random)]
        }
        if chance(0.4), world.servesRanges {
            world.earlier = .random(in: 1...world.size, using: &random)
        }
        return world
    }

    /// Checks properties that hold for every download.
    ///
    /// A published file is complete and of one version, which the server offered last. A part of the
    /// offered version is never discarded. No byte of a version is received twice, and the download
    /// ends.
    @Test func rulesHoldInRandomWorlds() {
        var (published, failed) = (0, 0)
        for seed in 0..<Self.seeds {
            var random = SplitMix64(seed: seed &* 6007 &+ 5)
            let world = Self.world(&random)
            let waits = Bool.random(using: &random)
            var download = SimulatedDownload(world) { $0.waitsForNetwork = waits }
            let end = download.run()
            #expect(download.breaches == [], "seed \(seed)")
            let versions = Int64(download.discarded + 1)
            if world.servesRanges {
                #expect(download.received <= versions * world.size, "seed \(seed)")
            }
            switch end {
            case .published: published += 1
            case .failed(let reason):
                failed += 1
                let mayFail =
                    !world.changes.isEmpty || !world.expiries.isEmpty || !world.outages.isEmpty
                #expect(mayFail, "seed \(seed): \(reason)")
                #expect(reason != .cancelled, "seed \(seed)")
                let isLost = waits && world.outages.count > 0 && world.earlier > 0
                let isOnlyOutage = world.changes.isEmpty && world.expiries.isEmpty
                #expect(!(isLost && isOnlyOutage && world.servesRanges), "seed \(seed): \(reason)")
            }
        }
        // The test requires that enough downloads fail, and enough succeed.
        #expect(published >= Int(Self.seeds) / 3)
        #expect(failed >= Int(Self.seeds) / 20)
    }
}
