import Assembler

/// Who takes what is written, in order and at a rate of its own, as the reader of a pipe does.
struct SimulatedReader {
    /// Bytes per second.
    var rate: Double
    /// Most bytes between what has gone out and the limit.
    var size: Int64
    /// Bytes that have gone out.
    private(set) var read: Int64 = 0
    /// Where writing ends at present.
    private(set) var limit: Int64 = 0

    init(rate: Double, size: Int64) { (self.rate, self.size) = (rate, size) }

    /// Takes what is there.
    ///
    /// - Parameters:
    ///   - front: Where the first gap begins in what is written.
    ///   - seconds: Since it was last called.
    /// - Returns: Whether there is more room.
    mutating func read(_ front: Int64, _ seconds: Double) -> Bool {
        let before = read
        read = min(front, read + Int64(rate * seconds))
        return read > before
    }

    /// What may be written from now on, as `StreamOutput.takeWindow`.
    mutating func takeWindow(_ front: Int64) -> OutputWindow {
        limit = read + size
        return OutputWindow(limit: limit, size: size, isBehind: front - read >= size / 2)
    }
}
