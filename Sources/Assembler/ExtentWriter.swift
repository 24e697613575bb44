import Glibc

/// Writes one run of bytes in order, and keeps the CRC-32 of what is not recorded yet.
///
/// The hot path: used on the loop thread only, and neither locks nor allocates.
package final class ExtentWriter {
    /// Negative for a writer that keeps nothing but the CRC-32.
    private let descriptor: Int32
    /// Offset of the first byte, in bytes from the start of the file.
    package let start: Int64
    /// Offset of the next byte to be written.
    package private(set) var position: Int64
    private var recorded: Int64
    private var crc: UInt32 = 0

    init(descriptor: Int32, at offset: Int64) {
        self.descriptor = descriptor
        start = offset
        position = offset
        recorded = offset
    }

    /// Bytes that are written but not in the manifest.
    package var unrecorded: Int64 { position - recorded }

    /// Writes `count` bytes at the position and moves it on.
    ///
    /// - Returns: 0, or the `errno` of the write that failed; what was written before it counts.
    package func write(_ bytes: UnsafeRawPointer, _ count: Int) -> Int32 {
        var written = 0
        while written < count {
            let rest = count - written
            let step =
                descriptor < 0
                ? rest : pwrite(descriptor, bytes + written, rest, off_t(position))
            if step <= 0 {
                if step < 0, errno == EINTR { continue }
                return step < 0 ? errno : EIO
            }
            crc = CRC32.update(crc, bytes + written, step)
            written += step
            position += Int64(step)
        }
        return 0
    }

    /// What was written since the last call; `nil` when nothing was.
    func takeUnrecorded() -> Extent? {
        guard position > recorded else { return nil }
        let extent = Extent(ByteRange(recorded, position), crc: crc)
        recorded = position
        crc = 0
        return extent
    }
}
