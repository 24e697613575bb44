import SeggetReports

/// The measurements, their order, and their limits.
struct BenchPlan: Equatable, Sendable {
    /// One planned measurement.
    struct Turn: Equatable, Sendable {
        /// The number of the round, from 1.
        var round: Int
        var subject: BenchSubject
    }

    /// The minimum time of one measurement, in seconds.
    static let leastSeconds = 0.5
    /// The minimum bytes of one measurement.
    static let leastBytes: Int64 = 64 << 10

    /// The subjects that each round measures.
    var subjects: [BenchSubject]
    var rounds: Int
    /// The limits of all measurements together, in seconds and bytes.
    var maxTime: Double
    var maxBytes: Int64
    /// The warm-up: seconds from the first byte that do not count.
    var warmUp: Double

    /// The number of measurements.
    var count: Int { rounds * subjects.count }
    /// The time limit of one measurement, in seconds.
    var secondsEach: Double { maxTime / Double(max(1, count)) }
    /// The byte limit of one measurement.
    var bytesEach: Int64 { maxBytes / Int64(max(1, count)) }

    /// All measurements, in order.
    ///
    /// Each round measures all subjects, so that changes of the network affect all of them. Each
    /// round begins with another subject, so that none is always the first.
    var turns: [Turn] {
        (0..<rounds).flatMap { round in
            subjects.indices.map { index in
                Turn(
                    round: round + 1, subject: subjects[(index + round) % subjects.count])
            }
        }
    }

    /// Whether the limits allow each measurement the minimum.
    var isFeasible: Bool { secondsEach >= Self.leastSeconds && bytesEach >= Self.leastBytes }

    /// Returns the bytes that all measurements may download, for a file of `size` bytes.
    func bytesAtMost(size: Int64?) -> Int64 {
        Int64(count) * min(bytesEach, size ?? bytesEach)
    }

    /// Returns the subjects for a server that serves one stream only: one connection per program.
    static func oneStream(_ subjects: [BenchSubject]) -> [BenchSubject] {
        var result: [BenchSubject] = []
        for subject in subjects {
            let single = BenchSubject(client: subject.client, connections: .fixed(1))
            if !result.contains(single) { result.append(single) }
        }
        return result
    }

    /// Returns the subject for another program beside segget with these numbers of connections.
    ///
    /// The program uses the highest number in the list that it supports, so that a row of segget
    /// has the same number.
    static func peer(_ client: BenchClient, beside list: [BenchSubject.Connections]) -> BenchSubject
    {
        let numbers = list.compactMap(\.number).filter { $0 <= client.mostConnections }
        return BenchSubject(
            client: client, connections: .fixed(numbers.max() ?? min(8, client.mostConnections)))
    }

    /// Returns the lines that announce the measurements and their limits before the first download.
    func announcement(url: String, size: Int64?, sink: String) -> [String] {
        let names = subjects.map(\.name).joined(separator: ", ")
        let each = min(bytesEach, size ?? bytesEach)
        return [
            "measuring \(url) (\(size.map { Units.size($0) } ?? "of unknown size"))",
            "\(Units.count(Int64(rounds), "round")) of \(names); \(sink)",
            "at most \(Units.elapsed(maxTime)) and \(Units.size(bytesAtMost(size: size))): "
                + "\(Units.count(Int64(count), "measurement")) of \(Units.elapsed(secondsEach)) or "
                + "\(Units.size(each)) each, whichever ends first",
        ]
    }
}
