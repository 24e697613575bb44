import SeggetReports
import Assembler
import Foundation
import Glibc
import Segmenter

/// The lock of a queue, which one process holds at a time (flock(2)).
///
/// It ends with the process, however that ends, and programs that it starts do not inherit it.
/// Waiting processes get it in no particular order.
package final class QueueLock: Sendable {
    /// The worker of a queue, as it has written into the lock file.
    package struct Holder: Sendable, Hashable, Codable {
        /// The process.
        package var pid: Int32
        /// The version of segget.
        package var version: String
        /// The path of its socket; `nil` if it has none.
        package var socket: String?
    }

    private let path: String
    private let descriptor: Int32

    private init(path: String, descriptor: Int32) {
        (self.path, self.descriptor) = (path, descriptor)
    }

    deinit { close(descriptor) }

    /// Takes the lock, and waits on the calling thread while another process holds it; only a
    /// worker waits for a worker.
    ///
    /// - Parameters:
    ///   - files: The queue; a missing lock file is created, with its folder.
    ///   - seconds: The longest time to wait.
    ///   - isWorker: Whether this process is recorded as the worker of the queue.
    ///   - waits: Is called once with the holder of the lock, as soon as that is known.
    /// - Returns: The lock, which is held until it is released or deallocated.
    /// - Throws: `QueueError`: `hasWorker` if a worker holds it, `busy` if another process does.
    package static func acquire(
        _ files: QueueFiles, waiting seconds: Double, isWorker: Bool,
        waits: ((QueueError) -> Void)? = nil
    ) throws(QueueError) -> QueueLock {
        // A process that tests the lock may hold it for that long.
        let deadline = monotonicSeconds() + max(seconds, 0.05)
        var waits = waits
        while true {
            if let lock = try tryAcquire(files) {
                if isWorker { try lock.announce(socket: nil) }
                return lock
            }
            // A worker keeps the lock, so a command does not wait for it.
            if !isWorker, try holder(files) != nil { throw taken(files) }
            if let tell = waits, case let error = taken(files), error.code == .hasWorker {
                tell(error)
                waits = nil
            }
            guard monotonicSeconds() < deadline else { throw taken(files) }
            usleep(10_000)
        }
    }

    /// Takes the lock if it is free.
    ///
    /// - Returns: The lock; `nil` if another process holds it.
    /// - Throws: `QueueError`, if its file cannot be used.
    package static func tryAcquire(_ files: QueueFiles) throws(QueueError) -> QueueLock? {
        try files.makeFolder()
        try QueueFiles.makePrivate(files.lock)
        let descriptor = open(files.lock, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(.open, files.lock, errno) }
        let lock = QueueLock(path: files.lock, descriptor: descriptor)
        guard try Self.lock(descriptor, LOCK_EX, files) else { return nil }
        // SQLite uses fcntl(2) locks, and a database without them would be damaged.
        var trial = Glibc.flock()
        trial.l_type = Int16(F_WRLCK)
        if fcntl(descriptor, F_GETLK, &trial) != 0, isUnsupported(errno: errno) {
            throw .withoutLocks(files.database, errno)
        }
        // The last holder may have been killed.
        try lock.write(Data())
        return lock
    }

    /// Writes into the lock file that this process is the worker.
    ///
    /// - Parameter socket: The path of its socket.
    /// - Throws: `QueueError`.
    package func announce(socket: String?) throws(QueueError) {
        do {
            let holder = Holder(pid: getpid(), version: seggetVersion, socket: socket)
            try write(try JSONEncoder().encode(holder))
        } catch {
            throw QueueError(error, path)
        }
    }

    /// Releases the lock, which must not be used afterwards.
    package func release() {
        // If this write fails, the free lock still shows that there is no worker.
        try? write(Data())
        flock(descriptor, LOCK_UN)
    }

    /// Returns the worker of a queue; `nil` if it has none.
    ///
    /// - Throws: `QueueError`, if the lock file cannot be read.
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
            // The file is empty, or just being written.
            return nil
        }
        // The text of a worker that has ended does not count.
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

    /// Takes a lock without waiting, and returns whether it did.
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
