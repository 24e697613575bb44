import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct RunTests {
    static func shell(_ script: String, timeout: Double = 120) throws -> Run.Outcome {
        try Run("/bin/sh", ["-c", script]).wait(timeout: timeout)
    }

    @Test func capturesExitAndOutput() throws {
        let outcome = try Self.shell("echo out; echo err >&2; exit 7")
        #expect(outcome.end == .exit(7))
        #expect(outcome.output == "out\n")
        #expect(outcome.errorOutput == "err\n")
        #expect(try Self.shell("kill -TERM $$").end == .signal(SIGTERM))
    }

    @Test func bothStreamsAreReadAtOnce() throws {
        let outcome = try Self.shell(
            "head -c 3000000 /dev/zero >&2; head -c 3000000 /dev/zero; head -c 100 /dev/zero >&2")
        #expect(outcome.standardOutput.count == 3_000_000)
        #expect(outcome.standardError.count == 3_000_100)
    }

    @Test func childInheritsNoDescriptors() throws {
        let sandbox = try Sandbox()
        let file = try #require(fopen(sandbox.path("open"), "w"))
        defer { fclose(file) }
        let outcome = try Run(
            "/bin/sh", ["-c", "pwd; echo $A; ls /proc/self/fd | wc -l; cat"], in: sandbox.path,
            environment: ["A": "b c"]
        ).wait()
        // Descriptors 0, 1 and 2, and the folder that ls reads.
        #expect(outcome.output == "\(sandbox.path)\nb c\n4\n")
    }

    @Test func timeoutKills() throws {
        let start = monotonicSeconds()
        let error = #expect(throws: Run.TimedOut.self) {
            try Self.shell("echo here; exec sleep 60", timeout: 1.5)
        }
        #expect(monotonicSeconds() - start < 50)
        #expect(error?.outcome.end == .signal(SIGKILL))
        #expect(error?.outcome.output == "here\n")
    }

    @Test func readsLinesWhileItRuns() throws {
        let child = try Run("/bin/sh", ["-c", "echo one; printf two; exec sleep 60"])
        #expect(eventually { child.output == "one\ntwo" })
        #expect(child.outputLines == ["one"])
        #expect(child.isRunning)
        child.signal(SIGINT)
        #expect(try child.wait(timeout: 120).end == .signal(SIGINT))
        #expect(!child.isRunning)
    }

    @Test func isKilledWithItsLastReference() throws {
        var child: Run? = try Run("/bin/sleep", ["60"])
        let pid = try #require(child?.pid)
        #expect(kill(pid, 0) == 0)
        child = nil
        #expect(eventually { kill(pid, 0) != 0 })
    }

    @Test func measuresProcessorTimeAndMemory() throws {
        // Touches about 64 MiB, and keeps it for several samples.
        let script =
            "x=$(head -c 33554432 /dev/zero | tr '\\0' a); i=0; "
            + "while [ $i -lt 100000 ]; do i=$((i+1)); done; echo ${#x}"
        let large = try Self.shell(script)
        #expect(large.output == "33554432\n")
        #expect(large.peakMemory > 32 << 20)
        #expect(large.peakMemory < 512 << 20)
        #expect(large.userSeconds > 0.01)
        #expect(large.wallSeconds >= large.userSeconds / 4)
        let small = try Self.shell("exec sleep 0.2")
        #expect(small.peakMemory < 8 << 20)
        #expect(small.peakMemory > 100 << 10)
        #expect(small.wallSeconds >= 0.2)
    }

    @Test func throwsForMissingProgram() {
        #expect(throws: SystemCallError.self) { try Run("/nonexistent").wait() }
    }

    @Test func seggetIsFound() throws {
        let outcome = try Run(["--help"], in: "/").wait()
        #expect(outcome.exitCode == 0)
    }
}
