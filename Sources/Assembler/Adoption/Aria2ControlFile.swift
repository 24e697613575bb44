// Adoption: turns another program's incomplete download into a part that a download completes.
// Reads the files of curl, browsers and aria2. Does not use servers, and does not write to the
// other program's file.

/// The contents of aria2's control file `FILE.aria2` for an incomplete file, format version 1.
///
/// Source: "Control File (*.aria2) Format" in aria2's technical notes. All numbers are in network
/// byte order. The parser rejects values that aria2 would not write, because the format has no
/// checksum.
///
/// Performs no I/O.
package struct Aria2ControlFile: Sendable, Hashable {
    /// The maximum size in bytes of a control file: enough for 32 TiB in pieces of 1 MiB.
    static let longest = 4 << 20
    /// The suffix that aria2 appends to the file's name.
    static let suffix = ".aria2"

    /// The length of the whole file in bytes, according to aria2.
    package let total: Int64
    /// The bytes that aria2 has written.
    package let done: RangeSet

    /// Parses the bytes of a control file.
    ///
    /// - Throws: `ControlFileProblem`.
    package init(reading bytes: [UInt8]) throws(ControlFileProblem) {
        var reader = Reader(bytes: bytes[...])
        let version = Int(try reader.number(2))
        // Version 0 uses the byte order of the host that wrote the file.
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
        // The number of uploaded bytes of a torrent.
        _ = try reader.number(8)
        let pieces = Blocks(length: total, size: pieceLength)
        var done = RangeSet()
        for range in try pieces.marked(in: &reader) { done.insert(range) }
        try Self.addBegun(of: pieces, &reader, to: &done)
        guard reader.bytes.isEmpty else { throw .inconsistent }
        self.total = total
        self.done = done
    }

    /// The length of a torrent's info hash in bytes.
    private static let infoHashLength: UInt64 = 20
    /// The length in bytes of the blocks that aria2 marks as complete in an incomplete piece.
    private static let blockLength: Int64 = 16 << 10

    private static func isTorrent(extensions: UInt64) throws(ControlFileProblem) -> Bool {
        guard extensions <= 1 else { throw .inconsistent }
        return extensions == 1
    }

    /// Adds the complete blocks of incomplete pieces.
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

/// A length in bytes, divided into blocks of equal size; the last block may be shorter.
private struct Blocks {
    let length: Int64
    /// The size of a block in bytes; at least 1.
    let size: Int64

    /// The number of blocks.
    var count: Int64 { length / size + (length % size > 0 ? 1 : 0) }

    /// Returns the byte range of a block; `index` must be less than `count`.
    func range(_ index: Int64) -> ByteRange {
        ByteRange(index * size, index * size + min(size, length - index * size))
    }

    /// Reads a bitfield and returns the ranges of the marked blocks; adjacent blocks are joined.
    ///
    /// The first bit is the most significant one.
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
                // The padding bits at the end belong to no block.
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

/// Reads numbers and bytes from the front of `bytes`.
private struct Reader {
    var bytes: ArraySlice<UInt8>

    /// Reads a big-endian number of `count` bytes.
    mutating func number(_ count: UInt64) throws(ControlFileProblem) -> UInt64 {
        try take(count).reduce(0) { $0 << 8 | UInt64($1) }
    }

    mutating func take(_ count: UInt64) throws(ControlFileProblem) -> ArraySlice<UInt8> {
        guard count <= UInt64(bytes.count) else { throw .truncated }
        defer { bytes = bytes.dropFirst(Int(count)) }
        return bytes.prefix(Int(count))
    }
}
