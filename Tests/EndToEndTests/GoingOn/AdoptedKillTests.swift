import Foundation
import Glibc
import TestSupport
import Testing

/// Tests that the same command with `--adopt` resumes after segget was killed at any moment.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct AdoptedKillTests {
    private static let size: Int64 = 40_000_000
    private static let begun: Int64 = 30_000_000

    @Test(arguments: AdoptionProof.allCases, ["old", "file.part", "file"])
    func survivesKillsAtAnyMoment(proof: AdoptionProof, name: String) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        let stage = try Stage(size: Self.size, seed: 81)
        stage.origin.bend { request, reply in
            if (request.range?.first ?? 0) >= Self.begun { reply.pace = 400_000 }
        }
        let arguments = ["-q", "-x", "2", "--adopt", name] + proof.arguments(stage)
        try stage.leavePrefix(name, Self.begun)
        let before = try stage.facts(name)
        for kill in 0..<8 {
            let process = try stage.start(arguments)
            let patience = Double.random(in: 0...0.6, using: &random)
            if !eventually(timeout: patience, { !process.isRunning }) { process.signal(SIGKILL) }
            let outcome = try process.wait()
            let words = "seed \(seed), kill \(kill): \(outcome.errorOutput)"
            #expect(outcome.end == .signal(SIGKILL), "\(words)")
            // No byte of the adopted file is lost.
            let places = try stage.names().filter { !$0.hasSuffix(".segget") }
            #expect(
                try places.contains {
                    try stage.content.firstDifference(at: stage.path($0), in: 0..<Self.begun)
                        == nil
                }, "\(words)")
            if name == "old", proof == .checksum {
                #expect(try stage.facts(name) == before, "\(words)")
            }
        }
        stage.origin.behave()
        let count = stage.origin.requests.count
        let outcome = try stage.run(arguments)
        #expect(outcome.end == .exit(0), "seed \(seed): \(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(
            try stage.names()
                == (name == "old" && proof == .checksum ? ["file", "old"] : ["file"]))
        #expect(stage.bytesAsked(after: count) <= Self.size - Self.begun + (256 << 10))
    }
}
