import SeggetReports

/// What one run of one program brought; a value.
struct BenchMeasurement: Sendable {
    /// How far it was at a moment.
    struct Sample: Equatable, Sendable {
        /// Seconds since the program was started.
        var time: Double
        /// Bytes that it had written.
        var bytes: Int64
    }

    /// Why it ended.
    enum End: Equatable, Sendable {
        /// The file was there.
        case complete
        /// Its time was over.
        case time
        /// It had fetched its share of bytes.
        case bytes
        /// It failed: a stable name, and words that hold no secret.
        case failed(kind: String, message: String, status: ExitStatus)

        /// A stable name.
        var name: String {
            switch self {
            case .complete: "complete"
            case .time: "time"
            case .bytes: "bytes"
            case .failed: "failed"
            }
        }
    }

    /// Bytes with which the file is taken to have begun: programs write some for themselves too.
    static let beginning: Int64 = 4 << 10
    /// The shortest time without warm-up that a rate is believed for, in seconds.
    static let shortest = 0.25
    /// The largest share of the time that is given to the warm-up.
    private static let warmUpShare = 1.0 / 3

    var turn: BenchPlan.Turn
    /// In order of time, bytes never less than before.
    var samples: [Sample]
    /// Processor time in user mode and in the kernel, in seconds.
    var cpu: Double
    /// The most memory that was resident, in bytes; 0 where that is unknown.
    var peakMemory: Int64
    /// Seconds from its start to its end.
    var wall: Double
    var end: End
    /// Whether segget fetched the file in one stream.
    var isOneStream = false
    /// Seconds from the first byte on that do not count, as was asked for.
    var warmUp: Double

    /// Whether there is anything to measure by.
    var isGood: Bool {
        if case .failed = end { return false }
        return rate != nil
    }

    /// Bytes that it wrote.
    var bytes: Int64 { samples.last?.bytes ?? 0 }

    /// Seconds to the first bytes.
    var firstByte: Double? { samples.first { $0.bytes >= Self.beginning }?.time }

    /// When the last bytes of the file were there, in seconds; what is written behind them is the
    /// program's own.
    private var lastByte: Double? {
        let own = max(16 << 10, bytes / 1000)
        return samples.first { $0.bytes >= Self.beginning && $0.bytes >= bytes - own }?.time
    }

    /// The time that counts: without warm-up, and without what comes behind the last byte; from the
    /// start on where all came between two samples.
    private var window: (start: Double, end: Double)? {
        guard let firstByte, let lastByte else { return nil }
        guard lastByte > firstByte else { return (0, lastByte) }
        return (firstByte + min(warmUp, (lastByte - firstByte) * Self.warmUpShare), lastByte)
    }

    /// Bytes per second without the warm-up; `nil` where nothing can be said.
    var rate: Double? {
        guard let window, window.end > window.start else { return nil }
        return (bytes(at: window.end) - bytes(at: window.start)) / (window.end - window.start)
    }

    /// Whether the time that counts is too short for the rate to say much.
    var isShort: Bool {
        window.map { $0.start == 0 || $0.end - $0.start < Self.shortest } ?? true
    }

    /// Processor seconds for each GiB.
    var cpuPerGiB: Double? {
        bytes >= Self.beginning ? cpu / (Double(bytes) / 0x1p30) : nil
    }

    /// Bytes that were there at a time, by straight lines between the samples.
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

    /// How many steps of time a plot has: none so short that only bursts would show.
    static func steps(of length: Double, atMost most: Int) -> Int {
        max(min(8, most), Int(min(Double(most), length / 0.1)))
    }

    /// The rate in steps of `interval` seconds from its start on, in bytes per second; `nil` for
    /// steps that begin behind the last byte.
    func rates(interval: Double, count: Int) -> [Double?] {
        let last = lastByte ?? 0
        return (0..<count).map { index in
            let start = Double(index) * interval
            guard start < last, interval > 0 else { return nil }
            let end = min(start + interval, last)
            return (bytes(at: end) - bytes(at: start)) / (end - start)
        }
    }

    /// Seconds from its start to the last byte.
    var length: Double { lastByte ?? 0 }
}
