import SeggetReports

/// The measurements as comma-separated values (RFC 4180), one record each, with a header.
///
/// No field needs quotes: all values are numbers and fixed names.
enum BenchCSV {
    private static let header = [
        "round", "client", "connections", "end", "bytes", "seconds", "bytes_per_second",
        "first_byte_seconds", "cpu_seconds", "cpu_seconds_per_gib", "peak_memory_bytes", "short",
    ]

    /// Returns all records, with CRLF line ends.
    static func text(_ measurements: [BenchMeasurement]) -> String {
        ([header] + measurements.map(record)).map { $0.joined(separator: ",") + "\r\n" }.joined()
    }

    private static func record(_ measurement: BenchMeasurement) -> [String] {
        func number(_ value: Double?) -> String { value.map { Units.fixed($0, decimals: 3) } ?? "" }
        let good = measurement.isGood ? measurement : nil
        return [
            "\(measurement.turn.round)", measurement.turn.subject.client.rawValue,
            measurement.turn.subject.connections.number.map { "\($0)" } ?? "auto",
            measurement.end.name, "\(measurement.bytes)", number(measurement.wall),
            good?.rate.map { "\(Units.whole($0))" } ?? "", number(good?.firstByte),
            number(measurement.cpu), number(good?.cpuPerGiB),
            measurement.peakMemory > 0 ? "\(measurement.peakMemory)" : "",
            good.map { "\($0.isShort)" } ?? "",
        ]
    }
}
