import Foundation
import Glibc
import TestSupport
import Testing

/// Tests downloads that are killed repeatedly.
struct KillTests {
    /// Sends SIGKILL 40 times at random offsets, each after new recorded progress, during a
    /// download that transfers for at least 20 s.
    @Test(.timeLimit(.minutes(5))) func survivesFortyKills() throws {
        let size: Int64 = 240_000_000
        let kills = 40
        let connections = 6
        let seed = UInt64.random(in: 0...UInt64.max)
        print("kill test: seed \(seed)")
        var random = SplitMix64(seed: seed)
        let stage = try Stage(size: size, seed: 40)
        // 12 MB/s in total: 20 s of transfer.
        stage.origin.bendGET { $0.pace = 2_000_000 }
        let arguments = [
            "-q", "-x", "\(connections)", "--checksum", "sha-256:\(stage.content.sha256Hex)",
        ]
        // The first 95 % of the file are divided into one span per kill. Each kill happens at a
        // random offset of its span.
        let span = Int64(Double(size) * 0.95) / Int64(kills)
        let began = monotonicSeconds()
        var before: Int64 = 0
        for kill in 0..<kills {
            let place = Int64(kill) * span + Int64.random(in: 0..<span, using: &random)
            let process = try stage.start(arguments)
            let hasProgressed = process.waits(for: max(place, before + 1))
            try #require(hasProgressed, "seed \(seed), kill \(kill)")
            process.signal(SIGKILL)
            #expect(try process.wait().end == .signal(SIGKILL))
            let now = try #require(stage.recorded(), "seed \(seed), kill \(kill)")
            #expect(now > before, "seed \(seed), kill \(kill)")
            before = now
            let names = try stage.names()
            #expect(!names.contains("file"))
        }
        let outcome = try stage.run(arguments)
        #expect(outcome.end == .exit(0), "seed \(seed): \(outcome.errorOutput)")
        #expect(outcome.errorOutput.isEmpty)
        #expect(monotonicSeconds() - began >= 18)
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
        let limit = size / 100 * 102 + Int64(kills) * (4 << 20)
        print(
            "kill test: \(stage.origin.bytesServed) bytes on the wire for \(size),",
            "\(stage.origin.bytesServed - size) more than the file")
        #expect(stage.origin.bytesServed <= limit)
    }

    /// Kills without waiting for progress: also before there is a manifest, and while old data is
    /// being checked.
    @Test(.timeLimit(.minutes(5))) func survivesKillsAtAnyMoment() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("kills at any moment: seed \(seed)")
        var random = SplitMix64(seed: seed)
        let stage = try Stage(size: 3_000_000, seed: 41)
        stage.origin.bendGET { $0.pace = 1_000_000 }
        for _ in 0..<30 {
            let process = try stage.start(["-q"])
            let patience = Double.random(in: 0...0.25, using: &random)
            if !eventually(timeout: patience, { !process.isRunning }) { process.signal(SIGKILL) }
            let outcome = try process.wait()
            // The download was complete before the kill: start another one.
            if outcome.end == .exit(0) {
                #expect(try stage.isRight(), "seed \(seed)")
                try FileManager.default.removeItem(atPath: stage.path("file"))
            } else {
                #expect(
                    outcome.end == .signal(SIGKILL), "seed \(seed): \(outcome.errorOutput)")
                // The file may have been published already, so that the process only had to exit.
                guard try stage.names() == ["file"] else { continue }
                #expect(try stage.isRight(), "seed \(seed)")
                try FileManager.default.removeItem(atPath: stage.path("file"))
            }
        }
        stage.origin.behave()
        let outcome = try stage.run(["-q"])
        #expect(outcome.end == .exit(0), "seed \(seed): \(outcome.errorOutput)")
        #expect(try stage.isRight(), "seed \(seed)")
    }
}
