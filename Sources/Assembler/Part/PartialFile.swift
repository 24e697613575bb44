// Part: the file that the bytes are written to, and the threads that follow it: they hash it, check what an
// earlier run has left, and make it and its manifest durable. It never knows a server, nor the finished file.

import CLinux
import Glibc

/// The file `NAME.part`: open, locked, and ours until it is published or closed.
///
/// Any thread may read it; only the loop thread writes.
package final class PartialFile: Sendable {
    /// The folder that it stands in.
    let folder: Folder
    /// Its name in the folder.
    let name: String
    /// The open descriptor, for pwrite(2) and pread(2).
    package let descriptor: Int32
    /// Which file it is.
    let identity: FileIdentity
    /// Its length when it was opened, in bytes; `nil` when it was created.
    let initialSize: Int64?

    /// Its path, for messages.
    package var path: String { folder.path(of: name) }

    /// Opens or creates the part and takes its lock.
    ///
    /// The lock is flock(2)'s, on the open file: a second process on the same destination fails, and
    /// the kernel lets go of it however this one ends. After locking, what stands at the name is
    /// compared with what was opened: another process may have published or replaced it meanwhile.
    ///
    /// - Throws: `busy`, `notARegularFile`, `cannotCreate`, `io`.
    init(folder: Folder, name: String) throws(AssemblyError) {
        self.folder = folder
        self.name = name
        let path = folder.path(of: name)
        while true {
            var isNew = false
            var opened = folder.open(name, O_RDWR)
            if opened == nil, errno == ENOENT {
                isNew = true
                opened = folder.open(name, O_RDWR | O_CREAT | O_EXCL)
                if opened == nil, errno == EEXIST { continue }
            }
            guard let descriptor = opened else {
                if errno == ELOOP || errno == EISDIR || errno == ENXIO {
                    throw .notARegularFile(path: path)
                }
                throw .cannotCreate(path: path, errno: errno)
            }
            let status: FileStatus
            let there: FileStatus?
            do throws(AssemblyError) {
                status = try FileStatus(of: descriptor, path)
                guard status.isRegular else { throw .notARegularFile(path: path) }
                guard try folder.trusts(status) else { throw .foreignPart(path: path) }
                guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                    if errno == EWOULDBLOCK { throw .busy(path: path) }
                    throw .io(operation: "flock", path: path, errno: errno)
                }
                there = try folder.status(of: name)
            } catch {
                close(descriptor)
                // Where it is busy, somebody else has taken it between our two calls.
                if isNew, error != .busy(path: path) { try? folder.remove(name) }
                throw error
            }
            if there?.identity == status.identity {
                self.descriptor = descriptor
                identity = status.identity
                initialSize = isNew ? nil : status.size
                return
            }
            close(descriptor)
        }
    }

    deinit { close(descriptor) }

    /// Checks that the file system has room for what the file still needs to be `size` bytes long.
    ///
    /// - Throws: `noSpace`, `io`.
    func checkSpace(for size: Int64) throws(AssemblyError) {
        let status = try FileStatus(of: descriptor, path)
        try folder.checkSpace(for: size - min(size, status.allocated), path: path)
    }

    /// Lets go of the lock, when nothing will be written any more.
    ///
    /// The last reference may be some other thread's that is about to end: that must not decide
    /// when the next run can open the part.
    func unlock() { _ = flock(descriptor, LOCK_UN) }

    /// Provides for `size` bytes as `allocation` says; what is behind them is cut off.
    ///
    /// - Returns: The `errno` of fallocate(2), where the file system does not know it.
    /// - Throws: `noSpace` before anything is written, `io`.
    @discardableResult
    func preallocate(
        _ size: Int64, _ allocation: FileAllocation = .auto
    ) throws(AssemblyError) -> Int32? {
        let status = try FileStatus(of: descriptor, path)
        if status.size > size, ftruncate(descriptor, off_t(size)) != 0 {
            throw failure("ftruncate")
        }
        guard size > 0, allocation != .none else { return nil }
        guard allocation == .falloc || allocation == .auto && !folder.isInMemory else {
            guard ftruncate(descriptor, off_t(size)) == 0 else { throw failure("ftruncate") }
            return nil
        }
        while segget_fallocate(descriptor, off_t(size)) != 0 {
            switch errno {
            case EINTR: continue
            case EOPNOTSUPP, ENOSYS, EINVAL:
                let error = errno
                guard ftruncate(descriptor, off_t(size)) == 0 else { throw failure("ftruncate") }
                return error
            case ENOSPC, EDQUOT:
                // Give back what was reserved before the space ran out.
                let error = errno
                _ = ftruncate(descriptor, off_t(status.size))
                guard error == ENOSPC else {
                    throw .io(operation: "fallocate", path: path, errno: error)
                }
                throw .noSpace(
                    path: path, needed: size - min(size, status.allocated),
                    free: folder.freeBytes() ?? 0)
            default: throw failure("fallocate")
            }
        }
        return nil
    }

    /// Takes from others what an earlier run's part may have come to allow them meanwhile.
    ///
    /// That it cannot be done, to another user's part or where there are no modes, is fine.
    func makePrivate() { _ = fchmod(descriptor, 0o600) }

    /// Gives the finished file the mode that the umask leaves, and the server's time.
    ///
    /// - Parameters:
    ///   - modified: Seconds since 1970, `nil` to leave the time of writing.
    ///   - umask: File mode creation mask; `nil` for the process's.
    /// - Throws: `io`.
    func finishAttributes(modified: Int64?, umask: UInt32? = nil) throws(AssemblyError) {
        let mask = umask.map { mode_t($0) } ?? processUmask()
        guard fchmod(descriptor, 0o666 & ~mask) == 0 else { throw failure("fchmod") }
        guard let modified else { return }
        guard segget_set_modified(descriptor, modified) == 0 else { throw failure("futimens") }
    }

    /// Makes data and metadata durable.
    func sync() throws(AssemblyError) {
        guard fsync(descriptor) == 0 else { throw distrusted("fsync") }
    }

    /// Makes data durable.
    func syncData() throws(AssemblyError) {
        guard fdatasync(descriptor) == 0 else { throw distrusted("fdatasync") }
    }

    /// Has the kernel begin to write what it holds, and waits for nothing (sync_file_range(2)).
    ///
    /// What makes the data durable later finds little left to do, and reports failures.
    func startWriteback() { _ = segget_start_writeback(descriptor) }

    /// Lets go of the page cache's copy of what is durable, before `end` (posix_fadvise(2)).
    func forget(upTo end: Int64) {
        // A length of 0 is everything.
        if end > 0 { posix_fadvise(descriptor, 0, off_t(end), POSIX_FADV_DONTNEED) }
    }

    /// The failure of a synchronization.
    ///
    /// The kernel now takes what it could not write for clean, and says so to nobody again. A later
    /// run has to see what the disk really holds, and finds what is lost by its CRC-32.
    private func distrusted(_ operation: String) -> AssemblyError {
        let failure = failure(operation)
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        return failure
    }

    /// Whether the part is, as far as can be seen without reading it, what was written: it has its
    /// name and length still, and no hole.
    ///
    /// Somebody may have removed it, put another one in its place, or cut it off; where it has grown
    /// again since, by our own writing, a hole of zeros is left.
    ///
    /// - Parameters:
    ///   - size: The length that it must have.
    ///   - extents: Read and compared where there may be a hole: also a file system that compresses
    ///     has less allocated than was written.
    /// - Throws: `partChanged`, `cannotCreate`, `io`.
    func checkUntouched(size: Int64, extents: [Extent]) throws(AssemblyError) {
        let status = try FileStatus(of: descriptor, path)
        guard status.size == size, try stands(at: name),
            status.allocated >= size || extents.allSatisfy({ isIntact($0, in: descriptor) })
        else { throw .partChanged(path: path) }
    }

    /// Whether what stands at a name of its folder is this file.
    func stands(at name: String) throws(AssemblyError) -> Bool {
        try folder.status(of: name)?.identity == identity
    }

    /// What arrived of `ranges`, as extents of its own where it had been merged with others.
    func extents(_ extents: [Extent], in ranges: RangeSet) -> [Extent] {
        extents.flatMap { extent -> [Extent] in
            let parts = ranges.ranges.map { $0.intersection(extent.range) }.filter { !$0.isEmpty }
            if parts == [extent.range] { return [extent] }
            // A CRC-32 is computed anew only for bytes that are proven to be what arrived.
            guard !parts.isEmpty, isIntact(extent, in: descriptor) else { return [] }
            return parts.compactMap { part in
                crc32(of: part, in: descriptor).map { Extent(part, crc: $0) }
            }
        }
    }

    /// The failure of a call on this file, with the present `errno`.
    func failure(_ operation: String) -> AssemblyError {
        .io(operation: operation, path: path, errno: errno)
    }
}
