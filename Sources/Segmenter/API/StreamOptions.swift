import Assembler

/// How a file goes to a descriptor, in order.
public struct StreamOptions: Sendable, Hashable {
    /// The smallest window, in bytes.
    public static let smallestWindow = StreamOutput.smallestWindow
    /// Bytes that may be fetched ahead of what has been written, and so the memory that it takes;
    /// at least ``smallestWindow``.
    public var window: Int64 = 64 << 20

    /// What a newer version stored beside these.
    var unknown: [String: CodedValue] = [:]

    /// Makes the default options.
    public init() {}
}
