import SeggetReports

/// What is measured, in which order, and within which bounds; a value.
struct BenchPlan: Equatable, Sendable {
    /// One measurement to be made.
    struct Turn: Equatable, Sendable {
        /// From 1.
        var round: Int
        var subject: BenchSubject
    }

    /// The least time that one measurement may be given, in seconds.
    static let leastSeconds = 0.5
    /// The fewest bytes that one measurement may be given.
    static let leastBytes: Int64 = 64 << 10

    /// What takes part in each round.
    var subjects: [BenchSubject]
    var rounds: Int
    /// Bounds of all measurements together: seconds and bytes.
    var maxTime: Double
    var maxBytes: Int64
    /// Seconds from the first byte on that do not count.
    var warmUp: Double

    /// Number of measurements.
    var count: Int { rounds * subjects.count }
    /// Seconds that one measurement may take.
    var secondsEach: Double { maxTime / Double(max(1, count)) }
    /// Bytes that one measurement may fetch.
    var bytesEach: Int64 { maxBytes / Int64(max(1, count)) }

    /// All measurements, in order.
    ///
    /// All subjects take their turn in each round, so that what else happens to the network meets all
    /// of them; each round begins with another one, so that no one is always the first.
    var turns: [Turn] {
        (0..<rounds).flatMap { round in
            subjects.indices.map { index in
                Turn(
                    round: round + 1, subject: subjects[(index + round) % subjects.count])
            }
        }
    }

    /// Whether the bounds leave each measurement enough to measure.
    var isFeasible: Bool { secondsEach >= Self.leastSeconds && bytesEach >= Self.leastBytes }

    /// Bytes that all measurements may fetch, of a file of `size` bytes.
    func bytesAtMost(size: Int64?) -> Int64 {
        Int64(count) * min(bytesEach, size ?? bytesEach)
    }

    /// The subjects for a server that serves one stream only: one number of connections says it all.
    static func oneStream(_ subjects: [BenchSubject]) -> [BenchSubject] {
        var result: [BenchSubject] = []
        for subject in subjects {
            let single = BenchSubject(client: subject.client, connections: .fixed(1))
            if !result.contains(single) { result.append(single) }
        }
        return result
    }

    /// How many connections the other programs are to use, where segget uses these.
    ///
    /// The most that are compared and that they can take, so that one row of the table has both.
    static func peer(_ client: BenchClient, beside list: [BenchSubject.Connections]) -> BenchSubject
    {
        let numbers = list.compactMap(\.number).filter { $0 <= client.mostConnections }
        return BenchSubject(
            client: client, connections: .fixed(numbers.max() ?? min(8, client.mostConnections)))
    }

    /// What it will cost, in words, to be said before anything is fetched.
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
