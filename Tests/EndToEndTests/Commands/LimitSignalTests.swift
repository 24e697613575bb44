import Glibc
import TestSupport
import Testing

/// Tests SIGUSR1 and SIGUSR2, which halve and double the rate limit.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct LimitSignalTests {
    /// Waits until the process has reported `count` changes of the limit, and returns the limits.
    private func limits(_ process: Run, _ count: Int) throws -> [Int64?] {
        func notices() throws -> [[String: Any]] {
            try jsonEvents(process.outputLines.joined(separator: "\n")).filter {
                $0["notice"] as? String == "limit_changed"
            }
        }
        #expect(try eventually(timeout: 120) { try notices().count >= count || !process.isRunning })
        return try notices().map { $0["limit"] as? Int64 }
    }

    @Test func signalsHalveAndDoubleLimit() throws {
        let stage = try Stage(size: 2_500_000)
        let process = try stage.start(["--limit-rate", "256K", "--json", "-x", "4"])
        #expect(eventually(timeout: 120) { process.output.contains("\"limit\":262144") })
        process.signal(SIGUSR1)
        #expect(try limits(process, 1) == [131_072])
        var reported: [Int64?] = [131_072]
        for limit: Int64 in [262_144, 524_288, 1 << 20] {
            process.signal(SIGUSR2)
            reported.append(limit)
            #expect(try limits(process, reported.count) == reported)
        }
        let outcome = try process.wait(timeout: 120)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("note: the rate is now limited to 128 KiB/s"))
        #expect(try stage.isRight())
    }

    @Test func signalsSetAndRemoveLimitFromSpeed() throws {
        let stage = try Stage(size: 8_000_000)
        stage.origin.bendGET { $0.pace = 100_000 }
        let process = try stage.start(["--json", "-x", "4"])
        #expect(eventually(timeout: 120) { (stage.recorded() ?? 0) > 300_000 })
        process.signal(SIGUSR1)
        let limit = try #require(try limits(process, 1).first ?? nil)
        // At most half of the rate of four connections with this pace.
        #expect((1024...230_000).contains(limit))
        process.signal(SIGUSR2)
        #expect(try limits(process, 2) == [limit, nil])
        process.signal(SIGUSR2)
        #expect(try limits(process, 3) == [limit, nil, nil])
        process.signal(SIGTERM)
        let outcome = try process.wait(timeout: 120)
        #expect(outcome.end == .exit(143), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("note: the rate is no longer limited"))
        stage.origin.behave()
        #expect(try stage.run().end == .exit(0))
        #expect(try stage.isRight())
    }

    @Test func ignoredSignalStaysIgnored() throws {
        let stage = try Stage(size: 2_500_000)
        let process = try Run(
            "/bin/sh",
            [
                "-c", "trap '' USR1; exec \"$0\" \"$@\"", try Segget.binary(), "--limit-rate",
                "256K", "--json", stage.origin.url("/file"),
            ], in: stage.folder)
        #expect(eventually(timeout: 120) { process.output.contains("\"limit\":262144") })
        process.signal(SIGUSR1)
        process.signal(SIGUSR2)
        #expect(try limits(process, 1) == [524_288])
        for _ in 0..<5 { process.signal(SIGUSR2) }
        let outcome = try process.wait(timeout: 120)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
    }

    @Test func signalsDoNotEndProbe() throws {
        let stage = try Stage(size: 1000)
        stage.origin.bend { $1.delayBeforeHeaders = .infinity }
        let process = try Run(["probe", stage.origin.url("/file")], in: stage.folder)
        #expect(eventually(timeout: 120) { stage.origin.requests.count == 1 })
        process.signal(SIGUSR1)
        process.signal(SIGUSR2)
        process.signal(SIGTERM)
        #expect(try process.wait(timeout: 120).end == .exit(143))
    }
}
