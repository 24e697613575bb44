import SeggetReports
public import Segmenter

/// A command of a user to a queue.
///
/// In JSON it is an object with the word of the command as `command`, the keys of its tasks, and
/// its own keys; `docs/api.md` lists them.
public enum QueueCommand: Sendable, Hashable {
    /// Adds a task, or finds the existing one.
    case add(NewTask)
    /// Starts tasks now; if all slots are taken, they replace the tasks that have run longest.
    case start(TaskSelection)
    /// Pauses tasks: they keep their bytes, and close their connections.
    case pause(TaskSelection)
    /// Resumes paused tasks; failed and cancelled tasks start again.
    case resume(TaskSelection)
    /// Cancels tasks: their records remain; their parts and manifests are deleted, unless
    /// `keepsPart`.
    case cancel(TaskSelection, keepsPart: Bool = false)
    /// Retries tasks that failed, were cancelled or wait for a retry; also completed tasks whose
    /// file is missing, if the selection names their id or state.
    case retry(TaskSelection)
    /// Removes the records of tasks; with `files`, also their files.
    case remove(TaskSelection, files: Bool)
    /// Moves tasks in the order.
    case move(TaskSelection, to: QueuePosition)
    /// Gives a task's file another name, another folder, or both, also on the disk.
    case rename(TaskSelection, name: String?, folder: String?)
    /// Changes the URLs or options of tasks.
    case set(TaskSelection, TaskChanges)
    /// Adds and removes tags.
    case tag(TaskSelection, add: [String], remove: [String])
    /// Marks the results of tasks as seen.
    case markSeen(TaskSelection)
}

/// A place in queue order.
public enum QueuePosition: Sendable, Hashable {
    /// Before all waiting tasks.
    case first
    /// After all others.
    case last
    /// At a place, counted from 1; a place beyond the end is the end.
    case at(Int)
}

/// The tasks that a command or a request is about.
public struct TaskSelection: Sendable, Hashable {
    /// Ids or beginnings of ids, each of exactly one task.
    public var ids: [String]
    /// Tags; a task must have one of them.
    public var tags: [String]
    /// Whether all tasks are selected.
    public var isAll: Bool
    /// The states of the tasks; empty for any state.
    public var states: [TaskStatus.Word]

    /// Selects tasks.
    public init(
        ids: [String] = [], tags: [String] = [], isAll: Bool = false,
        states: [TaskStatus.Word] = []
    ) {
        self.ids = ids
        self.tags = tags
        self.isAll = isAll
        self.states = states
    }

    /// Selects one task.
    public init(_ id: QueueTask.ID) { self.init(ids: [id.description]) }
}

/// A task to add.
public struct NewTask: Sendable, Hashable {
    /// The id of the task; `nil` for a random one.
    public var id: QueueTask.ID?
    /// An http or https URL, with secrets; further URLs of the same file are mirrors in
    /// ``options``.
    public var url: String
    /// The absolute path of a plan, whose files are downloaded into the folder; `nil` for one file.
    ///
    /// The queue copies the plan when it adds the task. The task's URL is then that of the plan.
    public var plan: String?
    /// The place of the file; the root is an absolute path.
    public var place: QueueTask.Place
    /// The options of the download, with secrets.
    public var options: DownloadOptions
    /// The file mode creation mask for the file.
    public var umask: UInt32
    /// The command that prints a new link, as words.
    public var refreshCommand: [String]
    /// Tags.
    public var tags: [String]
    /// Whether the task starts paused.
    public var isPaused: Bool
    /// The place in queue order.
    public var position: QueuePosition
    /// Whether a task is added even if one with the same URL exists.
    public var isAgain: Bool
    /// Whether a task with the same URL counts as existing in any folder, not only in the same one.
    public var isKnownAnywhere: Bool
    /// The folders whose tasks the client may know; `nil` for all folders.
    package var knownBelow: [String]?
    /// Whether passwords, headers and the queries of URLs are kept in memory only, until the worker
    /// ends.
    public var keepsNoSecrets: Bool
    /// The reason why the task failed before it could begin; such a task is only recorded.
    package var problem: TaskProblem?
    /// Whether a task whose path another task has is recorded as failed, and not refused.
    package var failsWhereTaken = false
    /// Whether a client over TCP adds it.
    package var isOfClient = false
    /// Whether only files that a task of this queue has downloaded are replaced, whatever the
    /// options say.
    package var replacesOwnFilesOnly = false

    /// Creates a task to add at the end of the queue.
    public init(
        _ url: String, to place: QueueTask.Place, options: DownloadOptions = DownloadOptions()
    ) {
        (self.url, self.place, self.options) = (url, place, options)
        (umask, refreshCommand, tags, isPaused) = (0o022, [], [], false)
        (position, isAgain, keepsNoSecrets) = (.last, false, false)
        isKnownAnywhere = false
    }

    /// Creates a task to add at the end of the queue, which downloads the files of a plan.
    ///
    /// - Parameters:
    ///   - plan: The absolute path of the plan.
    ///   - place: The folder of the files; it must have no name.
    ///   - options: The options of all files, with secrets.
    public init(
        plan: String, to place: QueueTask.Place, options: DownloadOptions = DownloadOptions()
    ) {
        self.init("", to: place, options: options)
        self.plan = plan
    }
}

/// Changes of a task; everything else remains unchanged.
public struct TaskChanges: Sendable, Hashable {
    /// The URLs that replace those of the task, which keeps its bytes.
    ///
    /// `nil` leaves them unchanged.
    public var urls: [String]?
    /// The new values of options.
    public var options = OptionChanges()
    /// Whether the task may no longer connect to private addresses.
    package var deniesPrivate = false
    /// Whether a client over TCP makes them.
    package var areOfClient = false

    /// Creates changes that change nothing.
    public init() {}

    /// Creates changes of the options that a closure sets.
    public init(_ change: (inout DownloadOptions) -> Void) { options = OptionChanges(change) }
}

/// The result of a command for one task.
public struct CommandResult: Sendable, Hashable, Codable {
    /// The outcome of the command.
    public enum Outcome: String, Sendable, Hashable, Codable {
        /// The command was carried out.
        case done
        /// There was nothing to do.
        case unchanged
        /// The command was refused, and nothing was changed.
        case refused
    }

    /// The task; `nil` if none was found.
    public var id: QueueTask.ID?
    /// The outcome of the command.
    public var outcome: Outcome
    /// The message, if there is something to report.
    public var message: String?
    /// The exit code of a refusal; 0 for any other outcome.
    public var code: Int32
    /// The member of the command that a refusal is about, such as `url` or `name`; `nil` if it is
    /// not one member.
    public var member: String?
    /// The next step as a stable name for programs, the `step` of `docs/api.md`; `nil` if there is
    /// none.
    public var step: String?
    /// The part of a removed task that remains on the disk; `nil` if there is none.
    public var left: LeftPart?

    /// The task that already has the URL of an added one: the same as ``id``, or the one that
    /// ``id`` copies.
    public var known: KnownTask?

    /// A task that already has the URL of an added one.
    public struct KnownTask: Sendable, Hashable, Codable {
        /// The id of the task.
        public var id: QueueTask.ID
        /// The path of its file, or of its folder while the file has no name.
        public var path: String
        /// The members of the added task that differ, which is why it was refused: `checksum`,
        /// `user`, `headers`.
        public var differs: [String]

        /// Creates the description of a task.
        public init(id: QueueTask.ID, path: String, differs: [String] = []) {
            (self.id, self.path, self.differs) = (id, path, differs)
        }
    }

    /// A part that no longer belongs to a task.
    public struct LeftPart: Sendable, Hashable, Codable {
        /// Path of the part.
        public var path: String
        /// The bytes that the part occupies on the disk.
        public var bytes: Int64

        /// Creates the description of a part.
        public init(path: String, bytes: Int64) { (self.path, self.bytes) = (path, bytes) }
    }

    /// Creates a result.
    public init(
        _ id: QueueTask.ID?, _ outcome: Outcome, _ message: String? = nil, code: Int32 = 0
    ) {
        (self.id, self.outcome, self.message, self.code) = (id, outcome, message, code)
    }

    /// Creates a result with a note.
    init(_ id: QueueTask.ID?, _ outcome: Outcome, _ note: CommandNote) {
        self.init(id, outcome, note.text)
    }

    /// Returns a refusal; `member` is the member of the command that it is about.
    static func refused(
        _ id: QueueTask.ID?, _ refusal: CommandRefusal, member: String? = nil
    ) -> CommandResult {
        var result = CommandResult(
            id, .refused, refusal.message, code: refusal.status.rawValue)
        result.member = member
        return result
    }

    /// Returns a refusal for a task that has failed to do what was requested.
    static func refused(_ id: QueueTask.ID?, _ problem: TaskProblem) -> CommandResult {
        CommandResult(id, .refused, problem.message, code: problem.code)
    }
}

extension QueueCommand {
    /// The tasks that the command is about; `nil` for a new one.
    public var selection: TaskSelection? {
        switch self {
        case .add: nil
        case .start(let selection), .pause(let selection), .resume(let selection),
            .cancel(let selection, _), .retry(let selection), .remove(let selection, _),
            .move(let selection, _), .rename(let selection, _, _), .set(let selection, _),
            .tag(let selection, _, _), .markSeen(let selection):
            selection
        }
    }
}
