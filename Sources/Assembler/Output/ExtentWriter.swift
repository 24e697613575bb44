import Glibc

/// Writes a run of bytes in order, and computes the CRC-32 of its unrecorded bytes.
///
/// This is the hot path, used on the loop thread only. A writer takes no locks, and allocates at
/// most once for a run of `ExtentMap.mergeLimit` bytes.
package final class ExtentWriter {
    private enum Place {
        case file(Int32)
        case ring(RingBuffer)
        /// The bytes are discarded after the CRC-32 is computed.
        case nowhere
    }

    private let place: Place
    /// The offset of the first byte, in bytes from the start of the file.
    package let start: Int64
    /// The offset of the next byte to be written.
    package private(set) var position: Int64
    /// The offset of the first byte that is neither recorded nor in `full`; `crc` starts there.
    private var recorded: Int64
    private var crc: UInt32 = 0
    /// The unrecorded extents that have the maximum length.
    private var full: [Extent] = []
    /// The digest that all bytes must have before any of them is recorded.
    private var proof: ContentProof?

    /// Creates a writer for a file.
    init(descriptor: Int32, at offset: Int64) {
        place = .file(descriptor)
        start = offset
        position = offset
        recorded = offset
    }

    /// Creates a writer that only computes the CRC-32.
    package init(samplingAt offset: Int64) {
        place = .nowhere
        start = offset
        position = offset
        recorded = offset
    }

    /// Creates a writer for memory; bytes before `front` have already arrived and are dropped.
    init(ring: RingBuffer, at offset: Int64, front: Int64) {
        place = .ring(ring)
        start = offset
        position = offset
        recorded = max(offset, front)
    }

    /// The number of bytes that are written but not recorded in the manifest.
    package var unrecorded: Int64 {
        proof == nil ? full.reduce(max(0, position - recorded)) { $0 + $1.range.count } : 0
    }

    /// Writes `count` bytes at the position and advances it.
    ///
    /// - Returns: 0, or the `errno` of the failed write. Bytes that were written before it count as
    ///   written.
    package func write(_ bytes: UnsafeRawPointer, _ count: Int) -> Int32 {
        var written = Int(min(Int64(count), max(0, recorded - position)))
        position += Int64(written)
        if position - recorded + Int64(count - written) > ExtentMap.mergeLimit { cut() }
        while written < count {
            let step = store(bytes + written, count - written)
            if step <= 0 {
                if step < 0, errno == EINTR { continue }
                return step < 0 ? errno : EIO
            }
            crc = CRC32.update(crc, bytes + written, step)
            proof?.update(bytes + written, step)
            written += step
            position += Int64(step)
        }
        return 0
    }

    /// Ends the current extent and adds it to `full`.
    private func cut() {
        if let extent = takeLast() { full.append(extent) }
    }

    private func store(_ bytes: UnsafeRawPointer, _ count: Int) -> Int {
        switch place {
        case .file(let descriptor): pwrite(descriptor, bytes, count, off_t(position))
        case .ring(let ring): ring.store(bytes, count, at: position)
        case .nowhere: count
        }
    }

    // MARK: Expected digest

    /// Records no byte until all bytes up to `end` have arrived and have the digest.
    package func expect(_ digest: Digest, end: Int64) {
        guard position == start, recorded == start else { return }
        proof = ContentProof(digest, end: end)
    }

    /// Whether the bytes must still be compared with an expected digest.
    package var awaitsProof: Bool { proof != nil }

    /// Allows the bytes to be recorded without the comparison.
    package func waiveProof() { proof = nil }

    /// Discards the unrecorded bytes: they were not compared, and other bytes of that server were
    /// wrong.
    package func dropUnproven() {
        proof = nil
        recorded = position
        crc = 0
    }

    /// Compares the bytes with the expected digest once all have arrived; wrong bytes are
    /// discarded.
    ///
    /// - Returns: Whether the digest matches; `nil` if there is nothing to compare.
    package func settleProof() -> Bool? {
        guard let proof, position >= proof.end else { return nil }
        let isRight = proof.holds
        if isRight { waiveProof() } else { dropUnproven() }
        return isRight
    }

    /// Returns the next extent that was written and not returned yet, or `nil`.
    ///
    /// No extent is longer than `ExtentMap.mergeLimit`. The bytes of one pass of the loop may
    /// therefore need several calls.
    package func takeUnrecorded() -> Extent? {
        full.isEmpty ? takeLast() : full.removeFirst()
    }

    private func takeLast() -> Extent? {
        guard proof == nil, position > recorded else { return nil }
        let extent = Extent(ByteRange(recorded, position), crc: crc)
        recorded = position
        crc = 0
        return extent
    }
}
