// Model: the content of a queue as values: tasks, settings, commands and their results. It knows
// what can be reported of a task; it never knows where tasks are stored, or how a file is
// downloaded.

public import Assembler
// This API has ids, options and digests of the library, so it exports them.
@_exported public import Segmenter

/// One download of a queue, a file or a data set: its record.
///
/// Its progress while it runs is not recorded here, but in the part's manifest.
public struct QueueTask: Sendable, Hashable, Identifiable {
    /// The id of a task.
    public typealias ID = Download.ID

    /// The id.
    public var id: ID
    /// The URL as it was added; it identifies the task whatever redirects and ``urls`` are.
    public var url: String
    /// The present URLs, in order of preference; never empty.
    public var urls: [String]
    /// The place of the file.
    public var place: Place
    /// The data set that the task downloads into its folder; `nil` for a single file.
    ///
    /// Such a task has no name, and its URLs only show where the files come from.
    public var fileSet: FileSet?
    /// The options of the download, without the secrets that ``secretParts`` lists.
    public var options: DownloadOptions
    /// The parts whose secrets are not in this value: they are stored elsewhere, or are lost.
    public var secretParts: SecretParts = []
    /// Whether these secrets are kept in memory only, and are lost when the worker restarts.
    public var keepsNoSecrets = false
    /// The file mode creation mask for the file.
    public var umask: UInt32 = 0o022
    /// The command that prints a new link, as words; only tasks that were added on the command line
    /// have one.
    public var refreshCommand: [String] = []
    /// Tags, in the order in which they were given, each once.
    public var tags: [String] = []

    /// The user's wish, the state, and the place in queue order.
    public var status = TaskStatus()

    /// When it was added, in seconds since 1970.
    public var added: Double = 0
    /// When it first got a slot, in seconds since 1970.
    public var started: Double?
    /// When it ended, in seconds since 1970.
    public var finished: Double?
    /// When its last recorded byte arrived, in seconds since 1970.
    public var lastByte: Double?
    /// Size in bytes; `nil` when unknown.
    public var size: Int64?
    /// Bytes on the disk at the last change of its state.
    public var bytesDone: Int64 = 0
    /// The `Content-Type` field, as sent.
    public var contentType: String?
    /// The digests that the finished file was verified with.
    public var verified: [Digest] = []
    /// The identity of the part, and later of the finished file, which distinguishes it from a file
    /// of others.
    public var file: FileMark?
    /// Whether its result was seen.
    public var isSeen = false
    /// What remains to be done on the disk: a command starts it, and it continues after a crash.
    public var chore: Chore?

    /// Creates a waiting task.
    public init(
        id: ID, url: String, urls: [String], place: Place, options: DownloadOptions
    ) {
        self.id = id
        self.url = url
        self.urls = urls
        self.place = place
        self.options = options
    }

    /// The place of a file: below a root, by relative names.
    public struct Place: Sendable, Hashable, Codable {
        /// The absolute path of the root.
        public var root: String
        /// The folder below it; empty for the root itself.
        public var folder: String
        /// The name; `nil` until the server or the URL has given one.
        public var name: String?
        /// Whether the user chose the name; such a name gets no number if it is taken.
        public var isNameGiven: Bool

        /// Creates a place.
        public init(
            root: String, folder: String = "", name: String? = nil, isNameGiven: Bool? = nil
        ) {
            self.root = root
            self.folder = folder
            self.name = name
            self.isNameGiven = isNameGiven ?? (name != nil)
        }

        /// The path of the folder.
        public var folderPath: String {
            guard !folder.isEmpty else { return root }
            return root.hasSuffix("/") ? root + folder : "\(root)/\(folder)"
        }
        /// The path of the file; `nil` while it has no name.
        public var path: String? {
            name.map { folderPath.hasSuffix("/") ? folderPath + $0 : "\(folderPath)/\($0)" }
        }
    }

    /// Parts of a task that may be secret; the database has their numbers.
    public struct SecretParts: OptionSet, Sendable, Hashable, Codable {
        /// The query of the URL as it was added, which identifies the task, and is not downloaded
        /// from.
        public static let query = SecretParts(rawValue: 1)
        /// User, password or query of a present URL, including mirrors.
        public static let urls = SecretParts(rawValue: 2)
        /// Headers.
        public static let headers = SecretParts(rawValue: 4)
        /// User and password among the options.
        public static let user = SecretParts(rawValue: 8)
        /// Any other option.
        public static let other = SecretParts(rawValue: 16)

        /// The sum of the numbers of the parts.
        public let rawValue: Int64
        /// Creates a set of parts.
        public init(rawValue: Int64) { self.rawValue = rawValue }
    }

    /// The identity of a file, which distinguishes it from one that replaces it.
    public struct FileMark: Sendable, Hashable, Codable {
        /// `st_dev` of stat(2).
        public var device: UInt64
        /// `st_ino` of stat(2).
        public var inode: UInt64
        /// Length in bytes; `nil` for a part, which grows.
        public var size: Int64?
        /// When its content was last changed, in seconds since 1970; `nil` for a part.
        public var modified: Int64?
        /// The id in the manifest of a part, which identifies it whatever its last URL was; `nil`
        /// for a finished file.
        public var generation: String?
        /// Whether the file existed, and was neither requested nor checked.
        public var isSkipped: Bool?
        /// Whether it is an HTML page although something else was promised.
        public var isPage: Bool?

        /// Creates a mark.
        public init(
            device: UInt64, inode: UInt64, size: Int64? = nil, modified: Int64? = nil,
            generation: String? = nil
        ) {
            self.device = device
            self.inode = inode
            self.size = size
            self.modified = modified
            self.generation = generation
        }
    }

    /// Work on the disk.
    public enum Chore: Sendable, Hashable, Codable {
        /// Delete part and manifest, because the task was cancelled.
        case discard
        /// Remove the record; with `files`, first the finished file, part and manifest.
        case remove(files: Bool)
        /// Move the files from here to the task's place.
        case move(from: Place)
    }
}

/// The user's wish for a task, and its state.
public struct TaskStatus: Sendable, Hashable {
    /// The user's wish.
    public enum Wanted: String, Sendable, Hashable, Codable, CaseIterable {
        /// The task runs when a slot is free.
        case run
        /// The user paused the task: only the user resumes it.
        case paused
    }

    /// The state.
    public enum State: Sendable, Hashable {
        /// The task has no slot; with ``Wanted/paused``, because the user paused it.
        case waiting
        /// It is being downloaded.
        case running
        /// All bytes have arrived; the file is being verified and published.
        case verifying
        /// It had a transient failure, and is retried at a time, in seconds since 1970.
        case retrying(at: Double)
        /// The network is unreachable since a time, in seconds since 1970.
        case waitingForNetwork(since: Double)
        /// The file is complete and verified.
        case completed
        /// It failed, and is not retried.
        case failed
        /// The user cancelled it.
        case cancelled
    }

    /// The user's wish.
    public var wanted = Wanted.run
    /// The state.
    public var state = State.waiting
    /// The place in queue order, smallest first; no two tasks have the same.
    public var position: Int64 = 0
    /// The number of transient failures since it last received data.
    public var attempts = 0
    /// The reason of its last failure.
    public var problem: TaskProblem?

    /// Creates the status of a waiting task.
    public init() {}

    /// Whether the task has ended; only the user can start it again.
    public var isEnded: Bool {
        switch state {
        case .completed, .failed, .cancelled: true
        default: false
        }
    }
    /// Whether the task waits for its network.
    public var isAway: Bool { if case .waitingForNetwork = state { true } else { false } }
    /// Whether the task has a slot.
    public var hasSlot: Bool { state == .running || state == .verifying }
    /// Whether the user paused the task, and it has not ended.
    var isPaused: Bool { wanted == .paused && !isEnded }

    /// The word for the task's state that all surfaces show.
    public var word: Word { isPaused ? .paused : state.word }
}

extension TaskStatus.State {
    /// The word that the database stores; surfaces show ``TaskStatus/word``.
    var word: TaskStatus.Word {
        switch self {
        case .waiting: .waiting
        case .running: .running
        case .verifying: .verifying
        case .retrying: .retrying
        case .waitingForNetwork: .waitingForNetwork
        case .completed: .completed
        case .failed: .failed
        case .cancelled: .cancelled
        }
    }

    /// The time of the state in seconds since 1970: the time of the next try, or since when the
    /// task waits.
    public var time: Double? {
        switch self {
        case .retrying(let time), .waitingForNetwork(let time): time
        default: nil
        }
    }

    /// Creates a state from its word and time; `nil` for any other word.
    public init?(word: TaskStatus.Word, time: Double?) {
        switch word {
        case .waiting: self = .waiting
        case .running: self = .running
        case .verifying: self = .verifying
        case .retrying: self = .retrying(at: time ?? 0)
        case .waitingForNetwork: self = .waitingForNetwork(since: time ?? 0)
        case .completed: self = .completed
        case .failed: self = .failed
        case .cancelled: self = .cancelled
        default: return nil
        }
    }
}

/// The reason why a task failed, without secrets.
public struct TaskProblem: Sendable, Hashable, Codable {
    /// A stable name for programs: the `kind` of `docs/json.md`.
    public var kind: String
    /// The message: what happened, to which URL or file.
    public var message: String
    /// The next step, in the words of the API; ``queueHint(_:)`` has those of the command line.
    public var hint: String
    /// The next step as a stable name for programs, the `step` of `docs/api.md`; `nil` if there is
    /// none.
    public var step: String?
    /// For the step `secrets`: the members of the command `set` that must be given again.
    public var needed: [String]?
    /// Whether the next try downloads the whole file again, although bytes are on the disk.
    public var startsOver: Bool?
    /// The exit code that `segget get` would have had.
    public var code: Int32
    /// The status code of the response that failed; `nil` if none did.
    public var status: Int?
    /// The `CURLcode` of the transfer that failed; `nil` if libcurl reported none.
    public var curlCode: Int?
    /// The error number of the system call that failed; `nil` if none did.
    public var errno: Int32?

    /// Creates a problem.
    public init(kind: String, message: String, hint: String, code: Int32) {
        self.kind = kind
        self.message = message
        self.hint = hint
        self.code = code
    }

    enum CodingKeys: String, CodingKey {
        case kind, message, hint, step, needed, code, status, errno
        case startsOver = "starts_over"
        case curlCode = "curl_code"
    }
}
