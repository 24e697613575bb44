import SeggetReports
import Assembler
import Foundation
import Glibc

/// The files of a queue, by the path of its database.
package struct QueueFiles: Sendable, Hashable {
    /// The absolute path of the database.
    package let database: String

    /// Creates the paths of the queue at a path; a relative one begins at the current folder.
    package init(_ path: String) {
        let current = FileManager.default.currentDirectoryPath
        database = path.hasPrefix("/") ? path : "\(current)/\(path)"
    }

    /// The write-ahead log.
    package var writeAheadLog: String { "\(database)-wal" }
    /// The index of that log.
    package var sharedMemory: String { "\(database)-shm" }
    /// The file that the worker locks; it is never removed.
    package var lock: String { "\(database).lock" }
    /// The database of secrets.
    package var secrets: String { "\(database).secrets" }
    /// The folder with the plans of tasks that download data sets.
    package var plans: String { "\(database).plans" }
    /// The path of their folder.
    package var folder: String {
        let end = database.lastIndex(of: "/") ?? database.startIndex
        return end == database.startIndex ? "/" : String(database[..<end])
    }

    /// Returns the path of the copy of the database from before its migration from a version.
    package func backup(ofVersion version: Int) -> String { "\(database).backup-\(version)" }

    /// Returns a path for keeping a damaged file.
    ///
    /// - Parameters:
    ///   - path: Path of the file.
    ///   - time: In seconds since 1970.
    /// - Returns: A free path in the same folder.
    static func damaged(_ path: String, at time: Double) -> String {
        let style = Date.ISO8601FormatStyle(
            dateSeparator: .omitted, timeSeparator: .omitted, timeZone: .gmt)
        let name = "\(path).damaged-\(Date(timeIntervalSince1970: time).formatted(style))"
        guard access(name, F_OK) == 0 else { return name }
        return (2...).lazy.map { "\(name)-\($0)" }.first { access($0, F_OK) != 0 } ?? name
    }

    /// Creates the folder and its parents, with mode 0700.
    ///
    /// - Throws: `QueueError`.
    package func makeFolder() throws(QueueError) { try Self.make(folder: folder) }

    private static func make(folder: String) throws(QueueError) {
        guard !folder.isEmpty, access(folder, F_OK) != 0 else { return }
        try make(
            folder: String(folder[..<(folder.lastIndex(of: "/") ?? folder.startIndex)]))
        if mkdir(folder, 0o700) == 0 {
            // A umask may have removed permissions that the owner needs.
            chmod(folder, 0o700)
        } else if errno != EEXIST {
            throw .system(.makeFolder, folder, errno)
        }
    }

    /// Creates a file with mode 0600 if it does not exist, and restricts the permissions of an
    /// existing one.
    ///
    /// An existing database is never opened here: closing it would release SQLite's locks
    /// (fcntl(2)), which belong to the process.
    ///
    /// - Returns: Whether the file was created.
    /// - Throws: `QueueError`.
    @discardableResult
    static func makePrivate(_ path: String) throws(QueueError) -> Bool {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor < 0 else {
            defer { close(descriptor) }
            // The file was created with this mode; some file systems have no modes.
            guard fchmod(descriptor, 0o600) == 0 || isUnsupported(errno: errno) else {
                throw .system(.make, path, errno)
            }
            return true
        }
        guard errno == EEXIST else { throw .system(.make, path, errno) }
        protect(path)
        return false
    }

    /// Removes the permissions of group and others from a file, if this process may.
    static func protect(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & 0o077 != 0 else { return }
        chmod(path, status.st_mode & 0o700)
    }

    /// Waits until the changes of a file or folder are on the disk.
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
