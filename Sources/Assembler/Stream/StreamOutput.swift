// Stream: a download that goes out in order through a descriptor, and one that goes nowhere. It knows the
// reader's pace and its own memory; it never knows a file's name, a manifest or a resumed part.

import Glibc

/// A download that goes out in order through a descriptor, while it is fetched out of order.
///
/// What has arrived waits in memory until what is before it has gone out. The memory is a window of
/// the file: what lies behind the window cannot be taken yet. Nothing is kept on any disk.
///
/// Used as `Output` says; any thread may ask what has been written.
package final class StreamOutput: Output, @unchecked Sendable {
    // Unchecked, because ownership moves from thread to thread as `Output` says.

    /// What a download wants of its stream.
    package struct Request: Sendable {
        /// Where it goes; a duplicate is used.
        package var descriptor: Int32
        /// What the server offers.
        package var identity: RemoteIdentity
        /// The digests that are expected of it.
        package var expected: [Digest]
        /// Bytes that may be fetched ahead of what has gone out, at least `smallestWindow`.
        package var window: Int64
        /// Why what an earlier attempt had fetched is dropped.
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

    /// The smallest window, in bytes: several pieces of what libcurl hands over, and of what is held
    /// back for a digest.
    package static let smallestWindow: Int64 = 256 << 10

    /// The version that goes out.
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
    /// - Throws: `io`, when the descriptor is not open or the memory cannot be had.
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
                window: window
            ).run()
        }
    }

    deinit { end() }

    /// The path that a descriptor of this process has for everybody.
    package static func path(of descriptor: Int32) -> String {
        descriptor == STDOUT_FILENO ? "/dev/stdout" : "/dev/fd/\(descriptor)"
    }

    /// Bytes that have gone out; any thread may ask.
    package var bytesWritten: Int64 { monitor.withLock { $0.written } }

    /// Forgets what has arrived beyond the front of contiguous data: one stream brings all of it.
    package func forgetBeyondFront() {
        let front = recorded.covered.front
        var kept = ExtentMap()
        for extent in recorded.extents where extent.range.end <= front { kept.add(extent) }
        recorded = kept
    }

    // MARK: While fetching, on the loop thread

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

    // MARK: The end, on any thread

    package func interrupt() { monitor.withLock { $0.isStopped = true } }

    /// Stops writing, wherever the stream is; what has not gone out is dropped.
    package func stop() { end() }

    package func publish(
        size: Int64, keeping: RangeSet? = nil, onVerified: () -> Void, isCurrent: () -> Bool
    ) throws(AssemblyError) -> PublishedFile? {
        defer { end() }
        try record()
        guard let crc = recorded.combinedCRC(size: size) else {
            preconditionFailure("published before all \(size) bytes had arrived")
        }
        // What has gone out cannot be taken back, but its reader does not hear that this was all.
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
