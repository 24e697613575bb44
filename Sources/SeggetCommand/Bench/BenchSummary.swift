import SeggetReports

/// The summary of all measurements.
struct BenchSummary: Sendable {
    /// The summary of the measurements of one subject.
    struct Row: Sendable {
        var subject: BenchSubject
        /// The numbers of successful and failed measurements.
        var good: Int
        var failed: Int
        /// The median, lowest and highest rate of all rounds, in bytes per second.
        ///
        /// `nil` without a successful measurement.
        var rate: Double?
        var lowest: Double?
        var highest: Double?
        /// The median of the seconds until the first byte.
        var firstByte: Double?
        /// The median of the processor seconds per GiB.
        var cpuPerGiB: Double?
        /// The highest memory use of all rounds, in bytes.
        var peakMemory: Int64?
        /// Whether a measurement was too short for a reliable rate.
        var isShort: Bool
        /// The measurement that is nearest to the median.
        var typical: BenchMeasurement?
    }

    /// The comparison of segget with another program.
    struct Ratio: Equatable, Sendable {
        var segget: BenchSubject
        var peer: BenchSubject
        /// segget's rate divided by the other program's; above 1 is faster.
        var rate: Double
        /// segget's processor time per byte divided by the other program's; below 1 is cheaper.
        var cpu: Double?
    }

    var rows: [Row]
    var ratios: [Ratio]
    /// Notes about the numbers, in sentences.
    var notes: [String]

    init(_ measurements: [BenchMeasurement], subjects: [BenchSubject]) {
        rows = subjects.map { subject in
            Row(subject, measurements.filter { $0.turn.subject == subject })
        }
        ratios = Self.ratios(rows)
        notes = Self.notes(measurements, rows)
    }

    /// Returns the median; `nil` for an empty list.
    static func median(_ values: [Double]) -> Double? {
        guard !values.isEmpty else { return nil }
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    private static func ratios(_ rows: [Row]) -> [Ratio] {
        let ours = rows.filter { $0.subject.client == .segget && $0.rate != nil }
        let best = ours.max { ($0.rate ?? 0) < ($1.rate ?? 0) }
        return rows.filter { $0.subject.client != .segget }.flatMap { peer -> [Ratio] in
            let equal = ours.first { $0.subject.connections == peer.subject.connections }
            let compared = [equal, best?.subject == equal?.subject ? nil : best]
            return compared.compactMap { own in
                guard let own, let rate = own.rate, let other = peer.rate, other > 0 else {
                    return nil
                }
                let cpu = own.cpuPerGiB.flatMap { cpu in
                    peer.cpuPerGiB.flatMap { $0 > 0 ? cpu / $0 : nil }
                }
                return Ratio(
                    segget: own.subject, peer: peer.subject, rate: rate / other, cpu: cpu)
            }
        }
    }

    private static func notes(_ measurements: [BenchMeasurement], _ rows: [Row]) -> [String] {
        var notes: [String] = []
        let many = measurements.contains {
            $0.isOneStream && $0.turn.subject.connections != .fixed(1)
        }
        if many {
            notes.append(
                "the server sent one stream although segget requested ranges: the number of "
                    + "connections made no difference")
        }
        let short = rows.filter { $0.isShort && $0.good > 0 }.map(\.subject.name)
        if !short.isEmpty {
            notes.append(
                "too little time to measure (\(short.joined(separator: ", "))): rates marked with "
                    + "~ are not reliable, as the file is too small or the server too fast; measure "
                    + "with a larger file, more `--max-bytes` or fewer rounds")
        }
        for row in rows where row.failed > 0 {
            let failure = measurements.lazy.filter { $0.turn.subject == row.subject }.compactMap {
                if case .failed(_, let message, _) = $0.end { message } else { nil }
            }.first
            let count = Units.count(Int64(row.failed), "measurement")
            notes.append(
                "\(count) of \(row.subject.name) failed: \(failure ?? "no data was received")")
        }
        return notes
    }
}

extension BenchSummary.Row {
    fileprivate init(_ subject: BenchSubject, _ measurements: [BenchMeasurement]) {
        self.subject = subject
        let good = measurements.filter(\.isGood)
        self.good = good.count
        failed = measurements.count - good.count
        let rates = good.compactMap(\.rate)
        rate = BenchSummary.median(rates)
        lowest = rates.min()
        highest = rates.max()
        firstByte = BenchSummary.median(good.compactMap(\.firstByte))
        cpuPerGiB = BenchSummary.median(good.compactMap(\.cpuPerGiB))
        peakMemory = good.map(\.peakMemory).filter { $0 > 0 }.max()
        isShort = good.contains(where: \.isShort)
        let middle = rate ?? 0
        typical = good.min { abs(($0.rate ?? 0) - middle) < abs(($1.rate ?? 0) - middle) }
    }
}
