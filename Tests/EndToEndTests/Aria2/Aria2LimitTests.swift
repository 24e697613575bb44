import Foundation
import TestSupport
import Testing

/// Tests rate limits by the minimum time that a download takes, which a busy machine cannot reduce.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct Aria2LimitTests {
    /// At 500 kB/s, 2 MB take at least 3 s.
    @Test(arguments: [
        "--max-download-limit=500000", "--max-overall-download-limit=500000",
        "--max-download-limit=488K -x4 -s4 -k1M",
        "--max-overall-download-limit=500000 -x4 -s4 -k1M",
    ])
    func respectsRateLimit(options: String) throws {
        let pair = try Aria2Pair(size: 2_000_000)
        let start = monotonicSeconds()
        let outcome = try pair.run("aria2c --no-conf -q \(options) $B/a.bin", .segget)
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(monotonicSeconds() - start >= 3)
        #expect(outcome.tree == ["a.bin": "/a.bin"])
    }

    /// The overall limit applies to all files together.
    @Test func overallLimitAppliesToAllFiles() throws {
        let pair = try Aria2Pair(size: 1_000_000)
        try pair.write("$B/a.bin\n$B/b.bin\n", to: "list")
        let start = monotonicSeconds()
        let outcome = try pair.run(
            "aria2c --no-conf -q -j2 -x1 --max-overall-download-limit=500000 -i list", .segget)
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(monotonicSeconds() - start >= 3)
        #expect(outcome.tree.count == 3)
    }

    /// An item of a list may have a separate limit.
    @Test func limitOfItemAppliesToThatItem() throws {
        let pair = try Aria2Pair(size: 1_500_000)
        try pair.write("$B/a.bin\n max-download-limit=500000\n$B/b.bin\n", to: "list")
        let start = monotonicSeconds()
        let outcome = try pair.run("aria2c --no-conf -q -i list", .segget)
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(monotonicSeconds() - start >= 2)
        #expect(outcome.tree.count == 3)
    }

    /// Both programs cancel a download below the lowest rate.
    @Test func cancelsBelowLowestSpeedLimit() throws {
        let pair = try Aria2Pair(size: 4 << 20)
        pair.origin.bendGET { $1.pace = 200 }
        let (aria2c, segget) = try pair.both(
            "aria2c --no-conf --max-tries=1 --lowest-speed-limit=1M $B/a.bin")
        #expect(aria2c.code == 5 && segget.code == 5, "\(segget.text.lines)")
    }

    /// A limit of 0 means no limit.
    @Test(arguments: [
        "--max-download-limit=0", "--max-overall-download-limit=0", "--lowest-speed-limit=0",
    ])
    func zeroMeansNoLimit(option: String) throws {
        let pair = try Aria2Pair(size: 300_000)
        let (aria2c, segget) = try pair.both("aria2c --no-conf \(option) $B/a.bin")
        #expect(aria2c.code == 0 && segget.code == 0, "\(segget.text.lines)")
        #expect(segget.text.told == aria2c.text.told)
    }
}
