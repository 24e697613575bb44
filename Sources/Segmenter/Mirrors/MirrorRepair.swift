import Assembler

/// What to do when a file put together from several mirrors has the wrong digest.
///
/// Pure. Nobody knows who lied: one mirror at a time is to bring the whole file alone, and what it has
/// brought already is kept.
struct MirrorRepair: Hashable {
    /// The mirror that goes on alone.
    var number: Int
    /// Its bytes that are on the disk already.
    var keeps: RangeSet

    /// Chooses the mirror that has brought most, of those that may yet be right; `nil` when every one
    /// has been found wrong.
    ///
    /// - Parameters:
    ///   - candidates: Mirrors that could bring the whole file, by number.
    ///   - wrote: What each mirror has brought of what is on the disk; the rest is of unknown origin.
    ///   - tried: Mirrors that were alone before.
    ///   - size: Length of the file in bytes.
    init?(candidates: [Int], wrote: [Int: RangeSet], tried: Set<Int>, size: Int64) {
        func count(_ number: Int) -> Int64 { wrote[number]?.count ?? 0 }
        // Who brought every byte is wrong.
        let left = candidates.filter { !tried.contains($0) && count($0) < size }
        guard let best = left.max(by: { (count($0), -$0) < (count($1), -$1) }) else { return nil }
        number = best
        keeps = wrote[best] ?? RangeSet()
    }
}

/// Which mirror brought what of the file on the disk.
struct MirrorLedger: Sendable {
    /// By number; no two sets share a byte.
    private(set) var wrote: [Int: RangeSet] = [:]
    /// Mirrors that were dropped, and why.
    var faults: [Int: MirrorFault] = [:]

    /// Notes that a mirror wrote bytes, in place of whoever wrote them before.
    mutating func note(_ range: ByteRange, by number: Int) {
        guard !range.isEmpty else { return }
        for other in wrote.keys where other != number { wrote[other]?.remove(range) }
        wrote[number, default: RangeSet()].insert(range)
    }

    /// Takes what happened later.
    mutating func add(_ later: MirrorLedger) {
        for (number, ranges) in later.wrote {
            for range in ranges.ranges { note(range, by: number) }
        }
        faults.merge(later.faults) { _, new in new }
    }

    /// Forgets all bytes but those of one mirror.
    mutating func keepOnly(_ number: Int?) { wrote = wrote.filter { $0.key == number } }
}
