/// Hashes a file on a separate thread during the download.
///
/// The thread reads the contiguous bytes from the start of the file. They are still in the page
/// cache, and the file need not be read again at the end.
final class DigestFollower: Sendable {
    private struct State: Sendable {
        /// The end of the contiguous bytes from 0 that may be hashed.
        var front: Int64 = 0
        /// The end of the bytes from 0 that have been hashed.
        var position: Int64 = 0
        /// The length of the file, once all of it has arrived.
        var end: Int64?
        var stop = false
        var outcome: Result<[Digest], AssemblyError>?
    }

    private let monitor = Monitor(State())
    private let file: PartialFile
    private let thread: OwnedThread

    /// Starts hashing `file`; fails if no algorithm needs the file's bytes and can begin.
    ///
    /// `size` is the length of the complete file in bytes, `nil` if it is not known yet.
    init?(
        file: PartialFile, algorithms: Set<DigestAlgorithm>, size: Int64?,
        diskPriority: DiskPriority = .normal
    ) {
        let digests = algorithms.sorted { $0.rawValue < $1.rawValue }
            .compactMap { StreamingDigest($0, size: size) }
        guard !digests.isEmpty else { return nil }
        self.file = file
        let monitor = monitor
        thread = OwnedThread(name: "digest", diskPriority: diskPriority) {
            let outcome = Self.run(file: file, monitor: monitor, digests: digests)
            monitor.withLock { $0.outcome = outcome }
        }
    }

    /// Allows hashing up to `front`, which never decreases.
    func advance(to front: Int64) { monitor.withLock { $0.front = front } }

    /// The end of the bytes that have been hashed and are not read again; any thread may read this.
    var position: Int64 { monitor.withLock { $0.position } }

    /// Stops the thread without a result; any thread may call this.
    func interrupt() { monitor.withLock { $0.stop = true } }

    /// Waits until the thread has ended.
    func join() { thread.join() }

    /// Waits until all `size` bytes are hashed.
    ///
    /// - Returns: The digests, or `nil` after `interrupt`.
    func finish(size: Int64) throws(AssemblyError) -> [Digest]? {
        monitor.withLock {
            $0.front = size
            $0.end = size
        }
        let outcome = monitor.wait { $0.outcome }
        let digests = try outcome?.get() ?? []
        return digests.isEmpty ? nil : digests
    }

    private static func run(
        file: PartialFile, monitor: Monitor<State>, digests: [StreamingDigest]
    ) -> Result<[Digest], AssemblyError> {
        var digests = digests
        let buffer = ReadBuffer()
        var position: Int64 = 0
        while true {
            let at = position
            let now = monitor.wait { state in
                state.position = at
                return state.stop || state.front > at || state.end == at ? state : nil
            }
            guard let now, !now.stop else { return .success([]) }
            guard now.front > position else { return .success(digests.compactMap { $0.finish() }) }
            guard let bytes = buffer.read(file.descriptor, from: position, to: now.front) else {
                return .failure(file.failure("pread"))
            }
            for index in digests.indices { digests[index].update(bytes) }
            position += Int64(bytes.count)
        }
    }
}
