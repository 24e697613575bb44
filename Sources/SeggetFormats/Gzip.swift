import CZlib

/// Decompresses gzip (RFC 1952), because aria2 also reads compressed lists.
package enum Gzip {
    /// The error for damaged data, or for text that is too long.
    package struct Damaged: Error {}

    /// The maximum size of the text, in bytes, which limits decompression bombs.
    private static let longest = 256 << 20
    private static let room = 64 << 10

    /// Returns whether the bytes begin with the magic number of gzip.
    package static func isCompressed(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0x1f, 0x8b]) }

    /// Returns the decompressed text; consecutive members are concatenated.
    package static func text(of bytes: [UInt8]) throws(Damaged) -> [UInt8] {
        var stream = z_stream()
        // Adding 16 selects the gzip format only.
        guard
            inflateInit2_(
                &stream, 16 + MAX_WBITS, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { throw Damaged() }
        defer { inflateEnd(&stream) }
        var input = bytes
        var text: [UInt8] = []
        let result = input.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(clamping: input.count)
            while text.count <= longest {
                var result = Z_OK
                text += [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
                    stream.next_out = buffer.baseAddress
                    stream.avail_out = UInt32(room)
                    result = inflate(&stream, Z_NO_FLUSH)
                    count = room - Int(stream.avail_out)
                }
                guard result == Z_OK || result == Z_STREAM_END else { return result }
                if result == Z_STREAM_END {
                    let rest = input.suffix(Int(stream.avail_in))
                    guard rest.starts(with: [0x1f, 0x8b]) else { return Z_STREAM_END }
                    guard inflateReset(&stream) == Z_OK else { return Z_DATA_ERROR }
                }
            }
            return Z_BUF_ERROR
        }
        guard result == Z_STREAM_END else { throw Damaged() }
        return text
    }
}
