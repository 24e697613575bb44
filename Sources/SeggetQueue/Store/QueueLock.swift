import SeggetReports
import Assembler
import Foundation
import Glibc
import Segmenter

/// The right to work a queue, which one process has at a time (flock(2)).
///
/// It ends with the process, however that ends, and no program that it starts inherits it. Nobody waits in the order
/// in which they came.
package final class QueueLock: Sendable {
    /// Who works a queue, as it says itself.
    package struct Holder: Sendable, Hashable, Codable {
        /// The process.
        package var pid: Int32
        /// The version of segget.
        package var version: String
        /// Path of the socket at which it is reached; `nil` when there is none.
        package var socket: String?
    }

    private let path: String
    private let descriptor: Int32

    private init(path: String, descriptor: Int32) {
        (self.path, self.descriptor) = (path, descriptor)
    }

    deinit { close(descriptor) }

    /// Takes the lock, and waits for it as long as another one has it, on the calling thread; but only a worker waits
    /// for a worker.
    ///
    /// - Parameters:
    ///   - files: The queue; the lock's file is made where it is missing, with its folder.
    ///   - seconds: The longest time to wait.
    ///   - isWorker: Whether this process is to be told of as the one that works the queue.
    ///   - waits: Is told who has the lock, once, as soon as that is known.
    /// - Returns: The lock, held until it is released or let go of.
    /// - Throws: `QueueError`: `hasWorker` when a worker has it, `busy` when somebody else has.
    package static func acquire(
        _ files: QueueFiles, waiting seconds: Double, isWorker: Bool,
        waits: ((QueueError) -> Void)? = nil
    ) throws(QueueError) -> QueueLock {
        // At least as long as one may have it who looks whether somebody has.
        let deadline = monotonicSeconds() + max(seconds, 0.05)
        var waits = waits
        while true {
            if let lock = try tryAcquire(files) {
                if isWorker { try lock.announce(socket: nil) }
                return lock
            }
            // A worker keeps it: whoever is none is told by it.
            if !isWorker, try holder(files) != nil { throw taken(files) }
            if let tell = waits, case let error = taken(files), error.code == .hasWorker {
                tell(error)
                waits = nil
            }
            guard monotonicSeconds() < deadline else { throw taken(files) }
            usleep(10_000)
        }
    }

    /// Takes the lock if nobody has it.
    ///
    /// - Returns: The lock; `nil` when another one has it.
    /// - Throws: `QueueError`, when its file cannot be had.
    package static func tryAcquire(_ files: QueueFiles) throws(QueueError) -> QueueLock? {
        try files.makeFolder()
        try QueueFiles.makePrivate(files.lock)
        let descriptor = open(files.lock, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(.open, files.lock, errno) }
        let lock = QueueLock(path: files.lock, descriptor: descriptor)
        guard try Self.lock(descriptor, LOCK_EX, files) else { return nil }
        // SQLite's locks are of the other kind, and a database without them would be damaged.
        var trial = Glibc.flock()
        trial.l_type = Int16(F_WRLCK)
        if fcntl(descriptor, F_GETLK, &trial) != 0, isUnsupported(errno: errno) {
            throw .withoutLocks(files.database, errno)
        }
        // Whoever had it last may have been killed.
        try lock.write(Data())
        return lock
    }

    /// Says in the lock's file that this process works the queue, and where it is reached.
    ///
    /// - Parameter socket: Path of its socket.
    /// - Throws: `QueueError`.
    package func announce(socket: String?) throws(QueueError) {
        do {
            let holder = Holder(pid: getpid(), version: seggetVersion, socket: socket)
            try write(try JSONEncoder().encode(holder))
        } catch {
            throw QueueError(error, path)
        }
    }

    /// Lets go of it; after that it is not to be used again.
    package func release() {
        // Who had it is nobody's business any more; if that cannot be written, the lock says so by itself.
        try? write(Data())
        flock(descriptor, LOCK_UN)
    }

    /// The worker of a queue; `nil` when it has none.
    ///
    /// - Throws: `QueueError`, when the lock's file cannot be read.
    package static func holder(_ files: QueueFiles) throws(QueueError) -> Holder? {
        let descriptor = open(files.lock, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOENT || errno == ENOTDIR else {
                throw .system(.open, files.lock, errno)
            }
            return nil
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count >= 0 else { throw .system(.read, files.lock, errno) }
        guard let holder = try? JSONDecoder().decode(Holder.self, from: Data(bytes[..<count]))
        else {
            // Empty, or just being written.
            return nil
        }
        // What a worker wrote that is there no more holds for nobody.
        guard try !lock(descriptor, LOCK_SH, files) else { return nil }
        return holder
    }

    private static func taken(_ files: QueueFiles) -> QueueError {
        guard let holder = try? holder(files) else {
            return QueueError(.heldByCommand(files.database))
        }
        return QueueError(
            .hasWorker(files.database, pid: holder.pid, version: holder.version))
    }

    /// Whether a lock could be had at once.
    private static func lock(
        _ descriptor: Int32, _ kind: Int32, _ files: QueueFiles
    ) throws(QueueError) -> Bool {
        while flock(descriptor, kind | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK: return false
            case let code where isUnsupported(errno: code):
                throw .withoutLocks(files.database, code)
            default: throw .system(.lock, files.lock, errno)
            }
        }
        return true
    }

    private func write(_ data: Data) throws(QueueError) {
        let written = data.withUnsafeBytes { bytes in
            bytes.isEmpty ? 0 : pwrite(descriptor, bytes.baseAddress, bytes.count, 0)
        }
        guard written == data.count, ftruncate(descriptor, off_t(data.count)) == 0 else {
            throw .system(.write, path, errno)
        }
    }
}
