extension SegmentScheduler {
    /// The bytes that one connection has to download, in order: `position..<end`.
    package struct Segment: Hashable {
        /// The position of the next expected byte.
        package var position: Int64
        /// The end of the active request; equal to `position` if nothing has been requested.
        package var asked: Int64
        /// The end of the segment; moves towards `position` when a tail is stolen.
        package var end: Int64

        /// The bytes that remain to be downloaded.
        package var rest: ByteRange { ByteRange(position, end) }

        /// Creates a segment of which nothing has been requested.
        package init(_ range: ByteRange) {
            position = range.start
            asked = range.start
            end = range.end
        }
    }

    /// The work that a free connection gets.
    enum Assignment: Hashable {
        /// Bytes that were unassigned.
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
