/// The next step when a file assembled from several mirrors has the wrong digest.
///
/// Pure. The faulty mirror is unknown. Therefore one mirror at a time is used for the whole file,
/// and the bytes that it has already sent are kept.
package struct MirrorRepair: Hashable {
    /// The mirror that is used alone.
    package var number: Int
    /// The bytes of this mirror that are already on disk.
    package var keeps: RangeSet

    /// Chooses the mirror with the most bytes on disk that was not used alone yet.
    ///
    /// The result is `nil` if every mirror has been found faulty.
    ///
    /// - Parameters:
    ///   - candidates: The mirrors that could send the whole file, by number.
    ///   - wrote: The bytes on disk that each mirror has sent; other bytes are of unknown origin.
    ///   - tried: The mirrors that were already used alone.
    ///   - size: The length of the file in bytes.
    package init?(candidates: [Int], wrote: [Int: RangeSet], tried: Set<Int>, size: Int64) {
        func count(_ number: Int) -> Int64 { wrote[number]?.count ?? 0 }
        // A mirror that has sent every byte is faulty.
        let left = candidates.filter { !tried.contains($0) && count($0) < size }
        guard let best = left.max(by: { (count($0), -$0) < (count($1), -$1) }) else { return nil }
        number = best
        keeps = wrote[best] ?? RangeSet()
    }
}

/// Records which mirror has sent which bytes of the file on disk.
package struct MirrorLedger: Sendable {
    /// The bytes by mirror number; no byte is in two sets.
    package private(set) var wrote: [Int: RangeSet] = [:]
    /// The mirrors that were dropped, with their faults.
    package var faults: [Int: MirrorFault] = [:]

    package init(faults: [Int: MirrorFault] = [:]) {
        self.faults = faults
    }

    /// Records that a mirror has written bytes, which may replace bytes of other mirrors.
    package mutating func note(_ range: ByteRange, by number: Int) {
        guard !range.isEmpty else { return }
        for other in wrote.keys where other != number { wrote[other]?.remove(range) }
        wrote[number, default: RangeSet()].insert(range)
    }

    /// Applies the records of a later ledger.
    package mutating func add(_ later: MirrorLedger) {
        for (number, ranges) in later.wrote {
            for range in ranges.ranges { note(range, by: number) }
        }
        faults.merge(later.faults) { _, new in new }
    }

    /// Removes the records of all mirrors but one.
    package mutating func keepOnly(_ number: Int?) { wrote = wrote.filter { $0.key == number } }
}
