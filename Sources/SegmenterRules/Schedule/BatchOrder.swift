/// The order in which the files of a set start, if their sizes are known.
package enum BatchOrder {
    /// The size in bytes from which on a file is large.
    package static let large: Int64 = 1 << 20

    /// Returns the indices of all files: the large ones first, by size, then the others in order.
    ///
    /// A large file that starts late would have to be split among many connections at the end.
    package static func largeFirst(_ count: Int, size: (Int) -> Int64?) -> [UInt32] {
        let indices = (0..<UInt32(count))
        var large: [(size: Int64, index: UInt32)] = []
        for index in indices {
            if let size = size(Int(index)), size >= Self.large { large.append((size, index)) }
        }
        large.sort { ($1.size, $0.index) < ($0.size, $1.index) }
        return large.map(\.index) + indices.filter { (size(Int($0)) ?? 0) < Self.large }
    }
}
