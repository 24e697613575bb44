import Foundation
import Glibc
import TestSupport
import Testing

/// Several processes that download to one destination.
struct RivalTests {
    private static let size: Int64 = 3_000_000

    @Test(.timeLimit(.minutes(5)), arguments: [[], ["--overwrite"], ["--no-resume"]])
    func secondRunFailsWhileFirstDownloads(arguments: [String]) throws {
        let stage = try Stage(size: Self.size)
        // The first run waits until the second has ended.
        let goesOn = Guarded(false)
        stage.origin.bendGET {
            $0.stallAfter = 50_000
            $0.release = goesOn
        }
        let first = try stage.start(["-x", "4"])
        try #require(first.waits(for: 100_000))
        let second = try stage.run(arguments)
        #expect(second.end == .exit(73), "\(second.errorOutput)")
        #expect(second.errorOutput.contains("another process is downloading to `file"))
        // The second run did not wait for the first.
        #expect(first.isRunning)
        goesOn.withLock { $0 = true }
        #expect(try first.wait().end == .exit(0))
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
        #expect(stage.origin.bytesServed <= Self.size + Stage.stolen)
    }

    @Test(.timeLimit(.minutes(5)), arguments: [false, true])
    func oneOfManyRunsCompletes(hasPart: Bool) throws {
        let stage = try Stage(size: Self.size)
        if hasPart { try stage.leavePart(each: 200_000) }
        stage.origin.bendGET { $0.pace = 500_000 }
        let rivals = try (0..<8).map { _ in try stage.start(["-x", "4"]) }
        let outcomes = try rivals.map { try $0.wait() }
        #expect(outcomes.count { $0.end == .exit(0) } == 1)
        for outcome in outcomes where outcome.end != .exit(0) {
            #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
            #expect(
                ["another process is downloading", "exists already"].contains {
                    outcome.errorOutput.contains($0)
                }, "\(outcome.errorOutput)")
        }
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }

    /// Six runs start at once, and each may finish before another starts.
    @Test(.timeLimit(.minutes(5))) func manyRunsLeaveOneCorrectFile() throws {
        let stage = try Stage(size: 50_000)
        for _ in 0..<4 {
            let rivals = try (0..<6).map { _ in try stage.start(["-q", "--overwrite"]) }
            for rival in rivals {
                let outcome = try rival.wait()
                #expect([.exit(0), .exit(73)].contains(outcome.end), "\(outcome.errorOutput)")
            }
            #expect(try stage.isRight())
            #expect(try stage.names() == ["file"])
        }
    }

    /// The lock ends with the process that holds it.
    @Test(.timeLimit(.minutes(5))) func secondRunResumesAfterFirstIsKilled() throws {
        let stage = try Stage(size: Self.size)
        let kept = try stage.leavePart(each: 200_000)
        let outcome = try stage.run(["--json"])
        #expect(outcome.end == .exit(0))
        let last = try #require(try jsonEvents(outcome.output).last)
        #expect(last["bytes_resumed"] as? Int64 == kept)
        #expect(try stage.isRight())
    }
}
