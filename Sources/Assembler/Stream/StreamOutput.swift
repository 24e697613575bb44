// Stream: an output that writes in order to a descriptor, and one that discards the bytes. This
// folder knows the reader's speed and its own memory. It never knows a file name, a manifest or a
// resumed part.

import Glibc

/// An output that writes to a descriptor in order, while the bytes arrive out of order.
///
/// Bytes wait in memory until all bytes before them are written. The memory holds a window of the
/// file; bytes beyond the window cannot be accepted yet. Nothing is stored on a disk.
///
/// `Output` defines which threads may use it; any thread may read `bytesWritten`.
package final class StreamOutput: Output, @unchecked Sendable {
    // Unchecked: ownership moves between threads as `Output` documents.

    /// The parameters of a stream.
    package struct Request: Sendable {
        /// The descriptor to write to; it is duplicated.
        package var descriptor: Int32
        /// The version that the server offers.
        package var identity: RemoteIdentity
        /// The digests that the stream must have.
        package var expected: [Digest]
        /// The number of bytes that may be requested beyond the written ones; at least
        /// `smallestWindow`.
        package var window: Int64
        /// The reason why the bytes of an earlier attempt are discarded.
        package var startedOver: StartOverReason?

        package init(
            descriptor: Int32, identity: RemoteIdentity, expected: [Digest], window: Int64,
            startedOver: StartOverReason? = nil
        ) {
            self.descriptor = descriptor
            self.identity = identity
            self.expected = expected
            self.window = window
            self.startedOver = startedOver
        }
    }

    /// The smallest window, in bytes.
    ///
    /// This window holds several of libcurl's buffers, and several times the bytes that are held
    /// back for a digest.
    package static let smallestWindow: Int64 = 256 << 10

    /// The version that is written.
    package let identity: RemoteIdentity
    package let destination: String
    package let startedOver: StartOverReason?
    package let recordThreshold: Int64
    package private(set) var recorded = ExtentMap()
    private let window: Int64
    private let capacity: Int64
    private let ring: RingBuffer
    private let monitor = Monitor(StreamDelivery.State())
    private let thread: OwnedThread
    private var isJoined = false
    private var writers = OpenWriters()

    /// Reserves memory for the window, and starts the thread that writes.
    ///
    /// - Throws: `io`, if the descriptor is not open or the memory is not available.
    package init(_ request: Request) throws(AssemblyError) {
        let path = Self.path(of: request.descriptor)
        let window = max(request.window, Self.smallestWindow)
        capacity = max(1, min(window, request.identity.size ?? window))
        guard let descriptor = StreamDescriptor(duplicating: request.descriptor) else {
            throw .io(operation: "dup", path: path, errno: errno)
        }
        guard let ring = RingBuffer(capacity: capacity) else {
            throw .io(operation: "mmap", path: path, errno: errno)
        }
        self.window = window
        self.ring = ring
        identity = request.identity
        startedOver = request.startedOver
        destination = path
        recordThreshold = min(Self.usualRecordThreshold, window / 16)
        thread = OwnedThread(name: "output") { [monitor] in
            StreamDelivery(
                descriptor, path: path, ring: ring, monitor: monitor, expected: request.expected,
                size: request.identity.size, window: window
            ).run()
        }
    }

    deinit { end() }

    /// Returns the conventional path of a descriptor: `/dev/stdout` or `/dev/fd/N`.
    package static func path(of descriptor: Int32) -> String {
        descriptor == STDOUT_FILENO ? "/dev/stdout" : "/dev/fd/\(descriptor)"
    }

    /// The number of bytes that were written; any thread may read this.
    package var bytesWritten: Int64 { monitor.withLock { $0.written } }

    /// Discards the bytes beyond the contiguous ones, because a single response will deliver all of
    /// them.
    package func forgetBeyondFront() {
        let front = recorded.covered.front
        var kept = ExtentMap()
        for extent in recorded.extents where extent.range.end <= front { kept.add(extent) }
        recorded = kept
    }

    // MARK: During the download, on the loop thread

    package var writtenPath: String { destination }
    package var bytesKept: Int64 { 0 }
    package var unverified: [Int64: Extent] { [:] }

    package var unrecorded: Int64 { writers.unrecorded }

    package func takeWindow() -> OutputWindow? {
        let written = monitor.withLock { $0.written }
        ring.limit = written + capacity
        return OutputWindow(
            limit: ring.limit, size: window,
            isBehind: recorded.covered.front - written >= window / 2)
    }

    package func makeWriter(at offset: Int64) -> ExtentWriter {
        writers.add(ExtentWriter(ring: ring, at: offset, front: recorded.covered.front))
    }

    package func retire(_ writer: ExtentWriter) { writers.retire(writer) }

    package func record() throws(AssemblyError) {
        for extent in writers.takeUnrecorded() { recorded.add(extent) }
        let front = recorded.covered.front
        let outcome = monitor.withLock { state in
            state.front = front
            return state.outcome
        }
        if case .failure(let error)? = outcome { throw error }
    }

    package func startVerifying(
        report: @escaping @Sendable (ByteRange, _ isIntact: Bool) -> Void
    ) {}

    package func confirm(_ range: ByteRange, isIntact: Bool) {}

    package func onMove(_ body: @escaping @Sendable () -> Void) {
        monitor.withLock { $0.onMove = body }
    }

    // MARK: Finishing, on any thread

    package func interrupt() { monitor.withLock { $0.isStopped = true } }

    /// Stops writing immediately; bytes that were not written are discarded.
    package func stop() { end() }

    package func publish(
        size: Int64, keeping: RangeSet? = nil, onVerified: () -> Void, isCurrent: () -> Bool
    ) throws(AssemblyError) -> PublishedFile? {
        defer { end() }
        try record()
        guard let crc = recorded.combinedCRC(size: size) else {
            preconditionFailure("published before all \(size) bytes had arrived")
        }
        // Written bytes cannot be recalled, but the end of the stream is not delivered.
        guard isCurrent() else { return nil }
        monitor.withLock { $0.end = .init(size: size, crc: crc) }
        let isVerified = monitor.wait { state -> Bool? in
            state.isVerified || state.isStopped || state.outcome != nil ? state.isVerified : nil
        }
        if isVerified == true { onVerified() }
        _ = monitor.wait { $0.outcome != nil || $0.isStopped ? true : nil }
        end()
        guard let verified = try monitor.withLock({ $0.outcome })?.get() else { return nil }
        return PublishedFile(path: destination, size: size, crc32: crc, verified: verified)
    }

    private func end() {
        guard !isJoined else { return }
        isJoined = true
        interrupt()
        thread.join()
    }
}
