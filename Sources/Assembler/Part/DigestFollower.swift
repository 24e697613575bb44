import Crypto
import Glibc

/// A digest that is fed piece by piece.
struct StreamingDigest {
    private let algorithm: DigestAlgorithm
    private var hash: any HashFunction

    /// `nil` for CRC-32, which the extents give without reading.
    init?(_ algorithm: DigestAlgorithm) {
        switch algorithm {
        case .sha256: hash = SHA256()
        case .sha512: hash = SHA512()
        case .sha1: hash = Insecure.SHA1()
        case .md5: hash = Insecure.MD5()
        case .crc32: return nil
        }
        self.algorithm = algorithm
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) { hash.update(bufferPointer: bytes) }

    func finish() -> Digest? { Digest(algorithm, Array(hash.finalize())) }
}

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

    /// Bytes that are read at once.
    private static let step = 256 << 10

    private let monitor = Monitor(State())
    private let file: PartialFile
    private let thread: OwnedThread

    /// Starts hashing `file`; `nil` when none of the algorithms needs its bytes.
    init?(file: PartialFile, algorithms: Set<DigestAlgorithm>) {
        let digests = algorithms.sorted { $0.rawValue < $1.rawValue }
            .compactMap { StreamingDigest($0) }
        guard !digests.isEmpty else { return nil }
        self.file = file
        let monitor = monitor
        thread = OwnedThread(name: "digest") {
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
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: step, alignment: 4096)
        defer { buffer.deallocate() }
        var position: Int64 = 0
        while true {
            let at = position
            let now = monitor.wait { state in
                state.position = at
                return state.stop || state.front > at || state.end == at ? state : nil
            }
            guard let now, !now.stop else { return .success([]) }
            guard now.front > position else { return .success(digests.compactMap { $0.finish() }) }
            let wanted = UnsafeMutableRawBufferPointer(
                rebasing: buffer[..<Int(min(Int64(step), now.front - position))])
            guard let count = readFully(file.descriptor, into: wanted, at: position) else {
                return .failure(file.failure("pread"))
            }
            guard count == wanted.count else {
                return .failure(.io(operation: "pread", path: file.path, errno: ENODATA))
            }
            for index in digests.indices { digests[index].update(UnsafeRawBufferPointer(wanted)) }
            position += Int64(count)
        }
    }
}
