import Glibc

/// Reads at an offset until `buffer` is full or the file ends.
///
/// - Returns: The number of bytes read, or `nil` with `errno` set.
func readFully(
    _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
) -> Int? {
    var filled = 0
    while filled < buffer.count {
        let count = pread(
            descriptor, buffer.baseAddress.map { $0 + filled }, buffer.count - filled,
            off_t(offset) + filled)
        if count == 0 { break }
        if count < 0 {
            if errno == EINTR { continue }
            return nil
        }
        filled += count
    }
    return filled
}

/// Writes all of `bytes` at the descriptor's position.
///
/// - Returns: 0, or the `errno` of the write that failed.
package func writeFully(_ descriptor: Int32, _ bytes: [UInt8]) -> Int32 {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count <= 0 {
            if count < 0, errno == EINTR { continue }
            return count < 0 ? errno : EIO
        }
        rest = rest.dropFirst(count)
    }
    return 0
}

/// Writes all of `bytes` at an offset.
///
/// - Returns: 0, or the `errno` of the write that failed.
func writeFully(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
    var written = 0
    while written < bytes.count {
        let count = pwrite(
            descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written,
            off_t(offset) + written)
        if count <= 0 {
            if count < 0, errno == EINTR { continue }
            return count < 0 ? errno : EIO
        }
        written += count
    }
    return 0
}

/// A buffer for reading a file piece by piece.
struct ReadBuffer: ~Copyable {
    /// The maximum number of bytes per read.
    private static let step: Int64 = 256 << 10

    private let memory = UnsafeMutableRawBufferPointer.allocate(
        byteCount: Int(step), alignment: 4096)

    deinit { memory.deallocate() }

    /// Returns the bytes of an open file from `start` up to `end`, as many as fit in the buffer.
    ///
    /// The bytes are valid until the next call.
    ///
    /// - Returns: The bytes, or `nil` with `errno` set if the read fails; `ENODATA` if the file
    ///   ends too early.
    func read(_ descriptor: Int32, from start: Int64, to end: Int64) -> UnsafeRawBufferPointer? {
        let wanted = UnsafeMutableRawBufferPointer(
            rebasing: memory[..<Int(min(Self.step, end - start))])
        guard let count = readFully(descriptor, into: wanted, at: start) else { return nil }
        guard count == wanted.count else {
            errno = ENODATA
            return nil
        }
        return UnsafeRawBufferPointer(wanted)
    }
}

/// Returns whether the bytes of a file match the extent's CRC-32.
///
/// Unreadable bytes do not match.
func isIntact(_ extent: Extent, in descriptor: Int32) -> Bool {
    crc32(of: extent.range, in: descriptor) == extent.crc
}

/// Returns the CRC-32 of a range of a file, or `nil` if the range cannot be read.
func crc32(of range: ByteRange, in descriptor: Int32) -> UInt32? {
    let buffer = ReadBuffer()
    var crc: UInt32 = 0
    var position = range.start
    while position < range.end {
        guard let piece = buffer.read(descriptor, from: position, to: range.end),
            let base = piece.baseAddress
        else { return nil }
        crc = CRC32.update(crc, base, piece.count)
        position += Int64(piece.count)
    }
    return crc
}
