internal import GRDB
import Glibc
import SeggetReports

extension QueueError {
    /// Returns the error for a system call that failed.
    static func system(
        _ step: QueueFailure.Step, _ path: String, _ number: Int32
    ) -> QueueError {
        switch number {
        case ENOSPC, EDQUOT: QueueError(.diskFull(path))
        default: QueueError(.system(step, path, errno: number))
        }
    }

    /// Returns the error for a file system that has no locks.
    static func withoutLocks(_ path: String, _ number: Int32) -> QueueError {
        let folder = String(path.prefix(through: path.lastIndex(of: "/") ?? path.startIndex))
        let mount = MountPoint(of: folder).map {
            QueueFailure.Mount(path: $0.path, type: $0.type)
        }
        return QueueError(.noLocks(path, mount: mount, errno: number))
    }

    /// Creates the error for what a use of a database has thrown.
    ///
    /// - Parameters:
    ///   - failure: The thrown error.
    ///   - path: The path of the database.
    init(_ failure: any Error, _ path: String) {
        switch failure {
        case let error as QueueError: self = error
        case let error as DatabaseError: self.init(QueueFailure(error, path))
        case let error as QueueDamage: self.init(.damaged(path, error))
        case is DecodingError: self.init(.damaged(path, .value))
        default: self.init(.unusable(path, reason: "\(failure)"))
        }
    }
}

extension QueueFailure {
    fileprivate init(_ error: DatabaseError, _ path: String) {
        let reason = error.message ?? "\(error.resultCode)"
        self =
            switch (error.resultCode, error.extendedResultCode) {
            case (.SQLITE_CORRUPT, _), (.SQLITE_NOTADB, _): .damaged(path, .found(reason))
            // All queries are valid, so these errors come from the content of the file.
            case (.SQLITE_ERROR, _)
            where ["no such table", "no such column", "malformed JSON", "unsupported file format"]
                .contains(where: reason.hasPrefix):
                .damaged(path, .found(reason))
            case (.SQLITE_FULL, _), (_, .SQLITE_IOERR_SHMSIZE): .diskFull(path)
            case (.SQLITE_BUSY, _), (.SQLITE_LOCKED, _): .locked(path)
            case (_, .SQLITE_CONSTRAINT_PRIMARYKEY): .idStored(path)
            default: .unusable(path, reason: reason)
            }
    }
}
