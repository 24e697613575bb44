/// Hashes a file behind the front of what has arrived, on a thread of its own, while the rest is
/// still being fetched: the bytes come from the page cache, and no second pass is needed.
final class DigestFollower: Sendable {
    private struct State: Sendable {
        /// Bytes 0..<front may be hashed.
        var front: Int64 = 0
        /// Bytes 0..<position have been hashed.
        var position: Int64 = 0
        /// Length of the file, once it is known that no more will come.
        var end: Int64?
        var stop = false
        var outcome: Result<[Digest], AssemblyError>?
    }

    private let monitor = Monitor(State())
    private let file: PartialFile
    private let thread: OwnedThread

    /// Starts hashing `file`; `nil` when none of the algorithms needs its bytes.
    init?(
        file: PartialFile, algorithms: Set<DigestAlgorithm>, diskPriority: DiskPriority = .normal
    ) {
        let digests = algorithms.sorted { $0.rawValue < $1.rawValue }
            .compactMap { StreamingDigest($0) }
        guard !digests.isEmpty else { return nil }
        self.file = file
        let monitor = monitor
        thread = OwnedThread(name: "digest", diskPriority: diskPriority) {
            let outcome = Self.run(file: file, monitor: monitor, digests: digests)
            monitor.withLock { $0.outcome = outcome }
        }
    }

    /// Lets the digest go on up to `front`, which never goes back.
    func advance(to front: Int64) { monitor.withLock { $0.front = front } }

    /// Bytes before this have been hashed, and are not read again; any thread may ask.
    var position: Int64 { monitor.withLock { $0.position } }

    /// Ends the thread without a result; any thread may call this.
    func interrupt() { monitor.withLock { $0.stop = true } }

    /// Waits for the thread's end.
    func join() { thread.join() }

    /// Waits until all `size` bytes are hashed.
    ///
    /// - Returns: The digests, or `nil` when `interrupt` was called.
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
