// Assembly: one file from its first byte to its name. It knows in which order part, manifest, digests and
// publishing follow each other, and what may stand at a destination; it never knows a server or a socket.

/// One file being put together: `NAME.part`, its manifest, and what follows them.
///
/// Opened and finished on any thread, in between used by the loop thread only: whoever holds it
/// passes it on with a message. `interrupt` alone may be called from any thread at any time.
package final class Assembly: @unchecked Sendable {
    // Unchecked, because ownership moves from thread to thread as said above.

    let request: Request
    let file: PartialFile
    private(set) var recorder: Recorder
    /// What the whole file must have, each once.
    let expected: [Digest]
    let follower: DigestFollower?
    private var verifier: ExtentVerifier?
    private var writers = OpenWriters()
    private var isStopped = false
    private let isInterrupted = Monitor(false)

    /// What is on the disk, recorded and checked.
    package private(set) var recorded = ExtentMap()
    /// An earlier run's extents that are not checked yet, by their offset.
    package private(set) var unverified: [Int64: Extent]
    /// Why an earlier part was not continued, when there was one.
    package let startedOver: StartOverReason?
    /// `errno` of fallocate(2), where the file system cannot reserve space.
    package let allocationProblem: Int32?

    /// Opens or creates the part, takes its lock, decides whether an earlier run is continued,
    /// writes the manifest, and reserves the space.
    ///
    /// May block on the disk.
    ///
    /// - Throws: `AssemblyError`; what stood there is left as it was.
    package init(_ request: Request) throws(AssemblyError) {
        let opened = try OpenedPart(request)
        let file = opened.file
        self.request = request
        self.file = file
        startedOver = opened.startedOver
        allocationProblem = opened.allocationProblem
        unverified = Dictionary(
            uniqueKeysWithValues: opened.extents.map { ($0.range.start, $0) })
        expected = (request.expected + opened.journal.header.required).distinct
        let follower = DigestFollower(
            file: file, algorithms: Set(expected.map(\.algorithm)),
            diskPriority: request.checkPriority)
        self.follower = follower
        // What others have in the page cache is worth more than all of a very large file.
        var forgettable: (@Sendable () -> Int64)?
        if request.identity.size ?? 0 >= physicalMemory() / 4 {
            forgettable = { follower?.position ?? .max }
        }
        recorder = Recorder(opened.journal, of: file, forgettable: forgettable)
    }

    deinit { stopThreads() }

    /// Path of the finished file.
    package var destination: String { file.folder.path(of: request.name) }
    /// Path of the part.
    package var partPath: String { file.path }
    /// Tells this part from others that are made for the same file.
    package var generation: String { recorder.journal.header.generation }
    /// Whether the part has got its name.
    package var isPublished: Bool { (try? file.stands(at: request.name)) == true }
    /// Bytes that a later run can build on: recorded, or still to be checked.
    package var bytesKept: Int64 {
        recorded.covered.count + unverified.values.reduce(0) { $0 + $1.range.count }
    }
}

// MARK: - While fetching, on the loop thread

// A file takes every byte at any time.
extension Assembly: Output {
    package var writtenPath: String { partPath }
    package var recordThreshold: Int64 { Self.usualRecordThreshold }
    package func takeWindow() -> OutputWindow? { nil }
    package func onMove(_ body: @escaping @Sendable () -> Void) {}

    /// Bytes on the disk that are not in the manifest yet.
    package var unrecorded: Int64 { writers.unrecorded }

    package func makeWriter(at offset: Int64) -> ExtentWriter {
        writers.add(ExtentWriter(descriptor: file.descriptor, at: offset))
    }

    package func retire(_ writer: ExtentWriter) { writers.retire(writer) }

    /// Writes down what arrived since the last call: one line and one write(2) for all connections.
    ///
    /// - Throws: `partGone`, also when nothing has arrived; `io`, also when an earlier synchronization failed.
    package func record() throws(AssemblyError) {
        try recorder.checkPresence()
        let fresh = writers.takeUnrecorded()
        guard !fresh.isEmpty else { return }
        do throws(AssemblyError) {
            try recorder.append(fresh)
        } catch {
            writers.giveBack(fresh)
            throw error
        }
        for extent in fresh { recorded.add(extent) }
        follower?.advance(to: recorded.covered.front)
        try recorder.settle(recorded.extents + unverified.values)
    }

    package func startVerifying(report: @escaping @Sendable (ByteRange, _ isIntact: Bool) -> Void) {
        guard !unverified.isEmpty, verifier == nil else { return }
        let extents = unverified.values.sorted { $0.range < $1.range }
        verifier = ExtentVerifier(
            file: file, extents: extents, diskPriority: request.checkPriority
        ) { report($0.range, $1) }
    }

    /// Takes the outcome of checking an extent: it counts from now on, or must be fetched again.
    package func confirm(_ range: ByteRange, isIntact: Bool) {
        guard let extent = unverified.removeValue(forKey: range.start), isIntact else { return }
        recorded.add(extent)
        follower?.advance(to: recorded.covered.front)
    }

    /// Whether what a server sent is what stands on the disk.
    ///
    /// Reads as many bytes as were sent.
    package func agrees(with sample: Extent) -> Bool {
        Assembler.isIntact(sample, in: file.descriptor)
    }
}

// MARK: - The helper threads

extension Assembly {
    package func interrupt() {
        isInterrupted.withLock { $0 = true }
        follower?.interrupt()
    }

    /// Whether `interrupt` was called.
    var wasInterrupted: Bool { isInterrupted.withLock { $0 } }

    /// Takes all writers back, and records what they have left.
    func recordAll() throws(AssemblyError) {
        writers.retireAll()
        try record()
    }

    /// Ends the check of an earlier run's extents: what it has not reported yet, it will not.
    func stopVerifying() {
        verifier?.stop()
        verifier = nil
    }

    /// Ends the helper threads.
    ///
    /// - Returns: What failed in making data durable, once.
    @discardableResult
    func stopThreads() -> AssemblyError? {
        stopVerifying()
        guard !isStopped else { return nil }
        isStopped = true
        let failure = recorder.stop()
        follower?.interrupt()
        follower?.join()
        return failure
    }
}
