import Glibc

/// Reads an open file line by line, with pread(2).
package struct FileLines {
    /// The reason why a line cannot be read.
    package enum Failure: Error, Sendable, Hashable {
        /// The file cannot be read.
        case unreadable(errno: Int32)
        /// The line is too long, or the last line has no line feed and must have one.
        case badLine
    }

    /// A line of the file.
    package struct Line {
        /// The bytes, without the line feed.
        package var bytes: [UInt8]
        /// The offset of the first byte in the file.
        package var start: Int64
    }

    private let descriptor: Int32
    private let chunk: Int
    private let longest: Int
    private let lastMayBeOpen: Bool
    /// The bytes that were read and not returned yet; the first has this offset in the file.
    private var buffer: [UInt8] = []
    private var used = 0
    private var offset: Int64

    /// Creates a reader; the descriptor must stay open while it is used.
    ///
    /// - Parameters:
    ///   - descriptor: The file.
    ///   - offset: Where the first line begins.
    ///   - chunk: The number of bytes to read at a time.
    ///   - longest: The length of the longest line, in bytes.
    ///   - lastMayBeOpen: Whether the last line is returned if it has no line feed.
    package init(
        _ descriptor: Int32, from offset: Int64 = 0, chunk: Int = 256 << 10,
        longest: Int = 1 << 20, lastMayBeOpen: Bool = false
    ) {
        (self.descriptor, self.offset, self.chunk) = (descriptor, offset, chunk)
        (self.longest, self.lastMayBeOpen) = (longest, lastMayBeOpen)
    }

    /// Returns the next line; `nil` at the end of the file.
    ///
    /// - Throws: `Failure`. After `badLine`, the next call returns the line after it.
    package mutating func next() throws(Failure) -> Line? {
        var searched = used
        var isTooLong = false
        while true {
            if let end = lineFeed(from: searched) {
                let line = Line(bytes: Array(buffer[used..<end]), start: offset + Int64(used))
                used = end + 1
                guard !isTooLong, line.bytes.count <= longest else { throw .badLine }
                return line
            }
            if buffer.count - used > longest {
                // Only whether the line ends is of interest now.
                isTooLong = true
                used = buffer.count
            }
            searched = buffer.count - used
            offset += Int64(used)
            buffer.removeFirst(used)
            used = 0
            guard try fill() else {
                guard !buffer.isEmpty || isTooLong else { return nil }
                used = buffer.count
                guard lastMayBeOpen, !isTooLong else { throw .badLine }
                return Line(bytes: buffer, start: offset)
            }
        }
    }

    /// Returns the index of the next line feed in the buffer.
    private func lineFeed(from start: Int) -> Int? {
        buffer.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, start < bytes.count,
                let found = memchr(base + start, 0x0a, bytes.count - start)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }

    /// Reads more bytes; returns `false` at the end of the file.
    private mutating func fill() throws(Failure) -> Bool {
        let place = off_t(offset) + buffer.count
        var code: Int32 = 0
        let more = [UInt8](unsafeUninitializedCapacity: chunk) { [descriptor, chunk] bytes, count in
            var read = -1
            repeat {
                read = pread(descriptor, bytes.baseAddress, chunk, place)
            } while read < 0 && errno == EINTR
            if read < 0 { code = errno }
            count = max(0, read)
        }
        guard code == 0 else { throw .unreadable(errno: code) }
        if buffer.isEmpty { buffer = more } else { buffer += more }
        return !more.isEmpty
    }
}
