import Glibc

/// The device and inode of a file, which a rename does not change.
package struct FileIdentity: Codable, Sendable, Hashable {
    /// `st_dev` of stat(2).
    package var device: UInt64
    /// `st_ino` of stat(2).
    package var inode: UInt64

    package init(device: UInt64, inode: UInt64) { (self.device, self.inode) = (device, inode) }

    /// Returns whether this is the file recorded as `other`, in the same folder.
    ///
    /// Compares only the inodes, because a folder is on one device. The device number may change
    /// when the machine restarts.
    package func isSame(as other: FileIdentity?) -> Bool { inode == other?.inode }
}

/// The identity, size and modification time of a finished file, to detect replacement or change.
package struct FileVersion: Sendable, Hashable {
    /// The device and inode of the file.
    package var identity: FileIdentity
    /// The length in bytes.
    package var size: Int64
    /// The modification time, in whole seconds since 1970.
    package var modified: Int64

    package init(identity: FileIdentity, size: Int64, modified: Int64) {
        self.identity = identity
        self.size = size
        self.modified = modified
    }

    /// Returns whether this is the same unchanged file, anywhere in the same file system.
    ///
    /// See ``FileIdentity/isSame(as:)``.
    package func isSame(as other: FileVersion) -> Bool {
        identity.isSame(as: other.identity) && hasSameContent(as: other)
    }

    /// Returns whether size and modification time match, as they do for a copy that keeps the time.
    package func hasSameContent(as other: FileVersion) -> Bool {
        size == other.size && modified == other.modified
    }
}

/// The fields of stat(2) that segget uses.
package struct FileStatus: Sendable, Hashable {
    /// The device and inode of the file.
    package var identity: FileIdentity
    /// The length in bytes.
    package var size: Int64
    /// The number of bytes allocated on the disk.
    package var allocated: Int64
    /// The modification time, in whole seconds since 1970.
    package var modified: Int64
    /// The nanoseconds of the modification time after the whole second.
    var modifiedNanoseconds: Int64
    /// Whether this is a regular file rather than a folder, device, pipe, socket or link.
    package var isRegular: Bool
    /// The user ID of the owner.
    var owner: uid_t

    /// The current version of the file.
    package var version: FileVersion {
        FileVersion(identity: identity, size: size, modified: modified)
    }

    init(_ status: stat) {
        identity = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        size = Int64(status.st_size)
        allocated = Int64(status.st_blocks) * 512
        modified = Int64(status.st_mtim.tv_sec)
        modifiedNanoseconds = Int64(status.st_mtim.tv_nsec)
        isRegular = status.st_mode & S_IFMT == S_IFREG
        owner = status.st_uid
    }

    /// The status of an open file.
    ///
    /// - Throws: `io`, with `path`.
    init(of descriptor: Int32, _ path: String) throws(AssemblyError) {
        guard let status = FileStatus(of: descriptor) else {
            throw .io(operation: "fstat", path: path, errno: errno)
        }
        self = status
    }

    /// The status of an open file, or `nil` with `errno` set.
    init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }
}
