// Files: open folders and files, their attributes from stat(2), and reading them. This folder
// handles system calls and their errors. It does not depend on manifests, parts or downloads.

import CLinux
import Glibc

/// An open folder.
///
/// All operations on a download's files are relative to its descriptor. They therefore stay in this
/// folder even if its path is renamed or replaced during the download.
package final class Folder: Sendable {
    /// The path that the folder was opened with, for messages.
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

    private init(path: String, descriptor: Int32) {
        (self.path, self.descriptor) = (path, descriptor)
    }

    deinit { close(descriptor) }

    /// Opens a folder in this one, without following a symbolic link.
    ///
    /// - Parameter name: One name, not a path.
    /// - Returns: The folder; `nil` with `errno` set if there is none.
    package func folder(_ name: String) -> Folder? {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW
        let opened = openat(descriptor, name, flags)
        return opened < 0 ? nil : Folder(path: path(of: name), descriptor: opened)
    }

    /// Removes a folder in this one if it is empty.
    package func removeFolder(_ name: String) { unlinkat(descriptor, name, AT_REMOVEDIR) }

    /// Calls `body` with the open folder's descriptor.
    func withDescriptor<Result>(_ body: (Int32) -> Result) -> Result { body(descriptor) }

    /// Returns the path of a file in the folder, for messages and results.
    package func path(of name: String) -> String { FileTarget(folder: path, name: name).path }

    /// The device and inode of the folder, independent of its path; `nil` if fstat(2) fails.
    package var identity: FileIdentity? { FileStatus(of: descriptor)?.identity }

    /// Returns the device and inode of the file at a path; `nil` with `errno` set if stat(2) fails.
    package static func identity(at path: String) -> FileIdentity? {
        var status = stat()
        return stat(path, &status) == 0 ? FileStatus(status).identity : nil
    }

    /// Returns whether the content of a file can be trusted.
    ///
    /// In a shared folder such as /tmp, the owner of another user's part file could change its bytes
    /// at any time. The rule is that of the kernel's fs.protected_regular (proc_sys_fs(5)).
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

    /// Returns the status of a file without following a symbolic link; `nil` if it does not exist.
    package func status(of name: String) throws(AssemblyError) -> FileStatus? {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            if errno == ENOENT { return nil }
            throw .cannotCreate(path: path(of: name), errno: errno)
        }
        return FileStatus(status)
    }

    /// Returns whether a name is free; `false` also if fstatat(2) fails with another error.
    package func isFree(_ name: String) -> Bool {
        var status = stat()
        return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT
    }

    /// Returns whether no file has this name, either because it is free or because it is too long.
    func cannotHave(_ name: String) -> Bool {
        isFree(name) || errno == ENAMETOOLONG
    }

    /// Whether the folder treats names that differ only in case as the same name.
    ///
    /// exFAT, NTFS, folders of ext4 with `casefold`, and many network shares do. The test creates
    /// and removes an empty file; the result is `false` if the file cannot be created. The name is
    /// always the same, so that a run removes the file of one that was killed meanwhile.
    package var foldsCase: Bool {
        let name = ".segget-case"
        // Another run may remove the file between two calls.
        for _ in 0..<8 {
            guard let file = open(name, O_WRONLY | O_CREAT) else { return false }
            close(file)
            let (folds, isThere) = (!isFree(name.uppercased()), !isFree(name))
            if (try? status(of: name))?.size == 0 { unlinkat(descriptor, name, 0) }
            if folds || isThere { return folds }
        }
        return false
    }

    /// Opens a file without following a symbolic link or blocking on a pipe.
    ///
    /// - Returns: The descriptor, or `nil` with `errno` set.
    func open(_ name: String, _ flags: Int32) -> Int32? {
        let result = openat(
            descriptor, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode_t(0o600))
        return result >= 0 ? result : nil
    }

    /// Removes a file; succeeds also if it does not exist or its name is too long.
    package func remove(_ name: String) throws(AssemblyError) {
        guard unlinkat(descriptor, name, 0) == 0 || [ENOENT, ENAMETOOLONG].contains(errno) else {
            throw failure("unlink", name)
        }
    }

    /// Renames a file within the folder, replacing any file at `new`.
    func rename(_ old: String, to new: String) throws(AssemblyError) {
        guard renameat(descriptor, old, descriptor, new) == 0 else { throw failure("rename", new) }
    }

    /// Returns whether a file has other hard links; `false` if fstatat(2) fails.
    func hasOtherNames(_ name: String) -> Bool {
        var status = stat()
        return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_nlink > 1
    }

    /// Replaces a file atomically and, unless `isDurable` is unset, durably: temporary file, fsync,
    /// rename.
    ///
    /// - Parameters:
    ///   - name: The name of the file; that of the temporary file has a `~` behind it.
    ///   - mode: The permissions.
    ///   - isDurable: Whether the file is synchronized with the disk before it gets its name.
    ///   - body: Writes the content to a descriptor; returns 0, or `errno`.
    /// - Throws: `cannotCreate`, `io`. After an error, the file is as before.
    package func write(
        _ name: String, mode: UInt32, isDurable: Bool = true, _ body: (Int32) -> Int32
    ) throws(AssemblyError) {
        let temporary = name + "~"
        try remove(temporary)
        guard let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL) else {
            throw .cannotCreate(path: path(of: temporary), errno: errno)
        }
        defer { close(file) }
        do throws(AssemblyError) {
            let code = body(file)
            guard code == 0 else { throw .io(operation: "write", path: path, errno: code) }
            guard fchmod(file, mode) == 0 || isUnsupported(errno: errno),
                !isDurable || fsync(file) == 0 || isUnsupported(errno: errno)
            else { throw failure("fsync", temporary) }
            try rename(temporary, to: name)
            if isDurable { try sync() }
        } catch {
            try? remove(temporary)
            throw error
        }
    }

    /// Makes renames and removals in the folder durable.
    package func sync() throws(AssemblyError) {
        guard fsync(descriptor) == 0 || isUnsupported(errno: errno) else {
            throw failure("fsync", "")
        }
    }

    /// Returns the number of bytes available to an unprivileged user in the file system.
    ///
    /// `nil` if it is unknown, for example because the file system reports no size.
    func freeBytes() -> Int64? {
        var status = statvfs()
        guard fstatvfs(descriptor, &status) == 0, status.f_blocks > 0 else { return nil }
        return Int64(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
    }

    /// Checks that the file system has at least `needed` free bytes.
    ///
    /// Some file systems and quotas report 0 although they accept data. The check therefore ignores
    /// 0, and ``PartialFile`` detects a lack of space when it reserves or writes.
    ///
    /// - Returns: `false` if the file system reports 0 free bytes, else `true`.
    /// - Throws: `noSpace`, with the path of the file that needs the bytes.
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

/// The method by which a file was renamed.
package enum NamingWay: Sendable, Hashable {
    /// renameat2(2) with `RENAME_NOREPLACE`.
    case renamed
    /// link(2) and unlink(2), which do not replace a file either.
    case linked
    /// A check that the name is free, followed by rename(2).
    ///
    /// The rename replaces a file that another program creates between the two calls.
    case checked
}

/// The calls that can rename without replacing in a folder, as tested with an empty file.
///
/// Pure.
enum NamingCalls: Sendable, Hashable {
    /// renameat2(2) with `RENAME_NOREPLACE` works.
    case rename
    /// renameat2(2) with `RENAME_NOREPLACE` does not work, but link(2) does.
    case link
    /// Neither call works.
    case neither
    /// The test itself failed, for example because the disk is broken or full.
    case unknown

    /// Derives the result from the `errno` of both calls, 0 for success.
    init(rename: Int32, link: Int32) {
        switch (rename, link) {
        case (0, _): self = .rename
        case (let code, 0) where Self.isRefusal(code): self = .link
        case (let first, let second) where Self.isRefusal(first) && Self.isRefusal(second):
            self = .neither
        default: self = .unknown
        }
    }

    /// Returns whether a call may have failed because the folder does not support it.
    ///
    /// Some file systems return EIO for flags that they do not know.
    static func isRefusal(_ code: Int32) -> Bool { isUnsupported(errno: code) || code == EIO }
}

extension Folder {
    /// Renames a file within the folder, and fails if `new` exists.
    ///
    /// - Returns: The method that was used.
    /// - Throws: `destinationExists`, `io`.
    @discardableResult
    func renameWithoutReplacing(_ old: String, to new: String) throws(AssemblyError) -> NamingWay {
        guard let way = try give(old, theName: new, in: self) else {
            throw .io(operation: "rename", path: path(of: new), errno: EXDEV)
        }
        return way
    }

    /// Moves a file to another folder, and fails if `new` exists there.
    ///
    /// - Returns: `true` if the file was moved, `false` if the folders are on different file systems.
    /// - Throws: `destinationExists`, `io`.
    package func moveWithoutReplacing(
        _ old: String, to new: String, in target: Folder
    ) throws(AssemblyError) -> Bool {
        try give(old, theName: new, in: target) != nil
    }

    /// Renames a file with renameat2(2), or with link(2) and unlink(2).
    ///
    /// Between link(2) and unlink(2) the file has both names. If a test with an empty file shows
    /// that neither call works in the folder, this method checks the name and uses rename(2).
    ///
    /// - Returns: The method that was used; `nil` if the folders are on different file systems.
    private func give(
        _ old: String, theName new: String, in target: Folder
    ) throws(AssemblyError) -> NamingWay? {
        let code = withBoth(target) {
            segget_move_noreplace($0, old, $1, new) == 0 ? 0 : errno
        }
        if code == 0 { return .renamed }
        if code == EXDEV { return nil }
        guard NamingCalls.isRefusal(code) else { throw target.failure(code, new) }
        // These codes do not depend on the file. EPERM and EIO may, and a test with an empty file
        // shows whether they do.
        let isPlain = [EINVAL, ENOSYS, EOPNOTSUPP].contains(code)
        if isPlain, try link(old, to: new, in: target) == 0 { return .linked }
        switch target.namingCalls() {
        case .rename, .unknown: throw target.failure(code, new)
        case .link:
            let code = try link(old, to: new, in: target)
            guard code == 0 else { throw target.failure(code, new) }
            return .linked
        case .neither:
            guard try target.status(of: new) == nil else {
                throw .destinationExists(path: target.path(of: new))
            }
            let code = withBoth(target) { renameat($0, old, $1, new) == 0 ? 0 : errno }
            guard code == 0 else { throw target.failure(code, new) }
            return .checked
        }
    }

    /// Links a file to its new name and removes the old one.
    ///
    /// - Returns: 0 on success, else the `errno` of link(2).
    private func link(_ old: String, to new: String, in target: Folder) throws(AssemblyError)
        -> Int32
    {
        let code = withBoth(target) { linkat($0, old, $1, new, 0) == 0 ? 0 : errno }
        guard code == 0 else {
            if code == EEXIST { throw .destinationExists(path: target.path(of: new)) }
            return code
        }
        // Otherwise the file might have neither name after a power failure.
        try target.sync()
        try remove(old)
        return 0
    }

    /// Tests with a temporary empty file which calls can rename without replacing.
    func namingCalls() -> NamingCalls {
        let old = ".segget-" + String(UInt64.random(in: 0...UInt64.max), radix: 16)
        let new = old + "~"
        guard let file = open(old, O_WRONLY | O_CREAT | O_EXCL) else { return .unknown }
        close(file)
        return withDescriptor { here in
            defer {
                unlinkat(here, old, 0)
                unlinkat(here, new, 0)
            }
            if segget_rename_noreplace(here, old, new) == 0 {
                return NamingCalls(rename: 0, link: 0)
            }
            let code = errno
            return NamingCalls(
                rename: code, link: linkat(here, old, here, new, 0) == 0 ? 0 : errno)
        }
    }

    private func withBoth<Result>(
        _ target: Folder, _ body: (_ here: Int32, _ there: Int32) -> Result
    ) -> Result {
        withDescriptor { here in target.withDescriptor { body(here, $0) } }
    }

    private func failure(_ code: Int32, _ name: String) -> AssemblyError {
        code == EEXIST
            ? .destinationExists(path: path(of: name))
            : .io(operation: "rename", path: path(of: name), errno: code)
    }
}
