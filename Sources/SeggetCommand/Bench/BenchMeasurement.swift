import SeggetReports

/// The measurement of one run of one program.
struct BenchMeasurement: Sendable {
    /// The progress at one time.
    struct Sample: Equatable, Sendable {
        /// The seconds since the program was started.
        var time: Double
        /// The bytes that the program had written.
        var bytes: Int64
    }

    /// The reason for the end of the run.
    enum End: Equatable, Sendable {
        /// The file was complete.
        case complete
        /// The run reached its limit of time.
        case time
        /// The run reached its limit of bytes.
        case bytes
        /// The run failed. `kind` is a stable name, and `message` contains no secret.
        case failed(kind: String, message: String, status: ExitStatus)

        /// The stable name of the reason.
        var name: String {
            switch self {
            case .complete: "complete"
            case .time: "time"
            case .bytes: "bytes"
            case .failed: "failed"
            }
        }
    }

    /// The bytes after which the file counts as started: programs also write other data.
    static let beginning: Int64 = 4 << 10
    /// The minimum time, in seconds without warm-up, for a reliable rate.
    static let shortest = 0.25
    /// The maximum share of the time for the warm-up.
    private static let warmUpShare = 1.0 / 3

    var turn: BenchPlan.Turn
    /// The samples in the order of time; `bytes` never decreases.
    var samples: [Sample]
    /// The processor time in user mode and in the kernel, in seconds.
    var cpu: Double
    /// The peak of resident memory, in bytes; 0 if it is unknown.
    var peakMemory: Int64
    /// The seconds from the start to the end of the program.
    var wall: Double
    var end: End
    /// Whether segget downloaded the file in one stream.
    var isOneStream = false
    /// The requested warm-up: seconds from the first byte that do not count.
    var warmUp: Double

    /// Whether the measurement succeeded and has a rate.
    var isGood: Bool {
        if case .failed = end { return false }
        return rate != nil
    }

    /// The bytes that the program wrote.
    var bytes: Int64 { samples.last?.bytes ?? 0 }

    /// The seconds until the first bytes of the file.
    var firstByte: Double? { samples.first { $0.bytes >= Self.beginning }?.time }

    /// The time of the last bytes of the file, in seconds.
    ///
    /// The program may write other data after them.
    private var lastByte: Double? {
        let own = max(16 << 10, bytes / 1000)
        return samples.first { $0.bytes >= Self.beginning && $0.bytes >= bytes - own }?.time
    }

    /// The time that counts: from the end of the warm-up to the last byte.
    ///
    /// If all bytes arrived between two samples, it begins at the start of the program.
    private var window: (start: Double, end: Double)? {
        guard let firstByte, let lastByte else { return nil }
        guard lastByte > firstByte else { return (0, lastByte) }
        return (firstByte + min(warmUp, (lastByte - firstByte) * Self.warmUpShare), lastByte)
    }

    /// The bytes per second without the warm-up; `nil` if there are too few samples.
    var rate: Double? {
        guard let window, window.end > window.start else { return nil }
        return (bytes(at: window.end) - bytes(at: window.start)) / (window.end - window.start)
    }

    /// Whether the time that counts is too short for a reliable rate.
    var isShort: Bool {
        window.map { $0.start == 0 || $0.end - $0.start < Self.shortest } ?? true
    }

    /// The processor seconds per GiB.
    var cpuPerGiB: Double? {
        bytes >= Self.beginning ? cpu / (Double(bytes) / 0x1p30) : nil
    }

    /// Returns the bytes at a time, by linear interpolation between the samples.
    func bytes(at time: Double) -> Double {
        guard let after = samples.firstIndex(where: { $0.time >= time }) else {
            return Double(bytes)
        }
        let end = samples[after]
        let start = after > 0 ? samples[after - 1] : Sample(time: 0, bytes: 0)
        guard end.time > start.time else { return Double(end.bytes) }
        let share = (time - start.time) / (end.time - start.time)
        return Double(start.bytes) + Double(end.bytes - start.bytes) * share
    }

    /// Returns the number of time steps of a plot; steps are not so short that only bursts show.
    static func steps(of length: Double, atMost most: Int) -> Int {
        max(min(8, most), Int(min(Double(most), length / 0.1)))
    }

    /// Returns the rates, in bytes per second, in steps of `interval` seconds from the start.
    ///
    /// `nil` marks steps that begin after the last byte.
    func rates(interval: Double, count: Int) -> [Double?] {
        let last = lastByte ?? 0
        return (0..<count).map { index in
            let start = Double(index) * interval
            guard start < last, interval > 0 else { return nil }
            let end = min(start + interval, last)
            return (bytes(at: end) - bytes(at: start)) / (end - start)
        }
    }

    /// The seconds from the start to the last byte.
    var length: Double { lastByte ?? 0 }
}
