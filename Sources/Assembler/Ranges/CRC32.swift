import CDeflate
import CZlib

/// CRC-32 arithmetic (IEEE 802.3, as in zip and `cksum -a crc32b`).
package enum CRC32 {
    /// The checksum of what `crc` covers followed by `count` bytes at `bytes`.
    package static func update(
        _ crc: UInt32, _ bytes: UnsafeRawPointer, _ count: Int
    ) -> UInt32 {
        libdeflate_crc32(crc, bytes, count)
    }

    /// The checksum of `bytes`, begun with `seed`.
    package static func of(_ bytes: some Sequence<UInt8>, seed: UInt32 = 0) -> UInt32 {
        Array(bytes).withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return seed }
            return update(seed, base, buffer.count)
        }
    }

    /// The checksum of two adjacent runs of bytes, the second `length` bytes long, from theirs.
    package static func combine(_ first: UInt32, _ second: UInt32, length: Int64) -> UInt32 {
        UInt32(truncatingIfNeeded: crc32_combine(UInt(first), UInt(second), Int(length)))
    }
}
