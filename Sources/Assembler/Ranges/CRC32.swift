import CDeflate
import CZlib

/// CRC-32 arithmetic (IEEE 802.3, as in zip and `cksum -a crc32b`).
package enum CRC32 {
    /// Returns the checksum `crc`, updated with `count` bytes at `bytes`.
    package static func update(
        _ crc: UInt32, _ bytes: UnsafeRawPointer, _ count: Int
    ) -> UInt32 {
        libdeflate_crc32(crc, bytes, count)
    }

    /// Returns the checksum of `bytes`, starting from the checksum `seed`.
    package static func of(_ bytes: some Sequence<UInt8>, seed: UInt32 = 0) -> UInt32 {
        Array(bytes).withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return seed }
            return update(seed, base, buffer.count)
        }
    }

    /// Returns the checksum of two adjacent byte sequences, given the checksum of each.
    ///
    /// `length` is the length of the second sequence in bytes.
    package static func combine(_ first: UInt32, _ second: UInt32, length: Int64) -> UInt32 {
        UInt32(truncatingIfNeeded: crc32_combine(UInt(first), UInt(second), Int(length)))
    }
}
