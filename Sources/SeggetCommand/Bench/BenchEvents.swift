import SeggetReports

/// The payloads of the events of `segget bench --json`, which `docs/json.md` describes.
enum BenchEvents {
    /// The planned measurements, and their limits of time and bytes.
    struct Schedule: Encodable {
        var url: String
        var finalUrl: String
        var size: Int64?
        var transfer: String
        var clients: [String]
        var rounds: Int
        var measurements: Int
        var secondsAtMost: Double?
        var bytesAtMost: Int64
        var warmUp: Double?
        var sink: String
    }

    /// The result of one measurement.
    struct Measured: Encodable {
        /// The maximum number of values in `rates`.
        static let steps = 60

        var name: String
        var client: String
        var connections: Int?
        var round: Int
        var end: String
        var bytes: Int64
        var seconds: Double?
        var bytesPerSecond: Int64?
        var isShort: Bool
        var firstByte: Double?
        private var cpuSeconds: Double?
        var peakMemory: Int64?
        var interval: Double?
        var rates: [Int64]
        var kind: String?
        var message: String?

        init(_ measurement: BenchMeasurement) {
            let subject = measurement.turn.subject
            name = subject.name
            client = subject.client.rawValue
            connections = subject.connections.number
            round = measurement.turn.round
            end = measurement.end.name
            bytes = measurement.bytes
            seconds = measurement.wall.thousandths
            isShort = measurement.isShort
            cpuSeconds = measurement.cpu.thousandths
            peakMemory = measurement.peakMemory > 0 ? measurement.peakMemory : nil
            rates = []
            if case .failed(let kind, let message, _) = measurement.end {
                self.kind = kind
                self.message = message
                return
            }
            bytesPerSecond = measurement.rate.map(Units.whole)
            firstByte = measurement.firstByte?.thousandths
            // The interval is rounded to milliseconds, so that the reported value is the one in
            // use.
            let count = BenchMeasurement.steps(of: measurement.length, atMost: Self.steps)
            let step = (measurement.length / Double(count) * 1000).rounded(.up) / 1000
            guard step > 0 else { return }
            interval = step
            rates = measurement.rates(interval: step, count: count)
                .compactMap { $0.map { Units.whole($0.rounded()) } }
        }
    }

    /// The result of all measurements.
    struct Result: Encodable {
        /// One row of the table.
        struct Row: Encodable {
            var name: String
            var client: String
            var connections: Int?
            var rounds: Int
            var failed: Int
            var bytesPerSecond: Int64?
            var lowest: Int64?
            var highest: Int64?
            var isShort: Bool
            var firstByte: Double?
            var cpuSecondsPerGib: Double?
            var peakMemory: Int64?
        }
        /// segget compared with another program.
        struct Ratio: Encodable {
            var name: String
            var to: String
            var rate: Double?
            var cpu: Double?
        }

        var rows: [Row]
        var ratios: [Ratio]
        var notes: [String]
        var code: Int32

        init(_ summary: BenchSummary, notes: [String], status: ExitStatus) {
            rows = summary.rows.map { row in
                Row(
                    name: row.subject.name, client: row.subject.client.rawValue,
                    connections: row.subject.connections.number, rounds: row.good,
                    failed: row.failed, bytesPerSecond: row.rate.map(Units.whole),
                    lowest: row.lowest.map(Units.whole), highest: row.highest.map(Units.whole),
                    isShort: row.isShort, firstByte: row.firstByte?.thousandths,
                    cpuSecondsPerGib: row.cpuPerGiB?.thousandths, peakMemory: row.peakMemory)
            }
            ratios = summary.ratios.map {
                Ratio(
                    name: $0.segget.name, to: $0.peer.name, rate: $0.rate.thousandths,
                    cpu: $0.cpu?.thousandths)
            }
            self.notes = notes
            code = status.rawValue
        }
    }

    /// The error if measuring was stopped, or could not start or finish.
    struct Failure: Encodable {
        var code: Int32
        var kind: String
        var message: String
        var hint: String
    }
}
