// Model: what a queue holds, as values: tasks, roots, settings, commands and their answers. It knows what can be
// said of a task; it never knows where that is stored, nor how a file is fetched.

public import Assembler
// Ids, options and digests of the library below stand in this API, so that whoever has it has them too.
@_exported public import Segmenter

/// One download of a queue: all that is recorded of it.
///
/// How far it is while it runs is not recorded here: that is in the part's manifest.
public struct QueueTask: Sendable, Hashable, Identifiable {
    /// What it is known by.
    public typealias ID = Download.ID

    /// Which task it is.
    public var id: ID
    /// The URL as it was added: what the task is known by, wherever redirects lead, and whatever ``urls`` are.
    public var url: String
    /// The URLs that it is fetched from now, the first one first; never empty.
    public var urls: [String]
    /// Where the file goes.
    public var place: Place
    /// How it is fetched; its secrets are left out where ``secretParts`` says so.
    public var options: DownloadOptions
    /// The parts whose secrets are not in this value: they are kept elsewhere, or are gone.
    public var secretParts: SecretParts = []
    /// Whether those secrets were not to be stored: after a restart of the worker they are gone.
    public var keepsNoSecrets = false
    /// The file mode creation mask when it was added: the file is made with it.
    public var umask: UInt32 = 0o022
    /// The command that gives a new link, as words; only tasks that a command line added have one.
    public var refreshCommand: [String] = []
    /// Free words that it can be found by, in the order in which they were given, each once.
    public var tags: [String] = []

    /// What the user wants, what is so, and in which order it comes.
    public var status = TaskStatus()

    /// When it was added, in seconds since 1970.
    public var added: Double = 0
    /// When it first got a slot, in seconds since 1970.
    public var started: Double?
    /// When it ended, well or not, in seconds since 1970.
    public var finished: Double?
    /// When its last byte came, as far as that was recorded, in seconds since 1970.
    public var lastByte: Double?
    /// Size in bytes; `nil` when unknown.
    public var size: Int64?
    /// Bytes on the disk at the last change of its state.
    public var bytesDone: Int64 = 0
    /// The `Content-Type` field, as sent.
    public var contentType: String?
    /// The digests that the finished file was verified with.
    public var verified: [Digest] = []
    /// The part while it is fetched, and then the finished file: told by this from what somebody else put there.
    public var file: FileMark?
    /// Whether somebody was told of its end.
    public var isSeen = false
    /// What is still to be done on the disk about it: begun by a command, and gone on with after a crash.
    public var chore: Chore?

    /// Makes a task that waits.
    public init(
        id: ID, url: String, urls: [String], place: Place, options: DownloadOptions
    ) {
        self.id = id
        self.url = url
        self.urls = urls
        self.place = place
        self.options = options
    }

    /// Where a file goes: below a root, by relative names.
    public struct Place: Sendable, Hashable, Codable {
        /// Path of the root, absolute.
        public var root: String
        /// The folder below it; empty for the root itself.
        public var folder: String
        /// The name; `nil` until the server, or the URL, has given one.
        public var name: String?
        /// Whether the user chose the name: it is not numbered when it is taken.
        public var isNameGiven: Bool

        /// Makes a place.
        public init(
            root: String, folder: String = "", name: String? = nil, isNameGiven: Bool? = nil
        ) {
            self.root = root
            self.folder = folder
            self.name = name
            self.isNameGiven = isNameGiven ?? (name != nil)
        }

        /// Path of the folder.
        public var folderPath: String {
            guard !folder.isEmpty else { return root }
            return root.hasSuffix("/") ? root + folder : "\(root)/\(folder)"
        }
        /// Path of the file; `nil` as long as it has no name.
        public var path: String? {
            name.map { folderPath.hasSuffix("/") ? folderPath + $0 : "\(folderPath)/\($0)" }
        }
    }

    /// Parts of a task that may be secret; the numbers stand in the database.
    public struct SecretParts: OptionSet, Sendable, Hashable, Codable {
        /// The query of the URL as it was added: what the task is known by, not what it is fetched from.
        public static let query = SecretParts(rawValue: 1)
        /// User, password or query of a URL that it is fetched from, mirrors too.
        public static let urls = SecretParts(rawValue: 2)
        /// Headers.
        public static let headers = SecretParts(rawValue: 4)
        /// User and password among the options.
        public static let user = SecretParts(rawValue: 8)
        /// Any other option.
        public static let other = SecretParts(rawValue: 16)

        /// The numbers of the parts, added.
        public let rawValue: Int64
        /// Makes a set of parts.
        public init(rawValue: Int64) { self.rawValue = rawValue }
    }

    /// What distinguishes a file from others that may take its place.
    public struct FileMark: Sendable, Hashable, Codable {
        /// `st_dev` of stat(2).
        public var device: UInt64
        /// `st_ino` of stat(2).
        public var inode: UInt64
        /// Length in bytes; `nil` for a part, which grows.
        public var size: Int64?
        /// When its content was last changed, in seconds since 1970; `nil` for a part.
        public var modified: Int64?
        /// What the manifest of a part calls it, by which it is known whatever link it was last fetched from; `nil` for
        /// a finished file.
        public var generation: String?
        /// Whether the file existed, and was neither asked for nor checked.
        public var isSkipped: Bool?
        /// Whether it is an HTML page where something else was promised.
        public var isPage: Bool?

        /// Makes a mark.
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

    /// What is to be done on the disk.
    public enum Chore: Sendable, Hashable, Codable {
        /// Part and manifest go: the task was cancelled.
        case discard
        /// The record goes; with `files`, finished file, part and manifest before it.
        case remove(files: Bool)
        /// What there is moves from here to the task's place.
        case move(from: Place)
    }
}

/// What the user wants, and what is so.
public struct TaskStatus: Sendable, Hashable {
    /// What the user wants.
    public enum Wanted: String, Sendable, Hashable, Codable, CaseIterable {
        /// The task runs when a slot is free.
        case run
        /// The user paused the task: only the user resumes it.
        case paused
    }

    /// What is so.
    public enum State: Sendable, Hashable {
        /// The task has no slot; with ``Wanted/paused``, because the user paused it.
        case waiting
        /// It is being fetched.
        case running
        /// All bytes are there: the file is being verified and published.
        case verifying
        /// It failed in a way that passes, and is tried again at a time, in seconds since 1970.
        case retrying(at: Double)
        /// The network is away, since a time, in seconds since 1970.
        case waitingForNetwork(since: Double)
        /// The file is there, complete and verified.
        case completed
        /// It failed for good.
        case failed
        /// The user gave it up.
        case cancelled
    }

    /// What the user wants.
    public var wanted = Wanted.run
    /// What is so.
    public var state = State.waiting
    /// Its place in the order, smallest first; no two tasks have the same.
    public var position: Int64 = 0
    /// How often it failed in a way that passes since it last brought something.
    public var attempts = 0
    /// Why it failed last.
    public var problem: TaskProblem?

    /// Makes the status of a task that waits.
    public init() {}

    /// Whether it has ended: nothing happens to it any more by itself.
    public var isEnded: Bool {
        switch state {
        case .completed, .failed, .cancelled: true
        default: false
        }
    }
    /// Whether the network is away, and waited for.
    public var isAway: Bool { if case .waitingForNetwork = state { true } else { false } }
    /// Whether it has a slot.
    public var hasSlot: Bool { state == .running || state == .verifying }
    /// Whether the user paused the task, and it has not ended.
    var isPaused: Bool { wanted == .paused && !isEnded }

    /// The word for the task's state that all surfaces show.
    public var word: Word { isPaused ? .paused : state.word }
}

extension TaskStatus.State {
    /// The state as one word, as the database stores it; ``TaskStatus/word`` is the one to show.
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

    /// The time that belongs to it, in seconds since 1970: when it is tried again, or since when it waits.
    public var time: Double? {
        switch self {
        case .retrying(let time), .waitingForNetwork(let time): time
        default: nil
        }
    }

    /// Reads a word with its time; `nil` for any other word.
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

/// Why a task failed, without anything secret.
public struct TaskProblem: Sendable, Hashable, Codable {
    /// A stable name for programs: the `kind` of `docs/json.md`.
    public var kind: String
    /// What happened, to which URL or file.
    public var message: String
    /// What to do next, in the words of the API; ``queueHint(_:)`` has those of the command line.
    public var hint: String
    /// What to do next, as a stable name for programs: the `step` of `docs/api.md`; `nil` where there is none.
    public var step: String?
    /// What has to be given again, as members of the command `set`, for the step `secrets`.
    public var needed: [String]?
    /// Whether the next try downloads all of the file again, though bytes are on the disk.
    public var startsOver: Bool?
    /// The exit code that `segget get` would have ended with.
    public var code: Int32
    /// The status code of the response that failed; `nil` if none did.
    public var status: Int?
    /// The `CURLcode` of the transfer that failed; `nil` if libcurl reported none.
    public var curlCode: Int?
    /// The error number of the system call that failed; `nil` if none did.
    public var errno: Int32?

    /// Makes a problem.
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
