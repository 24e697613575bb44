/// Chooses the bytes that a mirror must send for a comparison before its bytes are used.
///
/// Pure.
package enum MirrorSample: Hashable {
    /// Compare these bytes, which are on disk.
    case compare(ByteRange)
    /// Wait, because too few bytes are on disk yet.
    case wait
    /// No bytes are on disk, and no other mirror will send any.
    case nothing

    /// The number of bytes to compare, if that many are contiguous.
    package static let length: Int64 = 64 << 10
    /// The fewest bytes to compare while more bytes arrive.
    package static let shortest: Int64 = 16 << 10

    /// Chooses the shortest extent, because only checksums of extents are known.
    ///
    /// - Parameters:
    ///   - extents: The trusted extents on disk.
    ///   - moreComes: Whether more bytes will arrive.
    init(extents: [Extent], moreComes: Bool) {
        let least = moreComes ? Self.shortest : 1
        let shortest = extents.map(\.range).filter { $0.count >= least }.min {
            $0.count < $1.count
        }
        if let shortest { self = .compare(shortest) } else { self = moreComes ? .wait : .nothing }
    }

    /// Chooses a random place.
    ///
    /// - Parameters:
    ///   - done: The trusted bytes on disk.
    ///   - moreComes: Whether another mirror is sending more bytes.
    ///   - random: A number in 0..<1 that determines the place.
    init(done: RangeSet, moreComes: Bool, random: Double) {
        let least = moreComes ? Self.shortest : 1
        let places = done.ranges.filter { $0.count >= least }
        guard !places.isEmpty else {
            self = moreComes ? .wait : .nothing
            return
        }
        // Every byte is equally likely to be the start of the sample.
        let total = places.reduce(0) { $0 + $1.count }
        var target = min(total - 1, Int64(Double(total) * random))
        for place in places {
            guard target >= place.count else {
                let length = min(Self.length, place.count)
                let start = min(place.start + target, place.end - length)
                self = .compare(ByteRange(start, start + length))
                return
            }
            target -= place.count
        }
        self = .wait
    }
}
