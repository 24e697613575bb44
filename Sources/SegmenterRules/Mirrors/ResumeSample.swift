/// Chooses the bytes of an earlier run's part to compare with the server's file.
///
/// Used if no validator and no digest shows whether the file is the same. Pure.
package enum ResumeSample {
    /// The number of random places, besides one at the start and one at the end.
    private static let places = 2

    /// Returns the first bytes, the last bytes on disk, and others at random.
    ///
    /// The first bytes are included because versions of a file often differ there, although files of
    /// one format are most similar there.
    ///
    /// - Parameters:
    ///   - done: The bytes on disk.
    ///   - random: Returns a new number in 0..<1 at each call.
    /// - Returns: At most 256 KiB, disjoint and in ascending order; empty if nothing is on disk.
    package static func places(in done: RangeSet, random: () -> Double) -> [ByteRange] {
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

    /// The number of longest zero ranges to compare, and of further random ones.
    private static let blanks = (longest: 8, random: 8)

    /// Returns samples of zero ranges, which a program may have allocated but never written.
    ///
    /// - Parameters:
    ///   - blanks: The ranges of zeros.
    ///   - random: Returns a new number in 0..<1 at each call.
    /// - Returns: At most 1 MiB, disjoint and in ascending order.
    package static func places(inBlanks blanks: RangeSet, random: () -> Double) -> [ByteRange] {
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
