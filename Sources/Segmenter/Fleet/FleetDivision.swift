// Fleet: one plan on many machines. This folder divides a plan into shards, decides who works on
// which of them, downloads a shard and joins the results. Downloads themselves are those of sets.

import Assembler

/// The division of the files of a plan into shards of about the same number of bytes.
///
/// The files keep their order, and each shard has adjacent ones. A large file may be cut into
/// adjacent ranges. Pure.
struct FleetDivision: Sendable, Hashable {
    /// A file, as far as the division needs to know it.
    struct File: Sendable, Hashable {
        /// The length in bytes; `nil` if unknown.
        var size: Int64?
        /// Whether ranges of it may be downloaded by different machines.
        var canBeCut: Bool
    }

    /// A place between two bytes of the plan: a file, and an offset in it.
    struct Place: Sendable, Hashable, Comparable {
        /// The index of the file, or the number of files.
        var file: Int
        /// The bytes of the file before the place.
        var offset: Int64 = 0

        static func < (left: Place, right: Place) -> Bool {
            (left.file, left.offset) < (right.file, right.offset)
        }
    }

    /// A file of a shard, or a range of one.
    struct Item: Sendable, Hashable {
        /// The index of the file in the plan.
        var file: Int
        /// The bytes of the file; `nil` for all of them.
        var range: ByteRange?
    }

    /// The shortest range of a file, in bytes.
    static let leastRange: Int64 = 64 << 20
    /// The bytes that the offset of a range is a multiple of: the usual stripe of file systems.
    private static let stripe: Int64 = 1 << 20
    /// The bytes that count for the request of a file, whatever its size.
    private static let request: Int64 = 64 << 10

    /// The first place of each shard, in order.
    private(set) var starts: [Place] = []
    private let count: Int

    /// Divides.
    ///
    /// - Parameters:
    ///   - files: The files.
    ///   - shards: The wanted number of shards. There are fewer if the plan has too little.
    init(_ files: [File], into shards: Int) {
        count = files.count
        // 128 bits, because the sum of the sizes may be any 64-bit number.
        var before: [Int128] = [0]
        for file in files {
            before.append(before[before.count - 1] + Int128(file.size ?? 0) + Int128(Self.request))
        }
        let total = before[files.count]
        starts = files.isEmpty ? [] : [Place(file: 0)]
        for number in 1..<max(1, shards) {
            let target = total * Int128(number) / Int128(shards)
            let index = Self.lastIndex(in: before, notAbove: target)
            guard index < files.count, let last = starts.last else { break }
            let offset = Int64(clamping: target - before[index])
            let next = Self.place(near: offset, in: files[index], index, after: last)
            if next > last, next < Place(file: files.count) { starts.append(next) }
        }
    }

    /// Returns the last index whose value is not above `target`; the values ascend.
    private static func lastIndex(in values: [Int128], notAbove target: Int128) -> Int {
        var (low, high) = (0, values.count)
        while low + 1 < high {
            let middle = (low + high) / 2
            if values[middle] <= target { low = middle } else { high = middle }
        }
        return low
    }

    /// Returns the nearest place to an offset at which a shard may begin.
    private static func place(
        near offset: Int64, in file: File, _ index: Int, after last: Place
    ) -> Place {
        let size = file.size ?? 0
        let (start, end) = (Place(file: index), Place(file: index + 1))
        let first = (last.file == index ? last.offset : 0) + leastRange
        var places = [start, end]
        if file.canBeCut, size - leastRange >= first {
            let cut = min(max(offset, first), size - leastRange)
            let rounded = cut / stripe * stripe
            if rounded >= first { places.append(Place(file: index, offset: rounded)) }
        }
        func distance(_ place: Place) -> Int64 {
            abs((place == end ? size : place.offset) - offset)
        }
        let possible = places.filter { $0 > last }
        return possible.min { distance($0) < distance($1) } ?? end
    }

    /// Takes a division that was written down.
    ///
    /// - Parameters:
    ///   - starts: The first place of each shard.
    ///   - count: The number of files.
    init(starts: [Place], count: Int) { (self.starts, self.count) = (starts, count) }

    /// Returns the files of a shard, and ranges of files.
    ///
    /// - Parameters:
    ///   - shard: The number of the shard, from 0.
    ///   - size: Returns the length of a file in bytes; `nil` if unknown.
    /// - Returns: The items, in the order of the plan.
    /// - Throws: What `size` throws.
    func items<Problem: Error>(
        of shard: Int, size: (Int) throws(Problem) -> Int64?
    ) throws(Problem) -> [Item] {
        let start = starts[shard]
        let end = shard + 1 < starts.count ? starts[shard + 1] : Place(file: count)
        var items: [Item] = []
        for file in start.file..<(end.offset > 0 ? end.file + 1 : end.file) {
            let from = file == start.file ? start.offset : 0
            let isCut = file == end.file && end.offset > 0
            guard from > 0 || isCut else {
                items.append(Item(file: file))
                continue
            }
            let to = isCut ? end.offset : try size(file) ?? 0
            items.append(Item(file: file, range: ByteRange(from, to)))
        }
        return items
    }
}
