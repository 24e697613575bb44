import SeggetReports
import Assembler
import Foundation
import Glibc

/// The files of a queue, by the path of its database.
package struct QueueFiles: Sendable, Hashable {
    /// Path of the database, absolute.
    package let database: String

    /// Names the files of the queue at a path; a relative one begins at the current folder.
    package init(_ path: String) {
        let current = FileManager.default.currentDirectoryPath
        database = path.hasPrefix("/") ? path : "\(current)/\(path)"
    }

    /// The log of what is not in the database yet.
    package var writeAheadLog: String { "\(database)-wal" }
    /// The index of that log.
    package var sharedMemory: String { "\(database)-shm" }
    /// The file that is locked by whoever works the queue: it is made, and never removed.
    package var lock: String { "\(database).lock" }
    /// The database of what is secret.
    package var secrets: String { "\(database).secrets" }
    /// Path of the folder that they are in.
    package var folder: String {
        let end = database.lastIndex(of: "/") ?? database.startIndex
        return end == database.startIndex ? "/" : String(database[..<end])
    }

    /// The copy of the database that was made before it was migrated from a version.
    package func backup(ofVersion version: Int) -> String { "\(database).backup-\(version)" }

    /// Finds a name to keep a damaged file by.
    ///
    /// - Parameters:
    ///   - path: Path of the file.
    ///   - time: In seconds since 1970.
    /// - Returns: A path beside it that is not taken yet.
    static func damaged(_ path: String, at time: Double) -> String {
        let style = Date.ISO8601FormatStyle(
            dateSeparator: .omitted, timeSeparator: .omitted, timeZone: .gmt)
        let name = "\(path).damaged-\(Date(timeIntervalSince1970: time).formatted(style))"
        guard access(name, F_OK) == 0 else { return name }
        return (2...).lazy.map { "\(name)-\($0)" }.first { access($0, F_OK) != 0 } ?? name
    }

    /// Makes the folder, for its owner only, with those above it.
    ///
    /// - Throws: `QueueError`.
    package func makeFolder() throws(QueueError) { try Self.make(folder: folder) }

    private static func make(folder: String) throws(QueueError) {
        guard !folder.isEmpty, access(folder, F_OK) != 0 else { return }
        try make(
            folder: String(folder[..<(folder.lastIndex(of: "/") ?? folder.startIndex)]))
        if mkdir(folder, 0o700) == 0 {
            // A umask may have taken away from the owner what the owner needs.
            chmod(folder, 0o700)
        } else if errno != EEXIST {
            throw .system(.makeFolder, folder, errno)
        }
    }

    /// Has a file be there that nobody but its owner may read.
    ///
    /// A database is never opened here when it is there: closing it again would let go of SQLite's locks
    /// (fcntl(2)), which belong to the process.
    ///
    /// - Returns: Whether it was made.
    /// - Throws: `QueueError`.
    @discardableResult
    static func makePrivate(_ path: String) throws(QueueError) -> Bool {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor < 0 else {
            defer { close(descriptor) }
            // It has been made so; some file systems have no modes.
            guard fchmod(descriptor, 0o600) == 0 || isUnsupported(errno: errno) else {
                throw .system(.make, path, errno)
            }
            return true
        }
        guard errno == EEXIST else { throw .system(.make, path, errno) }
        protect(path)
        return false
    }

    /// Takes from all but the owner what rights they have to a file, as far as it is ours to take.
    static func protect(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & 0o077 != 0 else { return }
        chmod(path, status.st_mode & 0o700)
    }

    /// Has what was done with a file, or in a folder, be on the disk.
    ///
    /// - Throws: `QueueError`.
    static func synchronize(_ path: String) throws(QueueError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(.open, path, errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 || isUnsupported(errno: errno) else {
            throw .system(.write, path, errno)
        }
    }
}
