// Adoption: what another program has begun of a file, and making a part of it that an ordinary download then
// completes. It knows what curl, browsers and aria2 leave; it never knows a server, and never writes to the
// file of the other program.

/// What aria2 writes down beside a file that it has not finished: `FILE.aria2`, in the format of version 1.
///
/// Source: "Control File (*.aria2) Format" in aria2's technical notes; all numbers are in network byte
/// order. What aria2 would not write is refused, since nothing else in the file shows that it is whole.
///
/// Pure.
package struct Aria2ControlFile: Sendable, Hashable {
    /// Longest control file that is read, in bytes: enough for 32 TiB in pieces of 1 MiB.
    static let longest = 4 << 20
    /// What aria2 puts behind the file's name.
    static let suffix = ".aria2"

    /// What aria2 took for the length of the whole file, in bytes.
    package let total: Int64
    /// The bytes that it has written.
    package let done: RangeSet

    /// Reads the bytes of a control file.
    ///
    /// - Throws: `ControlFileProblem`.
    package init(reading bytes: [UInt8]) throws(ControlFileProblem) {
        var reader = Reader(bytes: bytes[...])
        let version = Int(try reader.number(2))
        // Version 0 has its numbers in the order of the machine that wrote it.
        guard version == 1 else { throw .version(version) }
        let isTorrent = try Self.isTorrent(extensions: reader.number(4))
        guard try reader.number(4) == (isTorrent ? Self.infoHashLength : 0) else {
            throw .inconsistent
        }
        if isTorrent { _ = try reader.take(Self.infoHashLength) }
        let pieceLength = Int64(try reader.number(4))
        guard let total = Int64(exactly: try reader.number(8)), pieceLength > 0 else {
            throw .inconsistent
        }
        // Bytes that a torrent's file was uploaded.
        _ = try reader.number(8)
        let pieces = Blocks(length: total, size: pieceLength)
        var done = RangeSet()
        for range in try pieces.marked(in: &reader) { done.insert(range) }
        try Self.addBegun(of: pieces, &reader, to: &done)
        guard reader.bytes.isEmpty else { throw .inconsistent }
        self.total = total
        self.done = done
    }

    /// Length of a torrent's hash in bytes.
    private static let infoHashLength: UInt64 = 20
    /// Length of a block, whole ones of which aria2 marks in a piece that it has begun, in bytes.
    private static let blockLength: Int64 = 16 << 10

    private static func isTorrent(extensions: UInt64) throws(ControlFileProblem) -> Bool {
        guard extensions <= 1 else { throw .inconsistent }
        return extensions == 1
    }

    /// Adds the blocks of pieces that are begun.
    private static func addBegun(
        of pieces: Blocks, _ reader: inout Reader, to done: inout RangeSet
    ) throws(ControlFileProblem) {
        var seen: Set<Int64> = []
        for _ in 0..<(try reader.number(4)) {
            let index = Int64(try reader.number(4))
            guard index < pieces.count, seen.insert(index).inserted else { throw .inconsistent }
            let piece = pieces.range(index)
            guard try reader.number(4) == piece.count else { throw .inconsistent }
            let blocks = Blocks(length: piece.count, size: blockLength)
            for range in try blocks.marked(in: &reader) {
                done.insert(ByteRange(piece.start + range.start, piece.start + range.end))
            }
        }
    }
}

/// A length in bytes, cut into blocks of one size, the last of which may be shorter.
private struct Blocks {
    let length: Int64
    /// Bytes of a block; at least 1.
    let size: Int64

    /// Number of blocks.
    var count: Int64 { length / size + (length % size > 0 ? 1 : 0) }

    /// The bytes of a block, of those that there are.
    func range(_ index: Int64) -> ByteRange {
        ByteRange(index * size, index * size + min(size, length - index * size))
    }

    /// The bytes of those blocks whose bits are set, the first bit being the most significant one; adjacent
    /// ones together.
    func marked(in reader: inout Reader) throws(ControlFileProblem) -> [ByteRange] {
        let stated = try reader.number(4)
        guard Int64(stated) == count / 8 + (count % 8 > 0 ? 1 : 0) else { throw .inconsistent }
        let bits = try reader.take(stated)
        var ranges: [ByteRange] = []
        var start: Int64?
        var index: Int64 = 0
        for byte in bits {
            for bit in 0..<8 {
                let isSet = byte & (0x80 >> UInt8(bit)) != 0
                // There is no block for the last bits.
                guard index < count else {
                    guard !isSet else { throw .inconsistent }
                    continue
                }
                if isSet, start == nil { start = range(index).start }
                if !isSet, let begun = start {
                    ranges.append(ByteRange(begun, range(index).start))
                    start = nil
                }
                index += 1
            }
        }
        if let start { ranges.append(ByteRange(start, length)) }
        return ranges
    }
}

/// Takes numbers and bytes from the front.
private struct Reader {
    var bytes: ArraySlice<UInt8>

    /// A number of so many bytes, the most significant one in front.
    mutating func number(_ count: UInt64) throws(ControlFileProblem) -> UInt64 {
        try take(count).reduce(0) { $0 << 8 | UInt64($1) }
    }

    mutating func take(_ count: UInt64) throws(ControlFileProblem) -> ArraySlice<UInt8> {
        guard count <= UInt64(bytes.count) else { throw .truncated }
        defer { bytes = bytes.dropFirst(Int(count)) }
        return bytes.prefix(Int(count))
    }
}
