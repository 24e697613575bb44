import Foundation
internal import GRDB
import Glibc

/// A value in the database that is not what it has to be.
struct UnreadableValue: Error {
    /// What is wrong with which column, or with which value in it.
    var description: String
}

extension QueueError {
    /// A system call that failed.
    static func system(_ action: String, _ path: String, _ number: Int32) -> QueueError {
        let reason = String(cString: strerror(number))
        switch number {
        case ENOSPC, EDQUOT: return full(path)
        default:
            return QueueError(
                .unavailable, "could not \(action) `\(path)`: \(reason)",
                hint: "check the file and its folder, or give another queue with `--queue`")
        }
    }

    /// The file system of a queue has no locks.
    static func withoutLocks(_ path: String, _ number: Int32) -> QueueError {
        let folder = String(path.prefix(through: path.lastIndex(of: "/") ?? path.startIndex))
        let mount = MountPoint(of: folder).map { "the mount `\($0.path)` (\($0.type))" }
        return QueueError(
            .unavailable,
            "\(mount ?? "the file system of `\(path)`") has no file locks (\(String(cString: strerror(number)))), "
                + "which the queue `\(path)` needs",
            hint: "give a queue on another file system with `--queue`; downloads can still go there"
        )
    }

    /// There is no room for what is to be written.
    static func full(_ path: String) -> QueueError {
        QueueError(
            .diskFull, "no space is left for the queue `\(path)`",
            hint: "free some space; nothing of the queue was lost")
    }

    /// A later version has been here.
    static func later(_ path: String, knows version: Int) -> QueueError {
        QueueError(
            .laterVersion,
            "the queue `\(path)` was written by a later version of segget: this one reads formats up to \(version)",
            hint: "use that version; nothing was changed")
    }

    /// The file is a database, but none of a queue.
    static func foreign(_ path: String) -> QueueError {
        QueueError(
            .invalid, "`\(path)` is the database of another program",
            hint: "give another file with `--queue`; nothing was changed")
    }

    /// What is in the file makes no sense.
    static func damaged(_ path: String, _ reason: String) -> QueueError {
        // Secrets are recovered with their queue.
        let secrets = ".secrets"
        let queue = path.hasSuffix(secrets) ? String(path.dropLast(secrets.count)) : path
        return QueueError(
            .damaged, "the queue `\(path)` is damaged: \(reason)",
            hint:
                "`segget add --queue \(queue) --recover \(queue)` makes a new one from what can be read, and keeps the old one "
                + "beside"
        )
    }

    /// What happened with a database.
    ///
    /// - Parameters:
    ///   - failure: What was thrown.
    ///   - path: Path of the database.
    init(_ failure: any Error, _ path: String) {
        switch failure {
        case let error as QueueError: self = error
        case let error as DatabaseError: self.init(database: error, path)
        case let error as UnreadableValue: self = .damaged(path, error.description)
        case is DecodingError: self = .damaged(path, "a value in it cannot be read")
        default:
            self.init(
                .unavailable, "the queue `\(path)` cannot be used: \(failure)",
                hint: "check the file and its folder, or give another queue with `--queue`")
        }
    }

    private init(database error: DatabaseError, _ path: String) {
        let reason = error.message ?? "\(error.resultCode)"
        switch (error.resultCode, error.extendedResultCode) {
        case (.SQLITE_CORRUPT, _), (.SQLITE_NOTADB, _): self = .damaged(path, reason)
        // What is asked is the same in each queue: these are errors of what is there.
        case (.SQLITE_ERROR, _)
        where ["no such table", "no such column", "malformed JSON", "unsupported file format"]
            .contains(
                where: reason.hasPrefix):
            self = .damaged(path, reason)
        case (.SQLITE_FULL, _), (_, .SQLITE_IOERR_SHMSIZE): self = .full(path)
        case (.SQLITE_BUSY, _), (.SQLITE_LOCKED, _):
            self.init(
                .busy, "another process has locked the queue `\(path)` for too long",
                hint: "try again")
        case (_, .SQLITE_CONSTRAINT_PRIMARYKEY):
            self.init(
                .invalid, "the queue `\(path)` already has a task with that id",
                hint: "give another id, or none")
        default:
            self.init(
                .unavailable, "the queue `\(path)` cannot be used: \(reason)",
                hint: "check the file and its folder, or give another queue with `--queue`")
        }
    }

    /// There is no task of an id.
    static func noTask(_ id: QueueTask.ID) -> QueueError {
        QueueError(
            .noTask, "there is no task `\(id)`", hint: "`segget list` shows the tasks and their ids"
        )
    }
}
