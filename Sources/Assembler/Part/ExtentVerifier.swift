import Glibc

/// Checks an earlier run's extents against the data on the disk, on a thread of its own, while the
/// network already works on what is missing.
final class ExtentVerifier: Sendable {
    private let stopped = Monitor(false)
    private let thread: OwnedThread

    /// Starts checking; `report` is called on the thread, once for each extent, with the outcome.
    init(
        file: PartialFile, extents: [Extent],
        report: @escaping @Sendable (Extent, _ isIntact: Bool) -> Void
    ) {
        let stopped = stopped
        thread = OwnedThread(name: "verify") {
            for extent in extents {
                guard !stopped.withLock({ $0 }) else { return }
                report(extent, isIntact(extent, in: file.descriptor))
            }
        }
    }

    /// Stops after the extent under way and waits for the thread's end.
    func stop() {
        stopped.withLock { $0 = true }
        thread.join()
    }
}

/// Whether the bytes of a file have the extent's CRC-32.
///
/// Bytes that cannot be read have not.
func isIntact(_ extent: Extent, in descriptor: Int32) -> Bool {
    crc32(of: extent.range, in: descriptor) == extent.crc
}

/// The CRC-32 of bytes of a file; `nil` when they cannot be read.
func crc32(of range: ByteRange, in descriptor: Int32) -> UInt32? {
    let step = 256 << 10
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: step, alignment: 4096)
    defer { buffer.deallocate() }
    var crc: UInt32 = 0
    var position = range.start
    while position < range.end {
        let wanted = UnsafeMutableRawBufferPointer(
            rebasing: buffer[..<Int(min(Int64(step), range.end - position))])
        guard readFully(descriptor, into: wanted, at: position) == wanted.count,
            let base = wanted.baseAddress
        else { return nil }
        crc = CRC32.update(crc, base, wanted.count)
        position += Int64(wanted.count)
    }
    return crc
}
