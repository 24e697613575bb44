import Glibc

/// Which file on which device: what a rename does not change.
package struct FileIdentity: Codable, Sendable, Hashable {
    /// `st_dev` of stat(2).
    package var device: UInt64
    /// `st_ino` of stat(2).
    package var inode: UInt64

    package init(device: UInt64, inode: UInt64) { (self.device, self.inode) = (device, inode) }

    /// Whether it is the file that was written down as `other`, in the same folder.
    ///
    /// By the inode alone, for a folder is on one device: the device's number may be another one
    /// when the machine has started again after a power cut.
    package func isSame(as other: FileIdentity?) -> Bool { inode == other?.inode }
}

/// What tells a finished file from another one at its name, and from one that was changed.
package struct FileVersion: Sendable, Hashable {
    /// Which file it is.
    package var identity: FileIdentity
    /// Length in bytes.
    package var size: Int64
    /// When its content was last changed, in whole seconds since 1970.
    package var modified: Int64

    package init(identity: FileIdentity, size: Int64, modified: Int64) {
        self.identity = identity
        self.size = size
        self.modified = modified
    }

    /// Whether it is the same file, unchanged, wherever it stands in the same file system; see
    /// ``FileIdentity/isSame(as:)``.
    package func isSame(as other: FileVersion) -> Bool {
        identity.isSame(as: other.identity) && hasSameContent(as: other)
    }

    /// Whether size and time speak for the same content: what a copy keeps.
    package func hasSameContent(as other: FileVersion) -> Bool {
        size == other.size && modified == other.modified
    }
}

/// The parts of stat(2) that matter here.
package struct FileStatus: Sendable, Hashable {
    /// Which file it is.
    package var identity: FileIdentity
    /// Length in bytes.
    package var size: Int64
    /// Bytes that are allocated on the disk.
    package var allocated: Int64
    /// When its content was last changed, in whole seconds since 1970.
    package var modified: Int64
    /// Whether it is a regular file, rather than a folder, device, pipe, socket or link.
    package var isRegular: Bool
    /// Whom it belongs to.
    var owner: uid_t

    /// What tells the file, as it is now, from others.
    package var version: FileVersion {
        FileVersion(identity: identity, size: size, modified: modified)
    }

    init(_ status: stat) {
        identity = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        size = Int64(status.st_size)
        allocated = Int64(status.st_blocks) * 512
        modified = Int64(status.st_mtim.tv_sec)
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
