// Assembly: one file from its first byte until it is published. Defines the order of the steps for
// the part, manifest and digests, and checks the destination. Does not use servers or sockets.

/// A file that is being downloaded: `NAME.part`, its manifest, its digests and its publication.
///
/// Any thread may open and finish an assembly. In between, only the loop thread uses it; a message
/// transfers its ownership. Only `interrupt` may be called from any thread at any time.
package final class Assembly: @unchecked Sendable {
    // Unchecked, because messages transfer the ownership between threads, as described above.

    let request: Request
    let file: PartialFile
    private(set) var recorder: Recorder
    /// The expected digests of the whole file, without duplicates.
    let expected: [Digest]
    let follower: DigestFollower?
    private var verifier: ExtentVerifier?
    private var writers = OpenWriters()
    private var isStopped = false
    private let isInterrupted = Monitor(false)

    /// The extents that are recorded in the manifest and verified.
    package private(set) var recorded = ExtentMap()
    /// An earlier run's extents that are not verified yet, by their offset.
    package private(set) var unverified: [Int64: Extent]
    /// The reason why an earlier part was not continued, if there was one.
    package let startedOver: StartOverReason?
    /// The `errno` of fallocate(2) if the file system cannot reserve space.
    package let allocationProblem: Int32?

    /// Opens or creates the part, takes its lock, decides whether an earlier run is continued,
    /// writes the manifest, and reserves the space.
    ///
    /// May block on the disk.
    ///
    /// - Throws: `AssemblyError`; existing files remain unchanged.
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
        // Drop a very large file from the page cache: other files' pages are more useful there.
        var forgettable: (@Sendable () -> Int64)?
        if request.identity.size ?? 0 >= physicalMemory() / 4 {
            forgettable = { follower?.position ?? .max }
        }
        recorder = Recorder(opened.journal, of: file, forgettable: forgettable)
    }

    deinit { stopThreads() }

    /// The path of the finished file.
    package var destination: String { file.folder.path(of: request.name) }
    /// The path of the part.
    package var partPath: String { file.path }
    /// The random number that distinguishes this part from other parts of the same file.
    package var generation: String { recorder.journal.header.generation }
    /// Whether the part has been renamed to the destination.
    package var isPublished: Bool { (try? file.stands(at: request.name)) == true }
    /// The number of bytes that a later run can keep: recorded, or not verified yet.
    package var bytesKept: Int64 {
        recorded.covered.count + unverified.values.reduce(0) { $0 + $1.range.count }
    }
}

// MARK: - During the download, on the loop thread

// A file accepts bytes at any offset and time, so it needs no window.
extension Assembly: Output {
    package var writtenPath: String { partPath }
    package var recordThreshold: Int64 { Self.usualRecordThreshold }
    package func takeWindow() -> OutputWindow? { nil }
    package func onMove(_ body: @escaping @Sendable () -> Void) {}

    /// The number of written bytes that the manifest does not record yet.
    package var unrecorded: Int64 { writers.unrecorded }

    package func makeWriter(at offset: Int64) -> ExtentWriter {
        writers.add(ExtentWriter(descriptor: file.descriptor, at: offset))
    }

    package func retire(_ writer: ExtentWriter) { writers.retire(writer) }

    /// Records the bytes received since the last call.
    ///
    /// Writes one line with one write(2) for all connections.
    ///
    /// - Throws: `partGone`, even if no bytes arrived; `io`, also if an earlier synchronization
    ///   failed.
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

    /// Records an intact extent; drops a damaged one, so that it is downloaded again.
    package func confirm(_ range: ByteRange, isIntact: Bool) {
        guard let extent = unverified.removeValue(forKey: range.start), isIntact else { return }
        recorded.add(extent)
        follower?.advance(to: recorded.covered.front)
    }

    /// Returns whether the bytes on the disk equal a server's sample.
    ///
    /// Reads as many bytes as the sample has.
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

    /// Retires all writers and records their remaining bytes.
    func recordAll() throws(AssemblyError) {
        writers.retireAll()
        try record()
    }

    /// Stops verifying an earlier run's extents; no further outcomes are reported.
    func stopVerifying() {
        verifier?.stop()
        verifier = nil
    }

    /// Stops the helper threads.
    ///
    /// - Returns: The error that kept data from becoming durable; only the first call returns it.
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
