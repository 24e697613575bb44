import Assembler

/// Decides which bytes of an earlier run's part are compared with the server's file, where nothing
/// else says whether it is still the same one.
///
/// Pure.
enum ResumeSample {
    /// Places in the middle; one at the beginning and one at the end are compared besides.
    private static let places = 2

    /// Chooses: the beginning, where formats differ least but versions often do, the last bytes that
    /// are there, and others at random.
    ///
    /// - Parameters:
    ///   - done: What is on the disk.
    ///   - random: A number in 0..<1, another one at each call.
    /// - Returns: At most 256 KiB, in order and disjoint; nothing when nothing is there.
    static func places(in done: RangeSet, random: () -> Double) -> [ByteRange] {
        guard let first = done.ranges.first, let last = done.ranges.last else { return [] }
        let length = MirrorSample.length
        var chosen = RangeSet(ByteRange(first.start, min(first.end, first.start + length)))
        chosen.insert(ByteRange(max(last.start, last.end - length), last.end))
        for _ in 0..<Self.places {
            let sample = MirrorSample(done: done, moreComes: false, random: random())
            if case .compare(let range) = sample { chosen.insert(range) }
        }
        return chosen.ranges
    }

    /// Longest blanks that are compared, and further ones that are chosen at random.
    private static let blanks = (longest: 8, random: 8)

    /// Chooses among bytes that perhaps nobody has written: a file of full length may be one whose space was
    /// provided for.
    ///
    /// - Parameters:
    ///   - blanks: Where there are zeros.
    ///   - random: A number in 0..<1, another one at each call.
    /// - Returns: At most 1 MiB, in order and disjoint.
    static func places(inBlanks blanks: RangeSet, random: () -> Double) -> [ByteRange] {
        let longest = blanks.ranges.sorted { ($1.count, $0.start) < ($0.count, $1.start) }
            .prefix(Self.blanks.longest)
        var chosen = RangeSet()
        for blank in longest + (0..<Self.blanks.random).map({ _ in ByteRange(0, 0) }) {
            let among = blank.count > 0 ? RangeSet(blank) : blanks
            let sample = MirrorSample(done: among, moreComes: false, random: random())
            if case .compare(let range) = sample { chosen.insert(range) }
        }
        return chosen.ranges
    }
}
