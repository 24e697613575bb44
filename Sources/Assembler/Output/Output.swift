// Output: the destination of a download's bytes, and the hot path from libcurl's buffer to the disk
// or to memory. This folder knows bytes and offsets. It never knows a manifest, a folder or the
// reader of a stream.

/// The destination of a download's bytes: an assembled file, or a stream in order.
///
/// Any thread may open and finish an output. In between, only the loop thread uses it, except for
/// `interrupt`. Buffers from libcurl go directly to the `ExtentWriter`s, not through this protocol.
package protocol Output: AnyObject, Sendable {
    /// The path of the finished file, or of the stream's descriptor.
    var destination: String { get }
    /// The path of the file that is being written, for messages.
    var writtenPath: String { get }
    /// The number of bytes that a later run can continue with.
    var bytesKept: Int64 { get }
    /// The reason why an earlier attempt or run was not continued; `nil` if there was none.
    var startedOver: StartOverReason? { get }
    /// The extents that are recorded and verified.
    var recorded: ExtentMap { get }
    /// The earlier run's extents that are not verified yet, by their offset.
    var unverified: [Int64: Extent] { get }
    /// The number of bytes that have arrived but are not recorded.
    var unrecorded: Int64 { get }
    /// The number of unrecorded bytes at which `record` is due.
    var recordThreshold: Int64 { get }

    /// Creates a writer for the bytes from `offset` on.
    ///
    /// No other writer may write the same bytes.
    func makeWriter(at offset: Int64) -> ExtentWriter
    /// Returns the range that may be written from now on; `nil` if it is not limited.
    ///
    /// Space that becomes free in the output may be used only after this call.
    func takeWindow() -> OutputWindow?
    /// Ends the use of a writer; the next `record` records its bytes.
    func retire(_ writer: ExtentWriter)
    /// Records the extents that arrived since the last call.
    ///
    /// - Throws: `AssemblyError`, also if an earlier step on another thread failed.
    func record() throws(AssemblyError)
    /// Starts verifying the unverified extents on a separate thread.
    ///
    /// - Parameter report: Called on that thread; must cause a call of `confirm` on the loop
    ///   thread.
    func startVerifying(report: @escaping @Sendable (ByteRange, _ isIntact: Bool) -> Void)
    /// Applies the result of verifying an extent.
    func confirm(_ range: ByteRange, isIntact: Bool)
    /// Sets a closure that any thread calls when the window has moved or the output has failed.
    func onMove(_ body: @escaping @Sendable () -> Void)

    /// Makes a blocking `publish` on another thread return; any thread may call this.
    func interrupt()
    /// Records the received bytes and closes the incomplete output; may block.
    func stop() throws(AssemblyError)
    /// Verifies and finishes the complete file of `size` bytes; may block.
    ///
    /// - Parameters:
    ///   - size: The length of the file in bytes; all of them have arrived.
    ///   - keeping: The bytes that are kept if a digest is wrong; `nil` means none.
    ///   - onVerified: Called on this thread when the file is verified.
    ///   - isCurrent: Called on this thread as late as possible, and may block. Returns whether the
    ///     server still has the same version.
    /// - Returns: The published file; `nil` after `interrupt`, or if the file is not current.
    /// - Throws: `AssemblyError`: a wrong digest, or another failure.
    func publish(
        size: Int64, keeping: RangeSet?, onVerified: () -> Void, isCurrent: () -> Bool
    ) throws(AssemblyError) -> PublishedFile?
}

extension Output {
    /// The number of unrecorded bytes at which `record` is usually due.
    static var usualRecordThreshold: Int64 { 4 << 20 }
}

/// The range of the file that an output can accept at present.
package struct OutputWindow: Sendable, Hashable {
    /// The offset from which no byte may be written.
    package var limit: Int64
    /// The maximum number of bytes between the delivered bytes and `limit`.
    package var size: Int64
    /// Whether the output has a large backlog: then it, not the network, limits the throughput.
    package var isBehind: Bool

    package init(limit: Int64, size: Int64, isBehind: Bool) {
        self.limit = limit
        self.size = size
        self.isBehind = isBehind
    }
}
