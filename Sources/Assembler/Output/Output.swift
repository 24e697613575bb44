// Output: what a fetch writes to, and the hot path from libcurl's buffer to the disk or to memory. It
// knows bytes and offsets; it never knows a manifest, a folder or who reads the stream.

/// Where the bytes of a download go: a file that is put together, or a stream in order.
///
/// Opened and finished on any thread, in between used by the loop thread only, but for `interrupt`.
/// Nothing here is called for each buffer: those go to the `ExtentWriter`s.
package protocol Output: AnyObject, Sendable {
    /// Path of the finished file, or of what the stream goes to.
    var destination: String { get }
    /// Path of what is written to, for messages.
    var writtenPath: String { get }
    /// Bytes that a later run can build on.
    var bytesKept: Int64 { get }
    /// Why what an earlier attempt or run left was not continued, when there was something.
    var startedOver: StartOverReason? { get }
    /// What is there, recorded and checked.
    var recorded: ExtentMap { get }
    /// An earlier run's extents that are not checked yet, by their offset.
    var unverified: [Int64: Extent] { get }
    /// Bytes that have arrived and are not recorded yet.
    var unrecorded: Int64 { get }
    /// Unrecorded bytes from which on `record` is due.
    var recordThreshold: Int64 { get }

    /// A writer for bytes from `offset` on.
    ///
    /// Nobody else may write or have written them.
    func makeWriter(at offset: Int64) -> ExtentWriter
    /// How far ahead may be written from now on; `nil` when everywhere.
    ///
    /// Room that was made is only there once it has been taken here.
    func takeWindow() -> OutputWindow?
    /// Takes a writer back; what it wrote is recorded with the next `record`.
    func retire(_ writer: ExtentWriter)
    /// Records what arrived since the last call.
    ///
    /// - Throws: `AssemblyError`, also when an earlier step on another thread failed.
    func record() throws(AssemblyError)
    /// Starts checking the unverified extents, on a thread of its own.
    ///
    /// - Parameter report: Called on that thread; must lead to `confirm` on the loop thread.
    func startVerifying(report: @escaping @Sendable (ByteRange, _ isIntact: Bool) -> Void)
    /// Takes the outcome of checking an extent.
    func confirm(_ range: ByteRange, isIntact: Bool)
    /// Has `body` called, on any thread, when the window has moved on or the output has failed.
    func onMove(_ body: @escaping @Sendable () -> Void)

    /// Makes a blocking `publish` on another thread give up; any thread may call this.
    func interrupt()
    /// Records what arrived and ends, incomplete; may block.
    func stop() throws(AssemblyError)
    /// Verifies and finishes the complete file of `size` bytes; may block.
    ///
    /// - Parameters:
    ///   - size: Length of the file in bytes; all of them have arrived.
    ///   - keeping: What is still good if a digest is wrong; `nil` when nothing is.
    ///   - onVerified: Called on this thread when the file is verified.
    ///   - isCurrent: Called on this thread as late as possible, and may wait: whether the file is still the
    ///     server's.
    /// - Returns: What was published, or `nil` after `interrupt`, or when it is not current.
    /// - Throws: `AssemblyError`: a wrong digest, or what failed on the way.
    func publish(
        size: Int64, keeping: RangeSet?, onVerified: () -> Void, isCurrent: () -> Bool
    ) throws(AssemblyError) -> PublishedFile?
}

extension Output {
    /// Unrecorded bytes from which on `record` is due, unless an output has to hear of them earlier.
    static var usualRecordThreshold: Int64 { 4 << 20 }
}

/// The part of a file that an output can take at present.
package struct OutputWindow: Sendable, Hashable {
    /// Nothing may be written at this offset or behind it.
    package var limit: Int64
    /// Most bytes between what has gone out and `limit`.
    package var size: Int64
    /// Whether the output has much to do yet: then it, not the network, is what takes the time.
    package var isBehind: Bool

    package init(limit: Int64, size: Int64, isBehind: Bool) {
        self.limit = limit
        self.size = size
        self.isBehind = isBehind
    }
}
