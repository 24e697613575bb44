import Assembler

/// Options for a download that is written to a descriptor, in order.
public struct StreamOptions: Sendable, Hashable {
    /// The smallest window, in bytes.
    public static let smallestWindow = StreamOutput.smallestWindow
    /// The number of bytes that may be downloaded ahead of the reader; at least ``smallestWindow``.
    ///
    /// The window bounds the memory that the stream uses.
    public var window: Int64 = 64 << 20

    /// Options that a newer version stored and that this version does not know.
    var unknown: [String: CodedValue] = [:]

    /// Creates the default options.
    public init() {}
}
