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
}
