import Glibc

/// Writes one run of bytes in order, and keeps the CRC-32 of what is not recorded yet.
///
/// The hot path: used on the loop thread only; it does not lock, and allocates for a run of
/// `ExtentMap.mergeLimit` bytes at most once.
package final class ExtentWriter {
    private enum Place {
        case file(Int32)
        case ring(RingBuffer)
        /// Nothing is kept but the CRC-32.
        case nowhere
    }

    private let place: Place
    /// Offset of the first byte, in bytes from the start of the file.
    package let start: Int64
    /// Offset of the next byte to be written.
    package private(set) var position: Int64
    /// Offset of the first byte that is neither recorded nor in `full`, and the CRC-32 from there on.
    private var recorded: Int64
    private var crc: UInt32 = 0
    /// What is not recorded yet and is as long as an extent may be.
    private var full: [Extent] = []
    /// What all of its bytes must have before any counts.
    private var proof: ContentProof?

    /// Makes a writer into a file.
    init(descriptor: Int32, at offset: Int64) {
        place = .file(descriptor)
        start = offset
        position = offset
        recorded = offset
    }

    /// Makes a writer that keeps nothing but the CRC-32.
    package init(samplingAt offset: Int64) {
        place = .nowhere
        start = offset
        position = offset
        recorded = offset
    }

    /// Makes a writer into memory; bytes before `front` are there already, and are dropped.
    init(ring: RingBuffer, at offset: Int64, front: Int64) {
        place = .ring(ring)
        start = offset
        position = offset
        recorded = max(offset, front)
    }

    /// Bytes that are written but not in the manifest.
    package var unrecorded: Int64 {
        proof == nil ? full.reduce(max(0, position - recorded)) { $0 + $1.range.count } : 0
    }

    /// Writes `count` bytes at the position and moves it on.
    ///
    /// - Returns: 0, or the `errno` of the write that failed; what was written before it counts.
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

    /// Ends the present extent, though nobody has asked for it.
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

    // MARK: Proof

    /// Has nothing that it writes count before all bytes up to `end` have come, and have a digest.
    package func expect(_ digest: Digest, end: Int64) {
        guard position == start, recorded == start else { return }
        proof = ContentProof(digest, end: end)
    }

    /// Whether its bytes do not count yet.
    package var awaitsProof: Bool { proof != nil }

    /// Lets its bytes count without having been compared.
    package func waiveProof() { proof = nil }

    /// Has its bytes never count: they were not compared, and others of that server were wrong.
    package func dropUnproven() {
        proof = nil
        recorded = position
        crc = 0
    }

    /// Compares its bytes, when all have come; those that are wrong never count.
    ///
    /// - Returns: Whether they are right; `nil` when there is nothing to compare.
    package func settleProof() -> Bool? {
        guard let proof, position >= proof.end else { return nil }
        let isRight = proof.holds
        if isRight { waiveProof() } else { dropUnproven() }
        return isRight
    }

    /// What was written since the last call; `nil` when nothing was, or no more than earlier calls have returned.
    ///
    /// No extent is longer than `ExtentMap.mergeLimit`: what a turn of the loop has brought may need several calls.
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
