import ArgumentParser
import ReportExamples
import Segmenter
import Testing

@testable import SeggetReports
@testable import SeggetCommand

struct LimitCommandOptionsTests {
    private func get(_ arguments: [String]) throws -> GetCommand {
        try #require(
            try Segget.parseAsRoot(["https://example.org/f"] + arguments) as? GetCommand)
    }

    @Test func commandLineReachesTheLibrary() throws {
        let plain = try get([])
        #expect(plain.options.limits == LimitOptions())
        #expect(plain.limits.limitRate == nil)
        let command = try get([
            "--limit-rate", "8Mbit", "--max-size", "1.5G", "--max-time", "90", "--min-rate", "100K",
            "--min-rate-time", "2",
        ])
        #expect(command.limits.limitRate == 1e6)
        var limits = LimitOptions()
        limits.maxSize = 3 << 29
        limits.maxTime = .seconds(90)
        limits.minRate = 102_400
        limits.minRatePeriod = .seconds(2)
        #expect(command.options.limits == limits)
        #expect(try get(["--min-rate", "0"]).options.limits.minRate == nil)
        #expect(try get(["--min-rate", "1M", "--limit-rate", "1M"]).limits.limitRate == 1_048_576)
        #expect(try get(["--min-rate", "1M", "--limit-rate", "0"]).limits.minRate == 1_048_576)
        #expect(try get(["--max-size", "0"]).options.limits.maxSize == 0)
    }

    @Test(
        arguments: [
            ["--limit-rate", "fast"], ["--limit-rate", "-1"], ["--limit-rate", ""],
            ["--max-size", "1Mbit"], ["--max-size", ""], ["--max-time", "0"],
            ["--max-time", "nan"], ["--max-time", "x"], ["--min-rate", "x"],
            ["--min-rate-time", "0"], ["--min-rate-time", "inf"],
            ["--min-rate", "2M", "--limit-rate", "1M"],
        ])
    func refusesInvalidLimits(arguments: [String]) {
        #expect(throws: (any Error).self) { try get(arguments) }
    }

    @Test func progressLineShowsTheLimit() {
        var progress = Examples.progress()
        #expect(!ProgressLine(progress: progress, name: "f", unicode: true).plain.contains("max"))
        progress.limit = 2_097_152
        let line = ProgressLine(progress: progress, name: "f", unicode: true)
        #expect(line.plain.hasSuffix("8 conn, max 2.00 MiB/s"))
        #expect(JSONEvents.Progress(progress).limit == 2 << 20)
    }
}
