import SeggetReports
public import Segmenter

/// The report of a task: its record and its progress.
///
/// In JSON its keys are those of `docs/json.md`, and unknown values are left out. URLs are without
/// credentials and query.
public struct TaskReport: Sendable, Hashable, Codable, Identifiable {
    /// The id of the task.
    public var id: QueueTask.ID
    /// Its state.
    public var state: TaskStatus.Word
    /// The user's wish.
    public var wanted: TaskStatus.Wanted
    /// The URL as it was added.
    public var url: String
    /// The present URL, if it is another one.
    public var currentURL: String?
    /// Four digits of a hash of the query that ``url`` does not show; `nil` without one.
    public var queryTag: String?
    /// The path of the file; `nil` while it has no name.
    public var path: String?
    /// The path of the folder.
    public var folder: String
    /// Its place in queue order, counted from 1; `nil` after its end.
    public var position: Int?
    /// The key by which unfinished tasks are ordered, smallest first; other tasks do not change it.
    public var rank: Int64?
    /// The checked bytes on the disk.
    public var bytesDone: Int64
    /// Size in bytes.
    public var size: Int64?
    /// The number of files of a data set; `nil` for a task of one file.
    public var files: Int?
    /// The number of complete files of a data set.
    public var filesDone: Int?
    /// The number of files of a data set that failed in the current or last run.
    public var filesFailed: Int?
    /// Speed over the last five seconds, while it runs.
    public var bytesPerSecond: Double?
    /// Seconds until the end at that speed.
    public var secondsLeft: Double?
    /// The number of connections that receive data, while it runs.
    public var connections: Int?
    /// The reason why it failed or is retried.
    public var error: TaskProblem?
    /// The number of transient failures since it last received data.
    public var attempts: Int
    /// The time of the next try, in seconds since 1970.
    public var retryAt: Double?
    /// Since when it waits for the network, in seconds since 1970.
    public var waitingSince: Double?
    /// The reason why a rule of the settings keeps a waiting task from running, as text.
    public var pauseReason: String?
    /// When it was added, in seconds since 1970.
    public var added: Double
    /// When it first got a slot.
    public var started: Double?
    /// When it ended.
    public var finished: Double?
    /// When its last byte arrived.
    public var lastByte: Double?
    /// The `Content-Type` field.
    public var contentType: String?
    /// The digests that it was verified with, as `algorithm:hex`.
    public var digests: [String]
    /// Tags.
    public var tags: [String]
    /// Whether its result was seen; `nil` before its end.
    public var seen: Bool?
    /// For a completed task: whether its file is `there`, `missing` or `changed` at the time of the
    /// report.
    public var file: String?
    /// `true` if its file existed, and was neither requested nor checked; else `nil`.
    public var skipped: Bool?
    /// `true` if its file is an HTML page, although its name or media type promises something else;
    /// else `nil`.
    public var html: Bool?

    enum CodingKeys: String, CodingKey {
        case skipped, html
        case id, state, wanted, url, path, folder, position, rank, size, connections, error
        case attempts, added
        case started, finished, digests, tags, seen, file, files
        case filesDone = "files_done"
        case filesFailed = "files_failed"
        case pauseReason = "pause_reason"
        case currentURL = "current_url"
        case queryTag = "query_tag"
        case bytesDone = "bytes_done"
        case bytesPerSecond = "bytes_per_second"
        case secondsLeft = "seconds_left"
        case retryAt = "retry_at"
        case waitingSince = "waiting_since"
        case lastByte = "last_byte"
        case contentType = "type"
    }
}

/// All details of one task.
public struct TaskDetail: Sendable, Hashable, Codable {
    /// The report of the task.
    public var task: TaskReport
    /// All present URLs, without credentials and query.
    public var urls: [String]
    /// The options that differ from the default, without secrets.
    public var options: OptionChanges?
    /// The URL after redirects, while it runs.
    public var finalURL: String?
    /// The `ETag` field, as sent.
    public var etag: String?
    /// The `Last-Modified` field, as sent.
    public var lastModified: String?
    /// The identity of the version, as in the `started` event.
    public var identity: String?
    /// The file from start to end in equal cells, each filled from 0 to 8; empty when unknown.
    public var map: [UInt8]
    /// The ranges on the disk, half-open in bytes, by the part's manifest.
    public var segments: [Segment]
    /// The unchecked ranges of an earlier run among them; `nil` if the worker does not report them.
    public var verifying: [Segment]?
    /// Its connections, while it runs; `nil` otherwise, and if the worker does not report them.
    public var connections: [Connection]?
    /// The servers of these connections, and dropped servers; `nil` if `connections` is.
    public var servers: [Server]?
    /// The events of the task, the oldest first; at most 200.
    public var events: [TaskEvent]

    /// A half-open range of bytes.
    public struct Segment: Sendable, Hashable, Codable {
        /// First byte.
        public var start: Int64
        /// The byte after the last.
        public var end: Int64
    }

    enum CodingKeys: String, CodingKey {
        case task, urls, options, etag, identity, map, segments, verifying, connections, servers,
            events
        case finalURL = "final_url"
        case lastModified = "last_modified"
    }
}

/// An event of a task, in words.
public struct TaskEvent: Sendable, Hashable, Codable {
    /// When, in seconds since 1970.
    public var time: Double
    /// The kind of event: the name of a state or of a notice of `docs/json.md`.
    public var event: String
    /// The message, without secrets.
    public var message: String

    /// Creates an event.
    public init(time: Double, event: String, message: String) {
        (self.time, self.event, self.message) = (time, event, message)
    }
}

/// A filter for tasks.
public struct TaskFilter: Sendable, Hashable, Codable {
    /// Ids or beginnings of ids, tags, states; an empty selection matches every task.
    public var selection: TaskSelection
    /// A text that the URL, name or folder must contain, in any case.
    public var text: String?
    /// Whether only tasks with unseen results match.
    public var isUnseen = false

    /// Creates a filter, by default one that every task matches.
    public init(selection: TaskSelection = TaskSelection(), text: String? = nil) {
        (self.selection, self.text) = (selection, text)
    }

    /// Maximum number of ids, tags or states.
    private static let mostWords = 1000
    /// Maximum length of a text in bytes; SQLite takes patterns of at most 50,000.
    private static let longestText = 4096

    /// Refuses filters that are too long.
    ///
    /// - Throws: `invalid`.
    package func check() throws(QueueError) {
        let counts = [selection.ids.count, selection.tags.count, selection.states.count]
        guard counts.allSatisfy({ $0 <= Self.mostWords }) else {
            throw QueueError(.tooManyWords(most: Self.mostWords))
        }
        let length = text?.utf8.count ?? 0
        guard length <= Self.longestText else {
            throw QueueError(.longText(most: Self.longestText, bytes: length))
        }
    }
}

/// The report of a queue: some or all of its tasks, and its totals.
public struct QueueReport: Sendable, Hashable, Codable {
    /// The version of segget that answers.
    public var version: String
    /// The process of the worker; `nil` without a worker.
    public var worker: Int32?
    /// The requested tasks: unfinished tasks in queue order, then those that have ended, the newest
    /// last.
    public var tasks: [TaskReport]
    /// The number of tasks in each state.
    public var counts: [TaskStatus.Word: Int]
    /// Speed of all tasks together, in bytes per second.
    public var bytesPerSecond: Double
    /// The numbers of unseen results: completed, failed.
    public var unseen: [TaskStatus.Word: Int]
    /// The reason why no task runs, as text, while a rule of the settings pauses the queue.
    public var pauseReason: String?

    enum CodingKeys: String, CodingKey {
        case version, worker, tasks, counts, unseen
        case pauseReason = "pause_reason"
        case bytesPerSecond = "bytes_per_second"
    }

    /// Creates the report of some of a queue's tasks, with the totals of a view.
    public init(version: String, worker: Int32?, tasks: [TaskReport], _ view: QueueView) {
        (self.version, self.worker, self.tasks) = (version, worker, tasks)
        (counts, unseen) = (view.counts, view.unseen)
        (bytesPerSecond, pauseReason) = (view.bytesPerSecond, view.pauseReason)
    }
}

/// The public API of a queue, in this process or over a socket.
public protocol QueueDoor: Sendable {
    /// Carries out commands in order.
    ///
    /// - Parameter commands: The commands.
    /// - Returns: For each command, the results for its tasks.
    /// - Throws: `QueueError`, if the queue cannot be used; commands that were carried out before
    ///   are kept.
    func perform(_ commands: [QueueCommand]) async throws(QueueError) -> [[CommandResult]]
    /// Returns the report of the tasks that match a filter.
    func report(_ filter: TaskFilter) async throws(QueueError) -> QueueReport
    /// Returns the details of one task; `selector` is an id or the beginning of one.
    func detail(_ selector: String) async throws(QueueError) -> TaskDetail
    /// Returns a part of the files of one task; `selector` is an id or the beginning of one.
    func files(_ selector: String, _ window: FileWindow) async throws(QueueError) -> TaskFiles
    /// Returns the whole links of the tasks that match a filter.
    func links(_ filter: TaskFilter) async throws(QueueError) -> [TaskLinks]
    /// Returns the settings.
    func settings() async throws(QueueError) -> QueueSettings
    /// Changes the settings.
    func change(_ settings: QueueSettings) async throws(QueueError)
}
