import Assembler

/// Decides which bytes a mirror has to send for a comparison before any of its bytes are used.
///
/// Pure.
enum MirrorSample: Hashable {
    /// Compare these, which are on the disk.
    case compare(ByteRange)
    /// Too little is there yet.
    case wait
    /// Nothing is there, and nobody else will bring anything.
    case nothing

    /// Bytes that are compared, if so many are there in a row.
    static let length: Int64 = 64 << 10
    /// The fewest that are worth it while more are coming.
    static let shortest: Int64 = 16 << 10

    /// Chooses, of bytes of which only checksums are known, the shortest run.
    ///
    /// - Parameters:
    ///   - extents: What is there and counts.
    ///   - moreComes: Whether more will be.
    init(extents: [Extent], moreComes: Bool) {
        let least = moreComes ? Self.shortest : 1
        let shortest = extents.map(\.range).filter { $0.count >= least }.min {
            $0.count < $1.count
        }
        if let shortest { self = .compare(shortest) } else { self = moreComes ? .wait : .nothing }
    }

    /// Chooses.
    ///
    /// - Parameters:
    ///   - done: What is on the disk and counts.
    ///   - moreComes: Whether another mirror brings more.
    ///   - random: In 0..<1; decides on the place.
    init(done: RangeSet, moreComes: Bool, random: Double) {
        let least = moreComes ? Self.shortest : 1
        let places = done.ranges.filter { $0.count >= least }
        guard !places.isEmpty else {
            self = moreComes ? .wait : .nothing
            return
        }
        // Every byte is as likely as any other to be the one from which the sample is taken.
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
