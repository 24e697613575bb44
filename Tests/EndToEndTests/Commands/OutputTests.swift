import Foundation
import Glibc
import TestSupport
import Testing

/// Tests the output of a run without a terminal: plain lines, nothing, or JSON.
struct OutputTests {
    @Test(.timeLimit(.minutes(5))) func quietPrintsNothingOnSuccess() throws {
        let stage = try Stage(size: 2_000_000)
        try stage.leavePart(each: 200_000)
        // Damaged bytes cause a note, except with `--quiet`.
        try stage.damage("file.part", at: 10)
        let outcome = try stage.run(["--quiet"])
        #expect(outcome.end == .exit(0))
        #expect(outcome.standardOutput.isEmpty)
        #expect(outcome.standardError.isEmpty, "\(outcome.errorOutput)")
        #expect(try stage.isRight())
    }

    @Test(.timeLimit(.minutes(5))) func quietPrintsErrors() throws {
        let stage = try Stage(size: 2_000_000)
        stage.origin.bendGET { $0 = .text(404) }
        let outcome = try stage.run(["-q"])
        #expect(outcome.end == .exit(69))
        #expect(outcome.standardOutput.isEmpty)
        #expect(outcome.errorOutput.hasPrefix("error: "))
    }

    /// The server stalls for longer than the period over which the speed is measured.
    @Test(.timeLimit(.minutes(5))) func speedFallsToZeroDuringStall() throws {
        let stage = try Stage(size: 2_000_000)
        stage.origin.bendGET {
            $0.stallAfter = 200_000
            $0.stallFor = 7.5
        }
        let outcome = try stage.run([
            "--json", "--progress", "plain", "-x", "4", "--stall-timeout", "20",
        ])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())

        let events = try jsonEvents(outcome.output)
        let progress = events.filter { $0["event"] as? String == "progress" }
        let speeds = progress.compactMap { event -> (time: Double, speed: Int64)? in
            guard let time = event["time"] as? Double,
                let speed = event["bytes_per_second"] as? Int64
            else { return nil }
            return (time, speed)
        }
        #expect(speeds.count == progress.count)
        let busy = try #require(speeds.first { $0.speed > 0 })
        let silent = try #require(speeds.first { $0.time > busy.time && $0.speed == 0 })
        #expect(silent.time - busy.time <= 6)
        #expect(speeds.contains { $0.time > silent.time && $0.speed > 0 })
        // There are at most ten events per second, and none is missing during the stall.
        for (first, second) in zip(speeds, speeds.dropFirst()) {
            #expect(second.time - first.time < 6)
        }
        let seconds = try #require(speeds.last).time
        #expect(Double(progress.count) <= 10 * seconds + 3)

        let lines = outcome.errorOutput.split(separator: "\n")
        let plain = lines.filter { $0.hasPrefix("file: ") }
        #expect(!plain.isEmpty && Double(plain.count) <= seconds / 2, "\(outcome.errorOutput)")
        #expect(plain.allSatisfy { $0.contains("% ") || $0.contains("%, ") })
        #expect(!outcome.errorOutput.contains("\u{1b}"))
        #expect(!outcome.errorOutput.contains("\r"))
    }

    @Test(.timeLimit(.minutes(5))) func jsonIsAsDocumented() throws {
        let stage = try Stage(size: 2_000_000)
        stage.origin.bendGET { $0.pace = 500_000 }
        let checksum = "sha-256:\(stage.content.sha256Hex)"
        let outcome = try stage.run(["--json", "-q", "-x", "4", "--checksum", checksum])
        #expect(outcome.end == .exit(0))
        #expect(outcome.standardError.isEmpty)
        let events = try jsonEvents(outcome.output)
        let names = events.compactMap { $0["event"] as? String }
        #expect(names.count == events.count)
        #expect(names.prefix(3) == ["run", "probed", "started"])
        #expect(names.last == "finished")
        #expect(names.contains("progress"))
        #expect(events.first?["format"] as? Int == 2)
        let times = events.compactMap { $0["time"] as? Double }
        #expect(times.count == events.count)
        #expect(times == times.sorted())
        let last = try #require(events.last)
        #expect(last["path"] as? String == "file")
        #expect(last["size"] as? Int64 == 2_000_000)
        #expect(last["verified"] as? [String] == [checksum])
        #expect(last["bytes_received"] as? Int64 == 2_000_000)
        #expect(last["bytes_resumed"] as? Int64 == 0)
        let phases = events.compactMap { $0["phase"] as? String }
        #expect(phases.first == "downloading")
        #expect(phases.suffix(2) == ["verifying", "publishing"])
    }

    /// The download continues after the reader of the events has exited.
    @Test(.timeLimit(.minutes(5))) func closedJSONReaderDoesNotEndDownload() throws {
        let stage = try Stage(size: 2_000_000)
        stage.origin.bendGET { $0.pace = 500_000 }
        let outcome = try Run(
            "/bin/sh",
            [
                "-c", "(\"$0\" \"$@\"; echo \"code $?\" >&2) | head -1", try Segget.binary(),
                "--json", "-x", "4", stage.origin.url("/file"),
            ], in: stage.folder
        ).wait()
        #expect(outcome.errorOutput.contains("code 0"), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
    }
}
