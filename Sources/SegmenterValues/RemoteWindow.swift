public import Assembler

/// A range of a remote file that is downloaded as if it were a file.
///
/// Requests ask for bytes of the range only, and all positions and sizes are those in the range.
public struct RemoteWindow: Sendable, Hashable {
    /// The bytes of the remote file.
    public var range: ByteRange
    /// The length of the whole remote file in bytes.
    public var size: Int64

    /// Creates a window; `range` is inside the file and not empty.
    public init(_ range: ByteRange, of size: Int64) { (self.range, self.size) = (range, size) }

    /// Returns the bytes of the remote file that a range in the window means.
    ///
    /// - Parameter asked: The range in the window; `nil` for the whole window.
    /// - Returns: The range in the file, inside the window.
    package func remote(_ asked: ByteRange?) -> ByteRange {
        guard let asked else { return range }
        let start = min(range.start + asked.start, range.end)
        return ByteRange(start, asked.end < range.count ? range.start + asked.end : range.end)
    }
}
