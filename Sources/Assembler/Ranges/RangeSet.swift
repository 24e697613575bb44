// Ranges: byte ranges of a file, and extents that were received. Pure arithmetic on half-open ranges
// and CRC-32: this folder does not use files, threads or clocks.

/// A set of byte offsets, kept as disjoint, sorted, non-adjacent half-open ranges.
public struct RangeSet: Sendable, Hashable {
    /// The ranges, in ascending order; no two are adjacent.
    public private(set) var ranges: [ByteRange] = []
    /// The number of bytes in the set.
    public private(set) var count: Int64 = 0

    /// Creates an empty set.
    public init() {}

    /// Creates a set of one range.
    public init(_ range: ByteRange) { insert(range) }

    /// Whether the set is empty.
    public var isEmpty: Bool { ranges.isEmpty }

    /// The end of the range that starts at offset 0, or 0 if the set does not contain offset 0.
    public var front: Int64 {
        guard let first = ranges.first, first.start == 0 else { return 0 }
        return first.end
    }

    /// Adds every byte of `range`.
    public mutating func insert(_ range: ByteRange) {
        guard !range.isEmpty else { return }
        let low = firstIndex { $0.end >= range.start }
        let high = firstIndex { $0.start > range.end }
        var merged = range
        if low < high {
            merged = ByteRange(
                min(range.start, ranges[low].start), max(range.end, ranges[high - 1].end))
        }
        count += merged.count - ranges[low..<high].reduce(0) { $0 + $1.count }
        ranges.replaceSubrange(low..<high, with: CollectionOfOne(merged))
    }

    /// Removes every byte of `range`.
    public mutating func remove(_ range: ByteRange) {
        guard !range.isEmpty else { return }
        let low = firstIndex { $0.end > range.start }
        let high = firstIndex { $0.start >= range.end }
        guard low < high else { return }
        let rest = [
            ByteRange(ranges[low].start, min(ranges[low].end, range.start)),
            ByteRange(max(ranges[high - 1].start, range.end), ranges[high - 1].end),
        ].filter { !$0.isEmpty }
        // Subtract first, because the sum of both might overflow Int64.
        count -= ranges[low..<high].reduce(0) { $0 + $1.count }
        count += rest.reduce(0) { $0 + $1.count }
        ranges.replaceSubrange(low..<high, with: rest)
    }

    /// Returns whether every byte of `range` is in the set.
    public func contains(_ range: ByteRange) -> Bool {
        let index = firstIndex { $0.end >= range.end }
        return range.isEmpty || (index < ranges.count && ranges[index].contains(range))
    }

    /// Returns whether any byte of `range` is in the set.
    public func intersects(_ range: ByteRange) -> Bool {
        let index = firstIndex { $0.end > range.start }
        return !range.isEmpty && index < ranges.count && ranges[index].start < range.end
    }

    /// Returns the bytes of `whole` that are not in the set.
    public func gaps(in whole: ByteRange) -> RangeSet {
        var result = RangeSet(whole)
        for range in ranges { result.remove(range) }
        return result
    }

    /// Returns the number of bytes that the set and `range` have in common.
    public func overlap(with range: ByteRange) -> Int64 {
        var index = firstIndex { $0.end > range.start }
        var sum: Int64 = 0
        while index < ranges.count, ranges[index].start < range.end {
            sum += ranges[index].intersection(range).count
            index += 1
        }
        return sum
    }

    /// Returns the index of the first range that satisfies a monotonic predicate, by bisection.
    private func firstIndex(_ predicate: (ByteRange) -> Bool) -> Int {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if predicate(ranges[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
