import Assembler

/// How the body of a reply is written: by whom, and how far.
///
/// The hot path goes through `take`, which neither locks nor allocates.
struct BodyWriting {
    /// What became of a piece.
    enum Outcome: Equatable {
        /// All of it is written.
        case written
        /// There is no room for it: nothing of it is written.
        case waits
        /// All that was to be written is, and the rest of the reply is another's.
        case satisfied
        /// There is more than the reply was to hold.
        case tooLong
        /// It could not be written; the `errno`.
        case failed(Int32)
    }

    private var writer: ExtentWriter?
    /// Where writing ends, as an offset in the file, and where the reply itself does.
    private var limit: Int64 = 0
    private var replyEnd: Int64 = 0
    /// Where the present room ends: the body waits there until `allow` moves it on.
    private var windowEnd = Int64.max
    /// Whether the body waits there.
    private(set) var waitsForRoom = false

    /// Has a writer write up to `limit`; the reply itself ends at `replyEnd`, or nobody knows where
    /// (`Int64.max`).
    mutating func begin(_ writer: ExtentWriter, limit: Int64, replyEnd: Int64) {
        self.writer = writer
        self.limit = limit
        self.replyEnd = replyEnd
    }

    /// Writes a piece, as far as it is wanted.
    ///
    /// - Returns: How many bytes are counted as received, and what became of the piece.
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

    /// Lets bytes before `offset` be written.
    ///
    /// - Returns: Whether the body had waited for that, and is to go on.
    mutating func allow(upTo offset: Int64) -> Bool {
        let isMore = offset > windowEnd
        windowEnd = offset
        guard isMore, waitsForRoom else { return false }
        waitsForRoom = false
        return true
    }

    /// Moves the end of what is written forward: the bytes behind it are another's now.
    mutating func shorten(to end: Int64) { limit = min(limit, end) }

    /// Whether all that was to be written is, though more may come.
    var isSatisfied: Bool {
        guard let writer else { return false }
        return writer.position >= limit && limit < replyEnd
    }

    /// Bytes that are still to be written; 0 before it begins.
    var remaining: Int64 { writer.map { max(0, limit - $0.position) } ?? 0 }

    /// Bytes that are missing when the reply has ended; 0 where nobody knows.
    var missing: Int64 {
        guard let writer, replyEnd != Int64.max else { return 0 }
        return max(0, min(limit, replyEnd) - writer.position)
    }
}
