// Files: open folders and files, what stat(2) says of them, and reading them. It knows what the
// system calls do and which of their failures matter; it never knows a manifest, a part or a
// download.

import CLinux
import Glibc

/// An open folder.
///
/// Everything that is done to a download's files is done relative to it, so that renaming or
/// replacing the folder's path while we run leads nowhere else.
package final class Folder: Sendable {
    /// The path that it was opened by, for messages.
    package let path: String
    private let descriptor: Int32

    /// Opens a folder that exists.
    ///
    /// - Throws: `AssemblyError.folderUnavailable`.
    package init(_ path: String) throws(AssemblyError) {
        self.path = path
        descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .folderUnavailable(path: path, errno: errno) }
    }

    deinit { close(descriptor) }

    /// Calls `body` with the open folder's descriptor.
    func withDescriptor<Result>(_ body: (Int32) -> Result) -> Result { body(descriptor) }

    /// The path of a file in it, for messages and results.
    package func path(of name: String) -> String { FileTarget(folder: path, name: name).path }

    /// Which folder it is, however its path is spelled; `nil` when the system does not say.
    package var identity: FileIdentity? { FileStatus(of: descriptor)?.identity }

    /// What a path leads to; `nil` with `errno` set when the system does not say.
    package static func identity(at path: String) -> FileIdentity? {
        var status = stat()
        return stat(path, &status) == 0 ? FileStatus(status).identity : nil
    }

    /// Whether what a file says may be relied on: in a folder that others can put files into, such as
    /// /tmp, somebody else's part could be given its bytes by him at any time.
    ///
    /// The same rule as the kernel's fs.protected_regular (proc_sys_fs(5)).
    ///
    /// - Throws: `io`.
    func trusts(_ file: FileStatus) throws(AssemblyError) -> Bool {
        var here = stat()
        guard fstat(descriptor, &here) == 0 else {
            throw .io(operation: "fstat", path: path, errno: errno)
        }
        let isShared = here.st_mode & S_ISVTX != 0 && here.st_mode & (S_IWOTH | S_IWGRP) != 0
        return !isShared || file.owner == geteuid() || file.owner == here.st_uid
    }

    /// What stands at a name, without following a symbolic link; `nil` when nothing does.
    package func status(of name: String) throws(AssemblyError) -> FileStatus? {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            if errno == ENOENT { return nil }
            throw .cannotCreate(path: path(of: name), errno: errno)
        }
        return FileStatus(status)
    }

    /// Whether nothing stands at a name, as far as the system says; false when it does not.
    package func isFree(_ name: String) -> Bool {
        var status = stat()
        return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT
    }

    /// Whether nothing stands at a name, and the system says so; also where the name is too long for anything.
    func cannotHave(_ name: String) -> Bool {
        isFree(name) || errno == ENAMETOOLONG
    }

    /// Whether names that differ in case only are one name here, as on exFAT, NTFS, in a folder of ext4 with
    /// `casefold`, and on many network shares.
    ///
    /// Found by an empty file, which is removed again; `false` where none can be made.
    package var foldsCase: Bool {
        let name = ".segget-case-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
        guard let file = open(name, O_WRONLY | O_CREAT | O_EXCL) else { return false }
        close(file)
        defer { unlinkat(descriptor, name, 0) }
        return !isFree(name.uppercased())
    }

    /// Opens a file; never follows a symbolic link, and never waits for a pipe's other end.
    ///
    /// - Returns: The descriptor, or `nil` with `errno` set.
    func open(_ name: String, _ flags: Int32) -> Int32? {
        let result = openat(
            descriptor, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode_t(0o600))
        return result >= 0 ? result : nil
    }

    /// Removes a file; that there is none, or can be none of such a name, is fine.
    func remove(_ name: String) throws(AssemblyError) {
        guard unlinkat(descriptor, name, 0) == 0 || [ENOENT, ENAMETOOLONG].contains(errno) else {
            throw failure("unlink", name)
        }
    }

    /// Renames within the folder, replacing what stands at `new`.
    func rename(_ old: String, to new: String) throws(AssemblyError) {
        guard renameat(descriptor, old, descriptor, new) == 0 else { throw failure("rename", new) }
    }

    /// Whether the file at a name has further names (hard links), as far as the system says.
    func hasOtherNames(_ name: String) -> Bool {
        var status = stat()
        return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_nlink > 1
    }

    /// Makes renames and removals in the folder durable.
    func sync() throws(AssemblyError) {
        guard fsync(descriptor) == 0 || isUnsupported(errno: errno) else {
            throw failure("fsync", "")
        }
    }

    /// Bytes that an unprivileged user may still write to the file system; `nil` when it does not
    /// say, as one without a size of its own.
    func freeBytes() -> Int64? {
        var status = statvfs()
        guard fstatvfs(descriptor, &status) == 0, status.f_blocks > 0 else { return nil }
        return Int64(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
    }

    /// Checks that the file system has room for `needed` bytes more, as far as it says.
    ///
    /// 0 says nothing: some file systems and quotas report it while they take data. ``PartialFile`` finds out by
    /// reserving or writing.
    ///
    /// - Returns: Whether the file system says so: not where it reports 0.
    /// - Throws: `noSpace`, with the path of the file that needs them.
    @discardableResult
    func checkSpace(for needed: Int64, path: String) throws(AssemblyError) -> Bool {
        guard let free = freeBytes(), needed > 0 else { return true }
        guard free == 0 || free >= needed else {
            throw .noSpace(path: path, needed: needed, free: free)
        }
        return free > 0
    }

    /// Whether the file system is in memory (tmpfs(5)).
    var isInMemory: Bool { segget_is_in_memory(descriptor) != 0 }

    private func failure(_ operation: String, _ name: String) -> AssemblyError {
        .io(operation: operation, path: name.isEmpty ? path : path(of: name), errno: errno)
    }
}
