/// A received byte range with its CRC-32.
package struct Extent: Sendable, Hashable {
    /// The range of the bytes in the file.
    package var range: ByteRange
    /// The CRC-32 of the bytes.
    package var crc: UInt32

    package init(_ range: ByteRange, crc: UInt32) {
        self.range = range
        self.crc = crc
    }
}

/// The extents of a file, sorted and disjoint; adjacent extents are merged up to a limit.
package struct ExtentMap: Sendable {
    /// The maximum length of a merged extent in bytes.
    ///
    /// A single damaged byte makes it necessary to download the whole extent again.
    package static let mergeLimit: Int64 = 8 << 20

    /// The extents in ascending order.
    package private(set) var extents: [Extent] = []
    /// The bytes that the extents cover.
    package private(set) var covered = RangeSet()

    package init() {}

    /// Adds an extent.
    ///
    /// Existing extents that overlap it are removed entirely, because the new one is current.
    package mutating func add(_ extent: Extent) {
        guard !extent.range.isEmpty else { return }
        if covered.intersects(extent.range) { removeOverlapping(extent.range) }
        let index = firstIndex(from: extent.range.start)
        extents.insert(extent, at: index)
        covered.insert(extent.range)
        mergeIntoPrevious(index + 1)
        mergeIntoPrevious(index)
    }

    /// Returns the CRC-32 of a file of `size` bytes; `nil` unless the extents cover exactly the file.
    package func combinedCRC(size: Int64) -> UInt32? {
        guard covered.front == size, covered.count == size else { return nil }
        return extents.reduce(0) { CRC32.combine($0, $1.crc, length: $1.range.count) }
    }

    private mutating func removeOverlapping(_ range: ByteRange) {
        for extent in extents where !extent.range.intersection(range).isEmpty {
            covered.remove(extent.range)
        }
        extents.removeAll { !$0.range.intersection(range).isEmpty }
    }

    /// Merges the extent at `index` into the previous one if they are adjacent and within the limit.
    private mutating func mergeIntoPrevious(_ index: Int) {
        guard index > 0, index < extents.count else { return }
        let (left, right) = (extents[index - 1], extents[index])
        let length = left.range.count + right.range.count
        guard left.range.end == right.range.start, length <= Self.mergeLimit else { return }
        extents[index - 1] = Extent(
            ByteRange(left.range.start, right.range.end),
            crc: CRC32.combine(left.crc, right.crc, length: right.range.count))
        extents.remove(at: index)
    }

    private func firstIndex(from start: Int64) -> Int {
        var low = 0
        var high = extents.count
        while low < high {
            let middle = (low + high) / 2
            if extents[middle].range.start >= start { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
