import Assembler

extension SegmentScheduler {
    /// What one connection has to fetch: bytes `position..<end`, in order.
    struct Segment: Hashable {
        /// The next byte that is expected.
        var position: Int64
        /// Where the present request ends; nothing is requested yet when it is `position`.
        var asked: Int64
        /// Where the work ends; moves towards `position` when the tail is stolen.
        var end: Int64

        /// What is still to be fetched, in order.
        var rest: ByteRange { ByteRange(position, end) }

        /// Work of which nothing is requested yet.
        init(_ range: ByteRange) {
            position = range.start
            asked = range.start
            end = range.end
        }
    }

    /// Work for a connection that was free.
    enum Assignment: Hashable {
        /// Bytes that nobody had.
        case fresh(ByteRange)
        /// The tail of another connection's segment, which now ends where this range begins.
        case stolen(ByteRange, from: Int)

        var range: ByteRange {
            switch self {
            case .fresh(let range), .stolen(let range, _): range
            }
        }
    }
}
