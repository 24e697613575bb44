import Crypto
import Glibc

/// The pseudo-random content of a file, computed for any offset, so that no file has to be stored.
///
/// Blocks of 16 KiB are copied from a random table of 1 MiB at offsets that depend on the block.
/// Each begins with a unique stamp, so shifted content does not match. Each block costs one copy,
/// in debug builds too.
public struct Content: Sendable {
    /// Size in bytes.
    public let size: Int64
    /// The seed of the content.
    public let seed: UInt64
    private let table: [UInt8]

    private static let blockSize = 16 << 10
    private static let tableSize = 1 << 20

    /// Creates the content of a file of `size` bytes; different seeds have different content.
    public init(size: Int64, seed: UInt64) {
        self.size = max(0, size)
        self.seed = seed
        table = [UInt8](unsafeUninitializedCapacity: Self.tableSize) { buffer, count in
            let words = UnsafeMutableRawBufferPointer(buffer).bindMemory(to: UInt64.self)
            var index: UInt64 = 0
            while index < UInt64(words.count) {
                words[Int(index)] = Self.mix(seed, index).littleEndian
                index += 1
            }
            count = Self.tableSize
        }
    }

    /// Returns the bytes at `range` that are within the file.
    public func bytes(_ range: Range<Int64>) -> [UInt8] {
        let inside = range.clamped(to: 0..<size)
        return [UInt8](unsafeUninitializedCapacity: inside.count) { buffer, count in
            fill(
                UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(buffer)[..<inside.count]),
                at: inside.lowerBound)
            count = inside.count
        }
    }

    /// Whether `bytes` are exactly those at `range`.
    ///
    /// `#expect` of two different arrays would compute their difference for minutes.
    public func matches(_ bytes: [UInt8], in range: Range<Int64>) -> Bool {
        bytes == self.bytes(range)
    }

    /// Fills `buffer` with the bytes from `offset` on; the content continues after the end of the
    /// file.
    public func fill(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int64) {
        table.withUnsafeBytes { table in
            var done = 0
            while done < buffer.count {
                let position = Int(offset) + done
                let block = UInt64(position / Self.blockSize)
                let within = position % Self.blockSize
                let count = min(Self.blockSize - within, buffer.count - done)
                let place = Int(
                    Self.mix(~seed, block) % UInt64(Self.tableSize - Self.blockSize))
                let target = UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + count])
                target.copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: table[(place + within)...].prefix(count))
                )
                stamp(target, block: block, from: within)
                done += count
            }
        }
    }

    /// The lower-case hexadecimal SHA-256 of the whole content, computed on every call.
    public var sha256Hex: String {
        sha256.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The SHA-256 of the whole content, computed on every call.
    public var sha256: [UInt8] {
        var hash = SHA256()
        forEachPiece(of: 0..<size) { _, bytes in
            hash.update(bufferPointer: bytes)
            return true
        }
        return Array(hash.finalize())
    }

    /// Writes the whole content to a file, replacing an old one.
    ///
    /// - Throws: ``SystemCallError``.
    public func write(to path: String) throws {
        let file = try checked(
            open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644), "open \(path)")
        defer { close(file) }
        var failure: SystemCallError?
        forEachPiece(of: 0..<size) { offset, bytes in
            var done = 0
            while done < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
                let count = Glibc.write(file, rest.baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    failure = SystemCallError("write \(path) at \(offset)")
                    return false
                }
                done += count
            }
            return true
        }
        if let failure { throw failure }
    }

    /// Returns the first offset at which the file at `path` differs from this content.
    ///
    /// Returns `nil` if they are equal. If one is shorter, they differ at its end.
    ///
    /// - Parameters:
    ///   - path: the file to compare.
    ///   - range: the part to compare, by default the whole file, its size included.
    /// - Returns: the offset in the file.
    /// - Throws: ``SystemCallError``.
    public func firstDifference(at path: String, in range: Range<Int64>? = nil) throws -> Int64? {
        let file = try checked(open(path, O_RDONLY | O_CLOEXEC), "open \(path)")
        defer { close(file) }
        var difference: Int64?
        var buffer = [UInt8](repeating: 0, count: Self.pieceSize)
        forEachPiece(of: (range ?? 0..<size).clamped(to: 0..<size)) { offset, bytes in
            let count = pread(file, &buffer, bytes.count, off_t(offset))
            if count == bytes.count, isSame(buffer, bytes) { return true }
            let same = zip(bytes, buffer.prefix(max(0, count))).prefix { $0 == $1 }.count
            difference = offset + Int64(same)
            return false
        }
        guard difference == nil, range == nil else { return difference }
        let end = lseek(file, 0, SEEK_END)
        return end == off_t(size) ? nil : min(size, Int64(end))
    }

    private static let pieceSize = 256 << 10

    private func isSame(_ buffer: [UInt8], _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let expected = bytes.baseAddress else { return true }
        return memcmp(buffer, expected, bytes.count) == 0
    }

    /// Calls `body` with the content of `range` piece by piece, until it returns false.
    private func forEachPiece(
        of range: Range<Int64>, _ body: (Int64, UnsafeRawBufferPointer) -> Bool
    ) {
        withUnsafeTemporaryAllocation(byteCount: Self.pieceSize, alignment: 16) { buffer in
            var offset = range.lowerBound
            while offset < range.upperBound {
                let count = min(Int64(Self.pieceSize), range.upperBound - offset)
                let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(count)])
                fill(piece, at: offset)
                guard body(offset, UnsafeRawBufferPointer(piece)) else { return }
                offset += count
            }
        }
    }

    /// Copies the part of the stamp of `block` that is within `target`; a stamp has 8 bytes.
    private func stamp(_ target: UnsafeMutableRawBufferPointer, block: UInt64, from within: Int) {
        guard within < 8 else { return }
        let stamp = Self.mix(seed &+ 1, block)
        for index in within..<min(8, within + target.count) {
            target[index - within] = UInt8(truncatingIfNeeded: stamp >> (8 * UInt64(index)))
        }
    }

    /// Returns the number of SplitMix64 at a counter.
    private static func mix(_ seed: UInt64, _ index: UInt64) -> UInt64 {
        var word = seed &+ (index &+ 1) &* 0x9E37_79B9_7F4A_7C15
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
