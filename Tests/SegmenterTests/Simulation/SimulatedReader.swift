import Assembler

/// A reader that takes the written bytes in order and at a limited rate, like the reader of a pipe.
struct SimulatedReader {
    /// The rate in bytes per second.
    var rate: Double
    /// The maximum number of bytes between the read position and the limit.
    var size: Int64
    /// The number of bytes that have been read.
    private(set) var read: Int64 = 0
    /// The position at which writing presently has to end.
    private(set) var limit: Int64 = 0

    init(rate: Double, size: Int64) { (self.rate, self.size) = (rate, size) }

    /// Reads the available bytes.
    ///
    /// - Parameters:
    ///   - front: The start of the first gap in the written bytes.
    ///   - seconds: The seconds since the last call.
    /// - Returns: Whether there is more space now.
    mutating func read(_ front: Int64, _ seconds: Double) -> Bool {
        let before = read
        read = min(front, read + Int64(rate * seconds))
        return read > before
    }

    /// Returns the range that may be written from now on, like `StreamOutput.takeWindow`.
    mutating func takeWindow(_ front: Int64) -> OutputWindow {
        limit = read + size
        return OutputWindow(limit: limit, size: size, isBehind: front - read >= size / 2)
    }
}
