import FoundationEssentials

/// A line of JSON whose last member, `crc`, is a checksum of the line before it.
///
/// The checksum is a CRC-32 (IEEE 802.3) that does not start from 0 but from a seed, so that a line
/// of another file does not match. It reveals torn, altered and foreign lines. Pure.
package enum SealedLine {
    /// Encodes an object as a line, including its checksum and the line feed.
    package static func of(_ value: some Encodable, seed: UInt32) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Encoding cannot fail: the values consist of integers, strings and optionals.
        guard var bytes = try? Array(encoder.encode(value)), bytes.popLast() == UInt8(ascii: "}")
        else { preconditionFailure("a line must be encodable as an object") }
        bytes += Array(",\"crc\":\"".utf8)
        let crc = Digest(crc32: CRC32.of(bytes, seed: seed)).hex
        return bytes + Array("\(crc)\"}\n".utf8)
    }

    /// Returns whether a line, without its line feed, ends in the checksum of the bytes before it.
    package static func isIntact(_ line: ArraySlice<UInt8>, seed: UInt32) -> Bool {
        checksum(of: line, seed: seed) != nil
    }

    /// Returns the checksum in which a line, without its line feed, ends.
    ///
    /// - Returns: The checksum; `nil` if it is not that of the bytes before it.
    package static func checksum(of line: ArraySlice<UInt8>, seed: UInt32) -> UInt32? {
        let tail = 10
        guard line.count > tail else { return nil }
        let crc = CRC32.of(line.dropLast(tail), seed: seed)
        let digits = Digest(crc32: crc).hex
        return line.suffix(tail).elementsEqual("\(digits)\"}".utf8) ? crc : nil
    }
}
