import ReportExamples
import SeggetReports

@testable import SeggetCommand

extension Examples {
    static let subjects = [
        BenchSubject(client: .segget, connections: .fixed(8)),
        BenchSubject(client: .curl, connections: .fixed(1)),
    ]

    /// A successful measurement of each program, and a failed one.
    static let measurements = [
        measurement(subjects[0], rate: 80 << 20), measurement(subjects[1], rate: 20 << 20),
        BenchMeasurement(
            turn: .init(round: 2, subject: subjects[1]), samples: [], cpu: 0.012, peakMemory: 0,
            wall: 0.1,
            end: .failed(
                kind: "exit", message: "the program ended with exit code 7", status: .unavailable),
            warmUp: 1),
    ]

    /// Returns a measurement with samples from 0.1 s to 0.9 s at a rate in bytes per second.
    private static func measurement(_ subject: BenchSubject, rate: Int64) -> BenchMeasurement {
        BenchMeasurement(
            turn: .init(round: 1, subject: subject),
            samples: [.init(time: 0, bytes: 0)]
                + (1...9).map { (Double($0) / 10, 4096 + Int64($0 - 1) * rate / 10) }
                .map { .init(time: $0.0, bytes: $0.1) },
            cpu: 0.25, peakMemory: 24 << 20, wall: 0.91, end: .bytes, warmUp: 1)
    }
}
