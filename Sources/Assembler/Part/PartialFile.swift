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
    private let lock: PartLock
    /// What a look showed when it was opened.
    private let firstSight: PartSight
    private let hasUnsureLinks: Bool
    private let unsynchronized = Monitor<Int32?>(nil)

    /// Its path, for messages.
    package var path: String { folder.path(of: name) }

    /// Opens or creates the part and takes its lock.
    ///
    /// With the lock, a second process on the same destination fails. After locking, what stands at the
    /// name is compared with what was opened: another process may have published or replaced it meanwhile.
    ///
    /// - Throws: `busy`, `locked`, `notARegularFile`, `cannotCreate`, `io`.
    init(folder: Folder, name: String) throws(AssemblyError) {
        self.folder = folder
        self.name = name
        let names = PartNames(part: name)
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
            let lock: PartLock
            do throws(AssemblyError) {
                status = try FileStatus(of: descriptor, path)
                guard status.isRegular else { throw .notARegularFile(path: path) }
                guard try folder.trusts(status) else { throw .foreignPart(path: path) }
                lock = try PartLock.take(descriptor, names, in: folder).get(path)
                there = try folder.status(of: name)
            } catch {
                close(descriptor)
                // Where it is busy, somebody else has taken it between our two calls.
                if isNew, !error.isOfLock { try? folder.remove(name) }
                throw error
            }
            if there?.identity == status.identity {
                self.descriptor = descriptor
                self.lock = lock
                identity = status.identity
                initialSize = isNew ? nil : status.size
                hasUnsureLinks = segget_has_unsure_links(descriptor) != 0
                firstSight = Self.look(at: name, descriptor, in: folder)
                return
            }
            lock.release()
            close(descriptor)
        }
    }

    deinit {
        // A descriptor that is closed may be another file's at once.
        lock.release()
        close(descriptor)
    }

    /// Checks that the file system has room for what the file still needs to be `size` bytes long.
    ///
    /// - Returns: Whether the file system says so: not where it reports that no byte is free.
    /// - Throws: `noSpace`, `io`.
    @discardableResult
    func checkSpace(for size: Int64) throws(AssemblyError) -> Bool {
        let status = try FileStatus(of: descriptor, path)
        return try folder.checkSpace(for: size - min(size, status.allocated), path: path)
    }

    /// Lets go of the lock, when nothing will be written any more.
    ///
    /// The last reference may be some other thread's that is about to end: that must not decide
    /// when the next run can open the part.
    func unlock() { lock.release() }

    /// Provides for `size` bytes as `allocation` says; what is behind them is cut off.
    ///
    /// - Parameters:
    ///   - size: Length of the finished file in bytes; `nil` where it is unknown.
    ///   - allocation: How the space is provided for.
    ///   - isDoubtful: Whether the file system reports that no byte is free, which may be wrong: space is reserved
    ///     or written to in any case then.
    /// - Returns: The `errno` of fallocate(2), where the file system does not know it.
    /// - Throws: `noSpace` before anything is written, `io`.
    @discardableResult
    func preallocate(
        _ size: Int64?, _ allocation: FileAllocation = .auto, isDoubtful: Bool = false
    ) throws(AssemblyError) -> Int32? {
        let status = try FileStatus(of: descriptor, path)
        let size = size ?? status.size
        if status.size > size, ftruncate(descriptor, off_t(size)) != 0 {
            throw failure("ftruncate")
        }
        let isDoubtful = isDoubtful && status.allocated < size
        let problem = try allocate(size, isDoubtful ? .falloc : allocation, status)
        // What is reserved is there.
        let mustWrite = isDoubtful && problem != nil
        if mustWrite || status.size < size || status.size == 0 {
            try tryWriting(
                mustWrite ? Self.trial : 1, from: status.size, to: size,
                keepsLength: allocation != .none)
        }
        return allocation == .falloc || allocation == .auto ? problem : nil
    }

    /// Bytes that are written where nothing can be reserved and the file system reports that none is free.
    private static let trial: Int64 = 64 << 10

    /// Writes zeros where nothing has arrived yet, and reads the last of them: file systems that only append, or whose
    /// files cannot be read while they are written, are found out before anything is requested.
    ///
    /// They leave a small gap: a large one would be filled with zeros where files cannot have holes.
    ///
    /// - Parameters:
    ///   - count: Bytes to write.
    ///   - start: From here on nothing has arrived.
    ///   - end: Length of the finished file.
    ///   - keepsLength: Whether the file may have that length now.
    /// - Throws: `noSpace`, `io`.
    private func tryWriting(
        _ count: Int64, from start: Int64, to end: Int64, keepsLength: Bool
    ) throws(AssemblyError) {
        let place = max(start, min(end - count, start + Self.trial))
        var bytes = [UInt8](repeating: 0, count: Int(count))
        let code = bytes.withUnsafeBytes { writeFully(descriptor, $0, at: place) }
        if code != 0 { _ = ftruncate(descriptor, off_t(start)) }
        guard code == 0 else {
            if code == ENOSPC, count > 1 {
                throw .noSpace(path: path, needed: end - start, free: 0)
            }
            throw .io(operation: "write", path: path, errno: code)
        }
        let last = place + count - 1
        let read = bytes.withUnsafeMutableBytes { buffer in
            readFully(
                descriptor, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<1]), at: last)
        }
        guard read == 1 else {
            if read != nil { errno = ENODATA }
            throw failure("read")
        }
        let length = keepsLength ? max(start, end) : start
        if last >= length, ftruncate(descriptor, off_t(length)) != 0 { throw failure("ftruncate") }
    }

    /// Provides for `size` bytes.
    ///
    /// - Returns: The `errno` of fallocate(2), where the file system does not know it.
    private func allocate(
        _ size: Int64, _ allocation: FileAllocation, _ status: FileStatus
    ) throws(AssemblyError) -> Int32? {
        guard size > 0, allocation != .none else { return nil }
        guard allocation == .falloc || allocation == .auto && !folder.isInMemory else {
            try lengthen(to: size, status)
            return nil
        }
        while segget_fallocate(descriptor, off_t(size)) != 0 {
            switch errno {
            case EINTR: continue
            case let error where isUnsupported(errno: error):
                try lengthen(to: size, status)
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

    /// Gives the part its length, where the file system can do that without data.
    private func lengthen(to size: Int64, _ status: FileStatus) throws(AssemblyError) {
        guard status.size < size else { return }
        guard ftruncate(descriptor, off_t(size)) == 0 || isUnsupported(errno: errno) else {
            throw failure("ftruncate")
        }
    }

    /// Takes from others what an earlier run's part may have come to allow them meanwhile.
    ///
    /// That it cannot be done, to another user's part or where there are no modes, is fine.
    func makePrivate() { _ = fchmod(descriptor, 0o600) }

    /// Gives the finished file the permissions that a new file has in its folder, and the server's time.
    ///
    /// - Parameters:
    ///   - modified: Seconds since 1970, `nil` to leave the time of writing.
    ///   - umask: File mode creation mask; `nil` for the process's.
    /// - Returns: What the file system does not offer.
    /// - Throws: `io`.
    func finishAttributes(
        modified: Int64?, umask: UInt32? = nil
    ) throws(AssemblyError) -> RefusedAttributes {
        var refused = RefusedAttributes()
        refused.mode = folder.permissions(umask: umask.map { mode_t($0) }).apply(to: descriptor)
        if let code = refused.mode, !isUnsupported(errno: code) {
            throw .io(operation: "fchmod", path: path, errno: code)
        }
        guard let modified, segget_set_modified(descriptor, modified) != 0 else { return refused }
        guard isUnsupported(errno: errno) else { throw failure("futimens") }
        refused.time = errno
        return refused
    }

    /// Makes data and metadata durable, where the file system can.
    func sync() throws(AssemblyError) {
        guard fsync(descriptor) != 0 else { return }
        guard isUnsupported(errno: errno) else { throw distrusted("fsync") }
        unsynchronized.withLock { [errno] in $0 = errno }
    }

    /// Makes data durable, where the file system can.
    func syncData() throws(AssemblyError) {
        guard fdatasync(descriptor) == 0 || isUnsupported(errno: errno) else {
            throw distrusted("fdatasync")
        }
    }

    /// The `errno` of the last `sync` where the file system cannot do that; `nil` when all is durable.
    var syncProblem: Int32? { unsynchronized.withLock { $0 } }

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
    /// - Throws: `partGone`, `partChanged`, `cannotCreate`, `io`.
    func checkUntouched(size: Int64, extents: [Extent]) throws(AssemblyError) {
        let status = try FileStatus(of: descriptor, path)
        guard status.size == size, try stands(at: name),
            status.allocated >= size || extents.allSatisfy({ isIntact($0, in: descriptor) })
        else { throw changed() }
    }

    // MARK: Whether it is still there

    /// Looks whether the part has its name and its folder still, without following any path; may block.
    func look() -> PartSight { Self.look(at: name, descriptor, in: folder) }

    private static func look(
        at name: String, _ descriptor: Int32, in folder: Folder
    ) -> PartSight {
        folder.withDescriptor { folder in
            var sight = PartSight()
            var status = stat()
            if fstat(descriptor, &status) == 0 { sight.links = UInt64(status.st_nlink) }
            if fstat(folder, &status) == 0 { sight.folderLinks = UInt64(status.st_nlink) }
            let isFound = fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0
            if isFound || errno == ENOENT { sight.isNamed = isFound }
            let attached = segget_is_attached(folder)
            if attached >= 0 { sight.isAttached = attached == 1 }
            return sight
        }
    }

    /// Decides about looks that differ from the one when the part was opened.
    var watch: PartWatch { PartWatch(firstSight, countsNamesOnly: hasUnsureLinks) }

    /// The failure where the part is not what was written: it is lost, or was changed.
    func changed() -> AssemblyError {
        watch.loss(in: look()).map { .partGone(path: path, $0) } ?? .partChanged(path: path)
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
