import SeggetReports
public import Segmenter

/// What a user tells a queue to do.
///
/// In JSON it is an object with `command`, its word, beside the keys of the tasks that it is for, and its own:
/// `docs/api.md` has them.
public enum QueueCommand: Sendable, Hashable {
    /// Adds a task, or finds the one that there is.
    case add(NewTask)
    /// Starts tasks now; where all slots are taken, in place of the one that has run longest.
    case start(TaskSelection)
    /// Holds tasks: they keep their bytes, and let go of all else.
    case pause(TaskSelection)
    /// Lets tasks run that were held; those that failed or were cancelled begin again.
    case resume(TaskSelection)
    /// Ends tasks: their records stay; parts and manifests are deleted, unless `keepsPart`.
    case cancel(TaskSelection, keepsPart: Bool = false)
    /// Downloads again what failed, was cancelled or waits to be retried; and a completed task whose file is gone, if the
    /// selection names its id or its state.
    case retry(TaskSelection)
    /// Takes the records of tasks away; with `files`, what there is of their files too.
    case remove(TaskSelection, files: Bool)
    /// Moves tasks in the order.
    case move(TaskSelection, to: QueuePosition)
    /// Gives a task's file another name, another folder, or both, on the disk too.
    case rename(TaskSelection, name: String?, folder: String?)
    /// Changes how tasks are fetched.
    case set(TaskSelection, TaskChanges)
    /// Adds and removes tags.
    case tag(TaskSelection, add: [String], remove: [String])
    /// Notes that the ends of tasks were shown to somebody.
    case markSeen(TaskSelection)
}

/// Where in the order.
public enum QueuePosition: Sendable, Hashable {
    /// Before all others that wait.
    case first
    /// Behind all others.
    case last
    /// At a place, from 1; what is beyond the end is the end.
    case at(Int)
}

/// Which tasks are meant.
public struct TaskSelection: Sendable, Hashable {
    /// Ids, or the beginnings of ids, each of exactly one task.
    public var ids: [String]
    /// Tags, of which a task has to have one.
    public var tags: [String]
    /// All tasks.
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

/// A task to be added.
public struct NewTask: Sendable, Hashable {
    /// The id that it is to have; `nil` for a random one.
    public var id: QueueTask.ID?
    /// An http or https URL, secrets and all; further ones of the same file are mirrors in ``options``.
    public var url: String
    /// Where the file goes; the root is an absolute path.
    public var place: QueueTask.Place
    /// How it is fetched, secrets and all.
    public var options: DownloadOptions
    /// The file mode creation mask to make the file with.
    public var umask: UInt32
    /// The command that gives a new link, as words.
    public var refreshCommand: [String]
    /// Tags.
    public var tags: [String]
    /// Whether it begins held.
    public var isPaused: Bool
    /// Where it goes in the order.
    public var position: QueuePosition
    /// Makes another task of a URL that there is a task of already.
    public var isAgain: Bool
    /// Whether a task of the same URL is meant whatever its folder; else only one for the same folder.
    public var isKnownAnywhere: Bool
    /// The folders of tasks that the client may know of; `nil` for all folders.
    package var knownBelow: [String]?
    /// Writes passwords, headers and the queries of URLs nowhere: they are gone when the worker ends.
    public var keepsNoSecrets: Bool
    /// Why it has failed before it could begin: then it is only recorded.
    package var problem: TaskProblem?
    /// Whether it is recorded as failed where another task's file goes to the same path, and not refused.
    package var failsWhereTaken = false
    /// Whether a client over TCP adds it.
    package var isOfClient = false
    /// Whether nothing is replaced but what a task of this queue has brought, whatever the options say.
    package var replacesOwnFilesOnly = false

    /// Makes a task to be added at the end of the order.
    public init(
        _ url: String, to place: QueueTask.Place, options: DownloadOptions = DownloadOptions()
    ) {
        (self.url, self.place, self.options) = (url, place, options)
        (umask, refreshCommand, tags, isPaused) = (0o022, [], [], false)
        (position, isAgain, keepsNoSecrets) = (.last, false, false)
        isKnownAnywhere = false
    }
}

/// What of a task is to change; the rest stays.
public struct TaskChanges: Sendable, Hashable {
    /// URLs to download it from, which replace those that it has; the bytes are kept.
    ///
    /// `nil` changes nothing.
    public var urls: [String]?
    /// New values of its options.
    public var options = OptionChanges()
    /// Whether the task must not reach private addresses from now on.
    package var deniesPrivate = false
    /// Whether a client over TCP makes them.
    package var areOfClient = false

    /// Changes nothing.
    public init() {}

    /// Changes the options that a closure sets.
    public init(_ change: (inout DownloadOptions) -> Void) { options = OptionChanges(change) }
}

/// What a command has done to one task.
public struct CommandResult: Sendable, Hashable, Codable {
    /// How it went.
    public enum Outcome: String, Sendable, Hashable, Codable {
        /// It is done.
        case done
        /// There was nothing to do: it is so already.
        case unchanged
        /// It was refused, and nothing was changed.
        case refused
    }

    /// The task; `nil` where none was found.
    public var id: QueueTask.ID?
    /// How it went.
    public var outcome: Outcome
    /// What happened, in words, where there is something to say.
    public var message: String?
    /// The exit code of a refusal, else 0.
    public var code: Int32
    /// The member of the command that a refusal is about: `url`, `name`, `folder`; `nil` where no one member is.
    public var member: String?
    /// What to do next, as a stable name for programs: the `step` of `docs/api.md`; `nil` where there is none.
    public var step: String?
    /// The part that a removed task leaves on the disk; `nil` when there is none.
    public var left: LeftPart?

    /// The task that has the URL of an added one already: the same as ``id``, or the one that ``id`` is a copy of.
    public var known: KnownTask?

    /// A task that has the URL of an added one.
    public struct KnownTask: Sendable, Hashable, Codable {
        /// The task.
        public var id: QueueTask.ID
        /// Where its file goes: the path, or the folder as long as there is no name.
        public var path: String
        /// What of the added task is not as in this one, and refused for that: `checksum`, `user`, `headers`.
        public var differs: [String]

        /// Makes a description of a task.
        public init(id: QueueTask.ID, path: String, differs: [String] = []) {
            (self.id, self.path, self.differs) = (id, path, differs)
        }
    }

    /// A part that no task has any more.
    public struct LeftPart: Sendable, Hashable, Codable {
        /// Path of the part.
        public var path: String
        /// Bytes that the part takes up on the disk.
        public var bytes: Int64

        /// Makes a description of a part.
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
    /// Which tasks it is about; `nil` for a new one.
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
