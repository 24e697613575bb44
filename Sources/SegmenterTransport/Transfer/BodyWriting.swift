/// The state of writing a response's body: the writer, and the offset up to which it may write.
///
/// The hot path goes through `take`, which neither locks nor allocates.
struct BodyWriting {
    /// The result for a piece of the body.
    enum Outcome: Equatable {
        /// The whole piece is written.
        case written
        /// The piece exceeds the window, and nothing of it is written.
        ///
        /// The transfer has to be paused.
        case waits
        /// Everything up to the limit is written; another connection downloads the rest.
        case satisfied
        /// The body is longer than the response announced.
        case tooLong
        /// Writing failed with this `errno`.
        case failed(Int32)
    }

    private var writer: ExtentWriter?
    /// The offset in the file at which writing ends.
    private var limit: Int64 = 0
    /// The offset in the file at which the response ends; `Int64.max` if it is unknown.
    private var replyEnd: Int64 = 0
    /// The offset in the file at which the window ends; the body is paused there until `allow`.
    private var windowEnd = Int64.max
    /// Whether the body is paused because its next piece exceeds the window.
    private(set) var waitsForRoom = false

    /// Starts to write a body.
    ///
    /// - Parameters:
    ///   - writer: The writer, positioned at the first byte of the body.
    ///   - limit: The offset in the file at which writing ends.
    ///   - replyEnd: The offset at which the response ends; `Int64.max` if it is unknown.
    mutating func begin(_ writer: ExtentWriter, limit: Int64, replyEnd: Int64) {
        self.writer = writer
        self.limit = limit
        self.replyEnd = replyEnd
    }

    /// Writes a piece up to the limit.
    ///
    /// - Returns: The number of bytes that count as received, and the result.
    mutating func take(_ bytes: UnsafeRawPointer, _ count: Int) -> (received: Int64, Outcome) {
        guard let writer else { return (0, .tooLong) }
        let room = limit - writer.position
        let wanted = min(Int64(count), max(0, room))
        guard writer.position + wanted <= windowEnd else {
            waitsForRoom = true
            return (0, .waits)
        }
        let error = writer.write(bytes, Int(wanted))
        guard error == 0 else { return (wanted, .failed(error)) }
        guard wanted < count else { return (wanted, .written) }
        return (wanted, limit < replyEnd ? .satisfied : .tooLong)
    }

    /// Moves the end of the window to `offset`.
    ///
    /// - Returns: Whether the body was paused by the window, and has to be resumed.
    mutating func allow(upTo offset: Int64) -> Bool {
        let isMore = offset > windowEnd
        windowEnd = offset
        guard isMore, waitsForRoom else { return false }
        waitsForRoom = false
        return true
    }

    /// Lowers the limit to `end`, because another connection downloads the bytes after it.
    mutating func shorten(to end: Int64) { limit = min(limit, end) }

    /// Whether everything up to the limit is written, although the response continues after it.
    var isSatisfied: Bool {
        guard let writer else { return false }
        return writer.position >= limit && limit < replyEnd
    }

    /// The number of bytes still to be written; 0 before `begin`.
    var remaining: Int64 { writer.map { max(0, limit - $0.position) } ?? 0 }

    /// The number of bytes missing at the end of the response; 0 if its length is unknown.
    var missing: Int64 {
        guard let writer, replyEnd != Int64.max else { return 0 }
        return max(0, min(limit, replyEnd) - writer.position)
    }
}
