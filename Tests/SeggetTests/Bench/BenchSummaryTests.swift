import Testing

@testable import SeggetReports
@testable import SeggetCommand

/// Tests the evaluation of artificial measurements.
struct BenchSummaryTests {
    static func measurement(
        _ samples: [(Double, Int64)], of subject: BenchSubject = one, round: Int = 1,
        cpu: Double = 1, warmUp: Double = 1,
        end: BenchMeasurement.End = .complete
    ) -> BenchMeasurement {
        BenchMeasurement(
            turn: .init(round: round, subject: subject),
            samples: samples.map { .init(time: $0.0, bytes: $0.1) }, cpu: cpu,
            peakMemory: 32 << 20, wall: samples.last?.0 ?? 0, end: end, warmUp: warmUp)
    }

    /// Returns a measurement at `rate` MiB/s from 1 s on for `seconds`, with a sample each 0.1 s.
    static func steady(
        _ subject: BenchSubject, rate: Int64, seconds: Int = 6, round: Int = 1
    ) -> BenchMeasurement {
        let samples = (0...(seconds * 10)).map { step in
            (1 + Double(step) / 10, Int64(step) * (rate << 20) / 10 + 4096)
        }
        return measurement([(0, 0), (0.9, 200)] + samples, of: subject, round: round)
    }

    @Test func warmUpIsExcluded() throws {
        // One second at 1 MB/s, followed by three at 10 MB/s.
        let slowStart: [(Double, Int64)] = [
            (0, 0), (1, 5000), (2, 1_005_000), (3, 11_005_000), (4, 21_005_000), (5, 31_005_000),
        ]
        let rate = try #require(Self.measurement(slowStart).rate)
        #expect(abs(rate - 10_000_000) < 1)
        let all = try #require(Self.measurement(slowStart, warmUp: 0).rate)
        #expect(abs(all - 7_750_000) < 1)
        // The warm-up is at most a third of the time.
        let most = try #require(Self.measurement(slowStart, warmUp: 100).rate)
        #expect(abs(most - 10_000_000) < 1)
        #expect(Self.measurement(slowStart).firstByte == 1)
    }

    @Test func timeAfterTheFileIsExcluded() throws {
        // The file is complete after 5 s; the disk takes 5 s more, and a few lines of output
        // follow.
        let samples: [(Double, Int64)] = [
            (0, 0), (1, 5000), (5, 40_005_000), (9, 40_005_300), (10, 40_005_900),
        ]
        let measurement = Self.measurement(samples, warmUp: 0)
        #expect(measurement.length == 5)
        let rate = try #require(measurement.rate)
        #expect(abs(rate - 10_000_000) < 1)
    }

    @Test(
        arguments: [
            [], [(0, 0)], [(0, 0), (1, 4000)],
        ] as [[(Double, Int64)]])
    func tooFewBytesHaveNoRate(samples: [(Double, Int64)]) {
        let measurement = Self.measurement(samples)
        #expect(measurement.rate == nil)
        #expect(!measurement.isGood && measurement.isShort)
        #expect(measurement.rates(interval: 0.1, count: 3).count == 3)
    }

    @Test(arguments: [[(1, 50_000)], [(0, 0), (1, 50_000)]] as [[(Double, Int64)]])
    func fewSamplesAreARoughMeasurement(samples: [(Double, Int64)]) {
        let measurement = Self.measurement(samples)
        #expect(measurement.rate == 50_000)
        #expect(measurement.isGood && measurement.isShort)
    }

    @Test func ratesAddUpToFileSize() {
        let measurement = Self.steady(
            BenchSubject(client: .segget, connections: .auto), rate: 10, seconds: 5)
        let interval = measurement.length / 50
        let rates = measurement.rates(interval: interval, count: 50)
        let sum = rates.compactMap { $0 }.reduce(0) { $0 + $1 * interval }
        #expect(abs(sum - Double(measurement.bytes)) < 70_000)
        #expect(measurement.rates(interval: 1, count: 20).suffix(10).allSatisfy { $0 == nil })
    }

    @Test(
        arguments: [
            ([], nil), ([3], 3), ([3, 1], 2), ([5, 1, 3], 3), ([1, 1, 1, 9], 1),
        ] as [([Double], Double?)])
    func computesMedians(values: [Double], median: Double?) {
        #expect(BenchSummary.median(values) == median)
    }

    static let one = BenchSubject(client: .segget, connections: .fixed(1))
    static let many = BenchSubject(client: .segget, connections: .fixed(16))
    static let curl = BenchSubject(client: .curl, connections: .fixed(1))

    /// Three rounds of three programs.
    static let summary = BenchSummary(
        [(one, [10, 12, 30]), (many, [40, 50, 60]), (curl, [5, 20, 10])].flatMap {
            subject, rates in
            rates.enumerated().map { steady(subject, rate: Int64($1), round: $0 + 1) }
        }, subjects: [one, many, curl])

    @Test func rowsHaveMedianAndSpread() throws {
        let row = try #require(Self.summary.rows.first)
        let rates = [row.rate, row.lowest, row.highest].map { ($0 ?? 0) / 0x1p20 }
        for (rate, expected) in zip(rates, [12.0, 10, 30]) { #expect(abs(rate - expected) < 0.01) }
        #expect(row.good == 3 && row.failed == 0 && !row.isShort)
        #expect(row.firstByte == 1)
        #expect(row.typical?.turn.round == 2)
        #expect(Self.summary.notes.isEmpty)
    }

    @Test func ratiosCompareSameNumberAndBest() {
        let ratios = Self.summary.ratios
        #expect(ratios.map(\.segget) == [Self.one, Self.many])
        #expect(ratios.allSatisfy { $0.peer == Self.curl })
        #expect(abs((ratios.first?.rate ?? 0) - 1.2) < 0.01)
        #expect(abs((ratios.last?.rate ?? 0) - 5) < 0.01)
        // Both take the same CPU time, for five times the bytes.
        #expect(abs((ratios.last?.cpu ?? 0) - 0.2) < 0.01)
    }

    @Test func failuresAreNoted() {
        var single = Self.steady(Self.many, rate: 10)
        single.isOneStream = true
        let short = Self.measurement([(0, 0), (0.1, 9000), (0.2, 900_000)])
        let failed = Self.measurement(
            [], of: Self.curl,
            end: .failed(kind: "exit", message: "exit code 22", status: .unavailable))
        let summary = BenchSummary(
            [single, short, failed], subjects: [Self.many, Self.one, Self.curl])
        let notes = summary.notes.joined(separator: "\n")
        #expect(notes.contains("one stream"))
        #expect(notes.contains("too little time to measure (segget -x 1)"))
        #expect(notes.contains("1 measurement of curl failed: exit code 22"))
        #expect(summary.ratios.isEmpty)
        #expect(BenchVoice.status([single, failed]) == .done)
        #expect(BenchVoice.status([failed]) == .done)
        let own = Self.measurement(
            [], end: .failed(kind: "refused", message: "403", status: .refused))
        #expect(BenchVoice.status([own, failed]) == .refused)
        #expect(BenchVoice.status([own, short]) == .done)
        #expect(BenchVoice.status([Self.measurement([])]) == .unavailable)
    }
}
