/// The result of reading a file once: its damaged extents and its digests.
struct ContentCheck: Sendable {
    /// The extents whose bytes do not match their CRC-32 or cannot be read.
    var damaged: [Extent] = []
    /// The requested digests; empty if any byte could not be read.
    var digests: [Digest] = []
    /// The number of bytes that were read.
    var bytesRead: Int64 = 0

    /// Reads a file and checks its extents and digests.
    ///
    /// Without algorithms, only the extents are read.
    ///
    /// - Parameters:
    ///   - descriptor: The open file.
    ///   - size: Its length in bytes.
    ///   - extents: The extents to check, disjoint and in ascending order. They may lie beyond
    ///     the end.
    ///   - algorithms: The algorithms of the requested digests of the whole file.
    ///   - isCancelled: Called before each read, with the number of bytes read so far.
    /// - Returns: The result, or `nil` if the check was cancelled.
    static func run(
        _ descriptor: Int32, size: Int64, extents: [Extent], algorithms: Set<DigestAlgorithm>,
        isCancelled: (Int64) -> Bool = { _ in false }
    ) -> ContentCheck? {
        var check = ContentCheck()
        var hashes = algorithms.compactMap { StreamingDigest($0, size: size) }
        var whole: UInt32 = 0
        var isReadable = true
        let buffer = ReadBuffer()
        for piece in pieces(size: size, extents: extents, withGaps: !algorithms.isEmpty) {
            var crc: UInt32 = 0
            var position = piece.range.start
            while position < piece.range.end {
                guard !isCancelled(check.bytesRead) else { return nil }
                guard let bytes = buffer.read(descriptor, from: position, to: piece.range.end),
                    let base = bytes.baseAddress
                else { break }
                if piece.extent != nil { crc = CRC32.update(crc, base, bytes.count) }
                if !algorithms.isEmpty { whole = CRC32.update(whole, base, bytes.count) }
                for index in hashes.indices { hashes[index].update(bytes) }
                position += Int64(bytes.count)
                check.bytesRead += Int64(bytes.count)
            }
            let isComplete = position == piece.range.end
            if !isComplete, piece.range.start < size { isReadable = false }
            if let extent = piece.extent, !isComplete || crc != extent.crc {
                check.damaged.append(extent)
            }
        }
        guard !isCancelled(check.bytesRead) else { return nil }
        guard isReadable else { return check }
        check.digests = hashes.compactMap { $0.finish() }
        if algorithms.contains(.crc32) { check.digests.append(Digest(crc32: whole)) }
        return check
    }

    private struct Piece {
        var range: ByteRange
        var extent: Extent?
    }

    private static func pieces(size: Int64, extents: [Extent], withGaps: Bool) -> [Piece] {
        let known = extents.map { Piece(range: $0.range, extent: $0) }
        guard withGaps else { return known }
        var covered = RangeSet()
        for extent in extents { covered.insert(extent.range) }
        let gaps = covered.gaps(in: ByteRange(0, size)).ranges.map { Piece(range: $0) }
        return (known + gaps).sorted { $0.range < $1.range }
    }
}
