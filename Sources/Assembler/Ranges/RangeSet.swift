// Ranges: which bytes of a file are meant, and which have arrived. Pure arithmetic on half-open ranges
// and CRC-32; it never sees a file, a thread or a clock.

/// A set of byte offsets, kept as disjoint, sorted, non-adjacent half-open ranges.
public struct RangeSet: Sendable, Hashable {
    /// The ranges, in ascending order; no two touch.
    public private(set) var ranges: [ByteRange] = []
    /// Number of bytes in the set.
    public private(set) var count: Int64 = 0

    /// Makes the empty set.
    public init() {}

    /// Makes the set of one range.
    public init(_ range: ByteRange) { insert(range) }

    /// Whether the set holds no byte.
    public var isEmpty: Bool { ranges.isEmpty }

    /// End of the range that starts at offset 0, or 0: how far the set reaches without a gap.
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

    /// Takes every byte of `range` out.
    public mutating func remove(_ range: ByteRange) {
        guard !range.isEmpty else { return }
        let low = firstIndex { $0.end > range.start }
        let high = firstIndex { $0.start >= range.end }
        guard low < high else { return }
        let rest = [
            ByteRange(ranges[low].start, min(ranges[low].end, range.start)),
            ByteRange(max(ranges[high - 1].start, range.end), ranges[high - 1].end),
        ].filter { !$0.isEmpty }
        // Taken away first: the sum of both may be more than an Int64 holds.
        count -= ranges[low..<high].reduce(0) { $0 + $1.count }
        count += rest.reduce(0) { $0 + $1.count }
        ranges.replaceSubrange(low..<high, with: rest)
    }

    /// Whether every byte of `range` is in the set.
    public func contains(_ range: ByteRange) -> Bool {
        let index = firstIndex { $0.end >= range.end }
        return range.isEmpty || (index < ranges.count && ranges[index].contains(range))
    }

    /// Whether any byte of `range` is in the set.
    public func intersects(_ range: ByteRange) -> Bool {
        let index = firstIndex { $0.end > range.start }
        return !range.isEmpty && index < ranges.count && ranges[index].start < range.end
    }

    /// The bytes of `whole` that are not in the set.
    public func gaps(in whole: ByteRange) -> RangeSet {
        var result = RangeSet(whole)
        for range in ranges { result.remove(range) }
        return result
    }

    /// Number of bytes that the set and `range` share.
    public func overlap(with range: ByteRange) -> Int64 {
        var index = firstIndex { $0.end > range.start }
        var sum: Int64 = 0
        while index < ranges.count, ranges[index].start < range.end {
            sum += ranges[index].intersection(range).count
            index += 1
        }
        return sum
    }

    /// Index of the first range for which `predicate` holds, by bisection; it must be monotonic.
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
