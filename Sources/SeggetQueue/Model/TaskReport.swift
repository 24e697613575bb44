import SeggetReports
public import Segmenter

/// What is told of a task: its record, and how far it is.
///
/// In JSON its keys are those of `docs/json.md`, and what is unknown is left out. URLs are without
/// credentials and query.
public struct TaskReport: Sendable, Hashable, Codable, Identifiable {
    /// Which task it is.
    public var id: QueueTask.ID
    /// Its state.
    public var state: TaskStatus.Word
    /// What the user wants.
    public var wanted: TaskStatus.Wanted
    /// The URL as it was added.
    public var url: String
    /// The URL that it is fetched from now, where that is another one.
    public var currentURL: String?
    /// Four digits of a hash of the query that ``url`` does not show; `nil` without one.
    public var queryTag: String?
    /// Path of the file; `nil` as long as it has no name.
    public var path: String?
    /// Path of the folder.
    public var folder: String
    /// Its place in the order, from 1; `nil` when it has ended.
    public var position: Int?
    /// By which tasks that have not ended are in their order, smallest first: a place that does not
    /// change when others come and go.
    public var rank: Int64?
    /// Bytes on the disk and checked.
    public var bytesDone: Int64
    /// Size in bytes.
    public var size: Int64?
    /// Speed over the last five seconds, while it runs.
    public var bytesPerSecond: Double?
    /// Seconds to go at that speed.
    public var secondsLeft: Double?
    /// Connections that are transferring, while it runs.
    public var connections: Int?
    /// Why it failed, or is tried again.
    public var error: TaskProblem?
    /// How often it failed in a way that passes since it last brought something.
    public var attempts: Int
    /// When it is tried again, in seconds since 1970.
    public var retryAt: Double?
    /// Since when it waits for the network, in seconds since 1970.
    public var waitingSince: Double?
    /// Why a waiting task does not run although the user wants it to, as text: a rule of the
    /// settings pauses the queue.
    public var pauseReason: String?
    /// When it was added, in seconds since 1970.
    public var added: Double
    /// When it first got a slot.
    public var started: Double?
    /// When it ended.
    public var finished: Double?
    /// When its last byte came.
    public var lastByte: Double?
    /// The `Content-Type` field.
    public var contentType: String?
    /// The digests that it was verified with, as `algorithm:hex`.
    public var digests: [String]
    /// Tags.
    public var tags: [String]
    /// Whether somebody was told of its end; `nil` as long as it has not ended.
    public var seen: Bool?
    /// Of a completed task: whether its file is `there`, `missing` or `changed` at the time of the
    /// report.
    public var file: String?
    /// Whether its file existed, and was neither asked for nor checked; else `nil`.
    public var skipped: Bool?
    /// Whether its file is an HTML page, although its name or media type promises something else;
    /// else `nil`.
    public var html: Bool?

    enum CodingKeys: String, CodingKey {
        case skipped, html
        case id, state, wanted, url, path, folder, position, rank, size, connections, error
        case attempts, added
        case started, finished, digests, tags, seen, file
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

/// Everything that is known of one task.
public struct TaskDetail: Sendable, Hashable, Codable {
    /// What is told of any task.
    public var task: TaskReport
    /// All URLs that it is fetched from, without credentials and query.
    public var urls: [String]
    /// The options that differ from the default, without secrets.
    public var options: OptionChanges?
    /// Where redirects led, while it runs.
    public var finalURL: String?
    /// The `ETag` field, as sent.
    public var etag: String?
    /// The `Last-Modified` field, as sent.
    public var lastModified: String?
    /// What identifies the version, as in the `started` event.
    public var identity: String?
    /// The file from start to end in equal cells, each filled from 0 to 8; empty when unknown.
    public var map: [UInt8]
    /// What is on the disk, as half-open ranges of bytes, by the part's manifest.
    public var segments: [Segment]
    /// What of that an earlier run has brought, and is not checked yet; `nil` where a worker does
    /// not tell of it.
    public var verifying: [Segment]?
    /// Its connections, while it runs; `nil` otherwise, and where a worker does not tell of them.
    public var connections: [Connection]?
    /// The servers that these work for, and those that were dropped; `nil` where `connections` is.
    public var servers: [Server]?
    /// What happened, the oldest first; at most 200.
    public var events: [TaskEvent]

    /// A half-open range of bytes.
    public struct Segment: Sendable, Hashable, Codable {
        /// First byte.
        public var start: Int64
        /// The byte behind the last.
        public var end: Int64
    }

    enum CodingKeys: String, CodingKey {
        case task, urls, options, etag, identity, map, segments, verifying, connections, servers,
            events
        case finalURL = "final_url"
        case lastModified = "last_modified"
    }
}

/// Something that happened to a task, in words.
public struct TaskEvent: Sendable, Hashable, Codable {
    /// When, in seconds since 1970.
    public var time: Double
    /// What kind of event: the name of a state or of a notice of `docs/json.md`.
    public var event: String
    /// What happened, in words, without anything secret.
    public var message: String

    /// Makes an event.
    public init(time: Double, event: String, message: String) {
        (self.time, self.event, self.message) = (time, event, message)
    }
}

/// Which tasks are asked for.
public struct TaskFilter: Sendable, Hashable, Codable {
    /// Ids or beginnings of ids, tags, states; an empty one means every task.
    public var selection: TaskSelection
    /// Text that has to be in URL, name or folder, whatever its case.
    public var text: String?
    /// Only tasks that have ended and whose end nobody was told of.
    public var isUnseen = false

    /// Makes a filter that every task passes.
    public init(selection: TaskSelection = TaskSelection(), text: String? = nil) {
        (self.selection, self.text) = (selection, text)
    }

    /// Most ids, tags or states.
    private static let mostWords = 1000
    /// Length of the longest text, in bytes; SQLite takes patterns of at most 50,000.
    private static let longestText = 4096

    /// Refuses more words than anybody needs.
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

/// What is told of a queue as a whole.
public struct QueueReport: Sendable, Hashable, Codable {
    /// The version of segget that answers.
    public var version: String
    /// The process that works the queue; `nil` when none does.
    public var worker: Int32?
    /// The tasks that were asked for: those in the order first, then those that have ended, the
    /// newest last.
    public var tasks: [TaskReport]
    /// The number of tasks in each state.
    public var counts: [TaskStatus.Word: Int]
    /// Speed of all tasks together, in bytes per second.
    public var bytesPerSecond: Double
    /// The numbers of unseen results: completed, failed.
    public var unseen: [TaskStatus.Word: Int]
    /// Why no task runs, as text, while a rule of the settings pauses the queue.
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

/// By which a queue is told what to do, and asked what is so: in this process, or over a socket.
public protocol QueueDoor: Sendable {
    /// Carries out commands, one after the other.
    ///
    /// - Parameter commands: What to do.
    /// - Returns: For each command, what it has done to each of its tasks.
    /// - Throws: `QueueError`, when the queue cannot be used at all; what was carried out before
    ///   stays so.
    func perform(_ commands: [QueueCommand]) async throws(QueueError) -> [[CommandResult]]
    /// Tells of tasks.
    func report(_ filter: TaskFilter) async throws(QueueError) -> QueueReport
    /// Tells everything of one task; `selector` is an id or the beginning of one.
    func detail(_ selector: String) async throws(QueueError) -> TaskDetail
    /// The whole links of the tasks that a filter lets pass.
    func links(_ filter: TaskFilter) async throws(QueueError) -> [TaskLinks]
    /// The settings.
    func settings() async throws(QueueError) -> QueueSettings
    /// Changes the settings.
    func change(_ settings: QueueSettings) async throws(QueueError)
}
