/// A half-open range of byte offsets, `start..<end`, within one file.
public struct ByteRange: Sendable, Hashable, Comparable {
    /// The offset of the first byte, from the start of the file.
    public let start: Int64
    /// The offset after the last byte; never less than `start`.
    public let end: Int64

    /// Creates the range `start..<end`; an `end` below `start` gives an empty range at `start`.
    public init(_ start: Int64, _ end: Int64) {
        self.start = start
        self.end = max(start, end)
    }

    /// The number of bytes.
    public var count: Int64 { end - start }

    /// Whether the range is empty.
    public var isEmpty: Bool { start == end }

    /// The value of a `Range` header that requests this range.
    ///
    /// The last position in the header is inclusive (RFC 9110 §14.1.2). Undefined for an empty range.
    public var headerValue: String { end == .max ? "bytes=\(start)-" : "bytes=\(start)-\(end - 1)" }

    /// Returns the bytes that are in both ranges.
    public func intersection(_ other: ByteRange) -> ByteRange {
        ByteRange(max(start, other.start), min(end, other.end))
    }

    /// Returns whether every byte of `other` is in this range; an empty range is in every range.
    public func contains(_ other: ByteRange) -> Bool {
        other.isEmpty || (start <= other.start && other.end <= end)
    }

    /// Orders by start, then by end.
    public static func < (left: ByteRange, right: ByteRange) -> Bool {
        (left.start, left.end) < (right.start, right.end)
    }
}

extension ByteRange: CustomStringConvertible {
    /// The range as `start..<end`, for logs.
    public var description: String { "\(start)..<\(end)" }
}
