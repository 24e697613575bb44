package import SeggetFormats
package import Segmenter

/// Why a queue cannot be used, or does not do what was requested.
package enum QueueFailure: Sendable, Hashable {
    /// There is no queue at this path yet.
    case noQueue(String)
    /// The database is damaged.
    case damaged(String, QueueDamage)
    /// A later version has written the database; this one knows the formats up to a number.
    case laterFormat(String, known: Int)
    /// An earlier version has written the database, which this process may only read.
    case earlierFormat(String)
    /// The file is the database of another program.
    case foreign(String)
    /// The disk is full.
    case diskFull(String)
    /// The queue was opened for reading only.
    case readOnly(String)
    /// SQLite cannot keep a write-ahead log for the database.
    case noWriteAheadLog(String)
    /// The file system has no locks; the mount is `nil` if unknown.
    case noLocks(String, mount: Mount?, errno: Int32)
    /// A system call on a file has failed.
    case system(Step, String, errno: Int32)
    /// SQLite, or Foundation, has failed with this message.
    case unusable(String, reason: String)
    /// Another process has locked the database for too long.
    case locked(String)
    /// The queue already has a task with an id that was given.
    case idStored(String)
    /// Another command holds the lock of the queue.
    case heldByCommand(String)
    /// A worker holds the lock of the queue.
    case hasWorker(String, pid: Int32, version: String)
    /// A worker of an earlier version uses the older format of the queue.
    case hasOldWorker(String, pid: Int32, version: String)
    /// There is no task with this id.
    case noTask(Download.ID)
    /// There is no longer a task with this id.
    case taskGone(Download.ID)
    /// The task with this id was removed.
    case taskRemoved(Download.ID)
    /// No id begins with this text.
    case noTaskLike(String)
    /// Several ids begin with this text.
    case ambiguous(String)
    /// The queue's copy of a task's plan cannot be read, for a reason in words.
    case planLost(String, reason: String)
    /// The task was not added, for a reason in words.
    case notAdded(String?)
    /// A filter has more words than this.
    case tooManyWords(most: Int)
    /// A search text has too many bytes.
    case longText(most: Int, bytes: Int)
    /// A setting has a value that it does not take.
    case setting(String, OptionKind)
    /// Secrets that are not stored were given to a queue without a worker.
    case needsWorker
    /// The queue is shut down.
    case shutDown
    /// The caller, which waited for a task or the queue, was cancelled.
    case waitCancelled(Waited)
    /// The folder whose parts are to be found cannot be read.
    case unreadableFolder(String)

    /// The purpose of a system call.
    package enum Step: Sendable, Hashable {
        case open, read, write, writeTo, lock, make, makeFolder, create, copy, replace
    }

    /// The mount that a file is on.
    package struct Mount: Sendable, Hashable {
        /// The path at which it is mounted.
        package var path: String
        /// The type of the file system, such as `nfs4`.
        package var type: String

        /// Creates a mount.
        package init(path: String, type: String) { (self.path, self.type) = (path, type) }
    }

    /// The subject of a wait.
    package enum Waited: Sendable, Hashable { case task, queue }
}

/// The damage of a database.
package enum QueueDamage: Error, Sendable, Hashable {
    /// SQLite reports this.
    case found(String)
    /// A value of unknown kind cannot be read.
    case value
    /// A column, counted from 0, has no value of its type.
    case missing(column: Int)
    /// The id of a task is not an id.
    case id
    /// The word of a state is unknown.
    case state
    /// The word for the user's wish is unknown.
    case wanted
    /// The JSON of a column cannot be read.
    case json
    /// The damage is in the row of a task.
    indirect case task(Download.ID, QueueDamage)
}

extension QueueFailure {
    /// The message: what happened, to which file or task.
    package var message: String {
        switch self {
        case .noQueue(let path): "there is no queue `\(path)`"
        case .damaged(let path, let damage): "the queue `\(path)` is damaged: \(damage.text)"
        case .laterFormat(let path, let version):
            "the queue `\(path)` was written by a later version of segget: this one reads formats "
                + "up to \(version)"
        case .earlierFormat(let path):
            "the queue `\(path)` was written by an earlier version of segget"
        case .foreign(let path): "`\(path)` is the database of another program"
        case .diskFull(let path): "no space is left for the queue `\(path)`"
        case .readOnly(let path): "the queue `\(path)` is open for reading only"
        case .noWriteAheadLog(let path): "the queue `\(path)` cannot have a write-ahead log"
        case .noLocks(let path, let mount, let code):
            (mount.map { "the mount `\($0.path)` (\($0.type))" }
                ?? "the file system of `\(path)`")
                + " has no file locks (\(Diagnostic.describe(errno: code))), which the queue `\(path)` needs"
        case .system(let step, let path, let code):
            "could not \(step.text) `\(path)`: \(Diagnostic.describe(errno: code))"
        case .unusable(let path, let reason): "the queue `\(path)` cannot be used: \(reason)"
        case .locked(let path): "another process has locked the queue `\(path)` for too long"
        case .idStored(let path): "the queue `\(path)` already has a task with that id"
        case .heldByCommand(let path): "another command has locked the queue `\(path)`"
        case .hasWorker(let path, let pid, let version):
            "the queue `\(path)` already has a worker: process \(pid), segget \(version)"
        case .hasOldWorker(let path, let pid, let version):
            "process \(pid), segget \(version), runs the queue `\(path)`, which has an older format"
        case .noTask(let id): "there is no task `\(id)`"
        case .taskGone(let id): "there is no task \(id)"
        case .taskRemoved(let id): "task \(id) was removed"
        case .noTaskLike(let text): "there is no task \(text)"
        case .ambiguous(let text): "several tasks have an id that begins with \(text)"
        case .planLost(_, let reason): reason
        case .notAdded(let reason): reason ?? "the task was refused"
        case .tooManyWords(let most): "a filter has at most \(most) ids, tags or states"
        case .longText(let most, let bytes):
            "a search text has at most \(most) bytes, not \(bytes)"
        case .setting(let key, let kind): Diagnostic.describe(key, takes: kind)
        case .needsWorker:
            "secrets that are not stored need a running worker, which keeps them in memory"
        case .shutDown: "the queue is shut down"
        case .waitCancelled: "waiting was cancelled"
        case .unreadableFolder(let path): "the folder `\(path)` cannot be read"
        }
    }

    /// The next step for the user.
    package var hint: String {
        switch self {
        case .noQueue: "`segget add` makes one, `--queue` names another"
        case .damaged(let path, _): Self.recovery(path)
        case .laterFormat: "use that version; nothing was changed"
        case .earlierFormat:
            "run `segget list` as a user who may write to it: that upgrades it"
        case .foreign: "give another file with `--queue`; nothing was changed"
        case .diskFull: "free some space; nothing of the queue was lost"
        case .readOnly: "make its file system and folder writable"
        case .noWriteAheadLog: "keep it on a local disk"
        case .noLocks:
            "give a queue on another file system with `--queue`; downloads can still go there"
        case .system, .unusable:
            "check the file and its folder, or give another queue with `--queue`"
        case .locked, .heldByCommand: "try again"
        case .idStored: "give another id, or none"
        case .hasWorker: "use that one, or end it first"
        case .hasOldWorker: "stop that process, then run the command again"
        case .noTask, .noTaskLike: "`segget list` shows the tasks and their ids"
        case .taskGone, .taskRemoved: "`segget list` shows the tasks"
        case .ambiguous: "give more of its digits; `segget list` shows them"
        case .planLost: "remove the task, and add the plan again; files in the folder remain"
        case .notAdded: "nothing was added"
        case .tooManyWords: "send several requests, or ask for all tasks"
        case .longText: "search for a part of it"
        case .setting: "the settings are unchanged"
        case .needsWorker:
            "start `segget run --keep-running` first, or add without `--no-store-secrets`"
        case .shutDown: "open it again"
        case .waitCancelled(.task): "the task continues"
        case .waitCancelled(.queue): "the queue continues"
        case .unreadableFolder: "check its name and permissions"
        }
    }

    private static func recovery(_ path: String) -> String {
        // Secrets are recovered with their queue.
        let secrets = ".secrets"
        let queue = path.hasSuffix(secrets) ? String(path.dropLast(secrets.count)) : path
        return "`segget add --queue \(queue) --recover \(queue)` makes a new one from what can be "
            + "read, and keeps the old one beside"
    }
}

extension QueueFailure.Step {
    fileprivate var text: String {
        switch self {
        case .open: "open"
        case .read: "read"
        case .write: "write"
        case .writeTo: "write to"
        case .lock: "lock"
        case .make: "make"
        case .makeFolder: "make the folder"
        case .create: "create"
        case .copy: "copy"
        case .replace: "replace"
        }
    }
}

extension QueueDamage {
    fileprivate var text: String {
        switch self {
        case .found(let reason): reason
        case .value: "a value in it cannot be read"
        case .missing(let column): "the value in column \(column) is missing"
        case .id: "the id of a task is invalid"
        case .state: "the state is unknown"
        case .wanted: "the value of `wanted` is unknown"
        case .json: "a value cannot be read"
        case .task(let id, let damage): "of the task `\(id)`, \(damage.text)"
        }
    }
}
