// Part: the file that receives the bytes, and the threads that hash it, verify an earlier run's
// bytes, and make it and its manifest durable. This folder never knows a server or the finished
// file.

import CLinux
import Glibc

/// The file `NAME.part`, open and locked until it is published or closed.
///
/// Any thread may read the file; only the loop thread writes to it.
package final class PartialFile: Sendable {
    /// The folder that contains the part.
    let folder: Folder
    /// The name of the part in the folder.
    let name: String
    /// The file descriptor, for pwrite(2) and pread(2).
    package let descriptor: Int32
    /// The device and inode of the file.
    let identity: FileIdentity
    /// The length of the part when it was opened, in bytes; `nil` if it was created.
    let initialSize: Int64?
    private let lock: PartLock
    /// The state of the part when it was opened.
    private let firstSight: PartSight
    private let hasUnsureLinks: Bool
    private let unsynchronized = Monitor<Int32?>(nil)

    /// The path, for messages.
    package var path: String { folder.path(of: name) }

    /// Opens or creates the part and takes its lock.
    ///
    /// The lock makes a second process with the same destination fail. Another process may have
    /// published or replaced the part before the lock was taken. The opened file is therefore
    /// compared with the one that has the name.
    ///
    /// - Throws: `busy`, `locked`, `notARegularFile`, `foreignPart`, `cannotCreate`, `io`.
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
                // If the part is busy, another process has locked it between the two calls.
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
        // Unlock first: once closed, the descriptor's number may be reused by another thread.
        lock.release()
        close(descriptor)
    }

    /// Checks that the file system has enough space for the remaining bytes of a file of `size`
    /// bytes.
    ///
    /// - Returns: Whether the reported free space is reliable; `false` if it is 0.
    /// - Throws: `noSpace`, `io`.
    @discardableResult
    func checkSpace(for size: Int64) throws(AssemblyError) -> Bool {
        let status = try FileStatus(of: descriptor, path)
        return try folder.checkSpace(for: size - min(size, status.allocated), path: path)
    }

    /// Releases the lock, after the last write.
    ///
    /// Another thread that is about to end may hold the last reference. The release must not wait
    /// for it, because the next run needs the lock.
    func unlock() { lock.release() }

    /// Allocates `size` bytes as `allocation` determines, and truncates a longer file.
    ///
    /// - Parameters:
    ///   - size: The length of the finished file in bytes; `nil` if unknown.
    ///   - allocation: How the space is allocated.
    ///   - isDoubtful: Whether the file system reports no free bytes, which may be wrong. Space is
    ///     then always reserved, or tested with a write.
    /// - Returns: The `errno` of fallocate(2) if the file system does not support it.
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
        // Reserved space needs no test.
        let mustWrite = isDoubtful && problem != nil
        if mustWrite || status.size < size || status.size == 0 {
            try tryWriting(
                mustWrite ? Self.trial : 1, from: status.size, to: size,
                keepsLength: allocation != .none)
        }
        return allocation == .falloc || allocation == .auto ? problem : nil
    }

    /// The number of bytes of a test write if no space can be reserved and none is reported as
    /// free.
    private static let trial: Int64 = 64 << 10

    /// Writes zeros where no data has arrived, and reads the last one.
    ///
    /// The test fails on file systems that only append, or whose files cannot be read while they
    /// are written. The failure then occurs before the first request. The zeros are close to the
    /// present end, since a file system without holes would fill a large gap with zeros.
    ///
    /// - Parameters:
    ///   - count: The number of bytes to write.
    ///   - start: The offset from which no data has arrived.
    ///   - end: The length of the finished file.
    ///   - keepsLength: Whether the file may have its final length now.
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

    /// Allocates `size` bytes.
    ///
    /// - Returns: The `errno` of fallocate(2) if the file system does not support it.
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
                // Release the space that was reserved before the failure.
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

    /// Sets the length of the part, if the file system supports that without data.
    private func lengthen(to size: Int64, _ status: FileStatus) throws(AssemblyError) {
        guard status.size < size else { return }
        guard ftruncate(descriptor, off_t(size)) == 0 || isUnsupported(errno: errno) else {
            throw failure("ftruncate")
        }
    }

    /// Sets mode 0600, since an earlier run's part may have other permissions.
    ///
    /// Failures are ignored: the part may belong to another user, or the file system may have no
    /// modes.
    func makePrivate() { _ = fchmod(descriptor, 0o600) }

    /// Sets the permissions of a new file in this folder, and the server's modification time.
    ///
    /// - Parameters:
    ///   - modified: The time in seconds since 1970; `nil` keeps the time of writing.
    ///   - umask: The file mode creation mask; `nil` for that of the process.
    /// - Returns: The attributes that the file system does not support.
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

    /// Makes data and metadata durable, if the file system supports that.
    func sync() throws(AssemblyError) {
        guard fsync(descriptor) != 0 else { return }
        guard isUnsupported(errno: errno) else { throw distrusted("fsync") }
        unsynchronized.withLock { [errno] in $0 = errno }
    }

    /// Makes data durable, if the file system supports that.
    func syncData() throws(AssemblyError) {
        guard fdatasync(descriptor) == 0 || isUnsupported(errno: errno) else {
            throw distrusted("fdatasync")
        }
    }

    /// The `errno` of the last `sync` if the file system does not support it; `nil` if the data is
    /// durable.
    var syncProblem: Int32? { unsynchronized.withLock { $0 } }

    /// Asks the kernel to start writing dirty pages, without waiting (sync_file_range(2)).
    ///
    /// A later synchronization then has less to write, and reports failures.
    func startWriteback() { _ = segget_start_writeback(descriptor) }

    /// Removes durable bytes before `end` from the page cache (posix_fadvise(2)).
    func forget(upTo end: Int64) {
        // A length of 0 would mean the whole file.
        if end > 0 { posix_fadvise(descriptor, 0, off_t(end), POSIX_FADV_DONTNEED) }
    }

    /// Returns the error of a failed synchronization, and drops the page cache.
    ///
    /// After a failed write, the kernel marks the pages as clean and reports the failure only once.
    /// Without the cache, a later run reads the real content of the disk and detects lost data by
    /// its CRC-32.
    private func distrusted(_ operation: String) -> AssemblyError {
        let failure = failure(operation)
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        return failure
    }

    /// Throws unless the part has its name and length, and no holes.
    ///
    /// Another program may have removed, replaced or truncated the part. A part that was truncated
    /// and has grown again by our writes has a hole of zeros.
    ///
    /// - Parameters:
    ///   - size: The required length in bytes.
    ///   - extents: The extents that are read and compared if there may be a hole. On a file system
    ///     that compresses, a part without holes may also have less space allocated than its
    ///     length.
    /// - Throws: `partGone`, `partChanged`, `cannotCreate`, `io`.
    func checkUntouched(size: Int64, extents: [Extent]) throws(AssemblyError) {
        let status = try FileStatus(of: descriptor, path)
        guard status.size == size, try stands(at: name),
            status.allocated >= size || extents.allSatisfy({ isIntact($0, in: descriptor) })
        else { throw changed() }
    }

    // MARK: Presence

    /// Checks whether the part still has its name and folder, without resolving any path; may
    /// block.
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

    /// Creates a watch that compares later checks with the state at opening.
    var watch: PartWatch { PartWatch(firstSight, countsNamesOnly: hasUnsureLinks) }

    /// Returns the error for a part that is lost or was changed by another program.
    func changed() -> AssemblyError {
        watch.loss(in: look()).map { .partGone(path: path, $0) } ?? .partChanged(path: path)
    }

    /// Returns whether a name in the folder refers to this file.
    func stands(at name: String) throws(AssemblyError) -> Bool {
        try folder.status(of: name)?.identity == identity
    }

    /// Returns the extents within `ranges`; extents that are only partly within them are split.
    func extents(_ extents: [Extent], in ranges: RangeSet) -> [Extent] {
        extents.flatMap { extent -> [Extent] in
            let parts = ranges.ranges.map { $0.intersection(extent.range) }.filter { !$0.isEmpty }
            if parts == [extent.range] { return [extent] }
            // Compute a new CRC-32 only if the bytes still match the recorded one.
            guard !parts.isEmpty, isIntact(extent, in: descriptor) else { return [] }
            return parts.compactMap { part in
                crc32(of: part, in: descriptor).map { Extent(part, crc: $0) }
            }
        }
    }

    /// Returns the error of a failed call on this file, with the current `errno`.
    func failure(_ operation: String) -> AssemblyError {
        .io(operation: operation, path: path, errno: errno)
    }
}
