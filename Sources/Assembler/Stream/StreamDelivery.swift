import Glibc

/// Writes a stream in order on a separate thread, and computes its digests.
///
/// If a digest is expected, the last bytes are written only after the comparison. A reader
/// therefore never receives the end of a wrong stream.
final class StreamDelivery {
    /// The state that the output's thread shares with other threads.
    struct State: Sendable {
        /// The size and CRC-32 of the file, set when all of its bytes are in memory.
        struct End: Sendable {
            /// The size of the file in bytes.
            var size: Int64
            /// The CRC-32 of the whole file.
            var crc: UInt32
        }

        /// The end of the contiguous bytes from 0 that have arrived.
        var front: Int64 = 0
        /// The end of the bytes from 0 that were written.
        var written: Int64 = 0
        var end: End?
        var isStopped = false
        /// Whether all expected digests match; also true if none is expected.
        var isVerified = false
        /// The digests that matched, or the error.
        var outcome: Result<[Digest], AssemblyError>?
        /// Called when `written` has advanced far enough, and when the delivery ends.
        var onMove: (@Sendable () -> Void)?
    }

    private enum Action: Sendable {
        case stop
        case deliver(upTo: Int64)
        case finish(State.End)
    }

    /// The maximum number of bytes that are hashed and written at a time; written bytes free
    /// memory.
    private static let longestPiece: Int64 = 256 << 10
    /// The maximum number of bytes that are held back until the digest is verified.
    private static let heldBack: Int64 = 64 << 10
    /// The maximum time until a stop is noticed while the reader blocks, in milliseconds.
    private static let patience: Int32 = 50

    private let descriptor: StreamDescriptor
    private let path: String
    private let ring: RingBuffer
    private let monitor: Monitor<State>
    private let expected: [Digest]
    private let reserve: Int64
    private let quantum: Int64
    private var digests: [StreamingDigest]
    private var position: Int64 = 0
    private var hashed: Int64 = 0
    private var reported: Int64 = 0

    init(
        _ descriptor: StreamDescriptor, path: String, ring: RingBuffer, monitor: Monitor<State>,
        expected: [Digest], size: Int64?, window: Int64
    ) {
        self.descriptor = descriptor
        self.path = path
        self.ring = ring
        self.monitor = monitor
        self.expected = expected
        reserve = expected.isEmpty ? 0 : min(Self.heldBack, window / 4)
        quantum = window / 16
        digests = Set(expected.map(\.algorithm)).compactMap {
            StreamingDigest($0, size: size)
        }
    }

    /// Runs until the end of the stream, an error or a stop.
    func run() {
        // Report a closed pipe as an error, regardless of how the process handles SIGPIPE.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        while true {
            let (position, reserve) = (position, reserve)
            let step = monitor.wait { state -> Action? in
                if state.isStopped { return .stop }
                if let end = state.end { return .finish(end) }
                let ready = state.front - reserve
                return ready > position ? .deliver(upTo: ready) : nil
            }
            switch step {
            case .stop?, nil: return
            case .deliver(let end)?:
                guard deliver(upTo: end) else { return }
            case .finish(let end)?:
                finish(end)
                return
            }
        }
    }

    private func finish(_ end: State.End) {
        while hashed < end.size { hash(ring.piece(hashed, end.size)) }
        let computed = digests.compactMap { $0.finish() } + [Digest(crc32: end.crc)]
        // git's SHA-1 of a stream without a known size cannot be computed.
        let open = expected.first { computed.first(of: $0.algorithm) == nil }
            .map { (expected: $0, actual: Digest(crc32: end.crc)) }
        if let (digest, actual) = expected.mismatch(with: computed) ?? open {
            conclude(.failure(.streamDigestMismatch(expected: digest, actual: actual, path: path)))
            return
        }
        monitor.withLock { $0.isVerified = true }
        guard deliver(upTo: end.size) else { return }
        conclude(.success(expected.distinct))
    }

    private func hash(_ bytes: UnsafeRawBufferPointer) {
        for index in digests.indices { digests[index].update(bytes) }
        hashed += Int64(bytes.count)
    }

    /// Writes the bytes up to `end`, and hashes those that are not hashed yet.
    ///
    /// - Returns: Whether to continue.
    private func deliver(upTo end: Int64) -> Bool {
        while position < end {
            let piece = ring.piece(position, min(end, position + Self.longestPiece))
            if hashed == position { hash(piece) }
            guard write(piece) else { return false }
        }
        return true
    }

    private func write(_ piece: UnsafeRawBufferPointer) -> Bool {
        var rest = piece
        while let base = rest.baseAddress, !rest.isEmpty {
            let count = descriptor.write(base, rest.count)
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN {
                descriptor.isWritable(within: Self.patience)
                if monitor.withLock({ $0.isStopped }) { return false }
                continue
            }
            guard count > 0 else {
                let code = count < 0 ? errno : EIO
                let isGone = code == EPIPE || code == ECONNRESET
                conclude(
                    .failure(
                        isGone
                            ? .readerGone(path: path)
                            : .io(operation: "write", path: path, errno: code)))
                return false
            }
            position += Int64(count)
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            guard moved() else { return false }
        }
        return true
    }

    /// Publishes the write position, and calls `onMove` if it has advanced far enough.
    ///
    /// - Returns: Whether to continue.
    private func moved() -> Bool {
        let (position, quantum, reported) = (position, quantum, reported)
        let reserve = reserve
        let (isStopped, onMove) = monitor.withLock { state in
            state.written = position
            let isDue = position - reported >= quantum || position >= state.front - reserve
            return (state.isStopped, isDue ? state.onMove : nil)
        }
        if let onMove {
            self.reported = position
            onMove()
        }
        return !isStopped
    }

    private func conclude(_ outcome: Result<[Digest], AssemblyError>) {
        let onMove = monitor.withLock { state in
            state.outcome = outcome
            return state.onMove
        }
        onMove?()
    }
}
