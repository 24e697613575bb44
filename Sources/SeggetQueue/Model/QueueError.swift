/// The reason why a queue cannot be used, or a task is not found.
public struct QueueError: Error, Sendable, Hashable, Codable {
    /// The kind of error.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Code: String, Sendable, Hashable, Codable {
        /// The queue does not exist yet.
        case noQueue = "no_queue"
        /// The database is damaged.
        case damaged
        /// A later version of segget has written the database.
        case laterVersion = "later_version"
        /// The disk is full.
        case diskFull = "disk_full"
        /// The file, or its folder, cannot be read or written.
        case unavailable
        /// Another process has locked the queue for too long.
        case busy
        /// The queue already has a worker.
        case hasWorker = "has_worker"
        /// No task has the id, or several ids begin with it.
        case noTask = "no_task"
        /// A value cannot be used.
        case invalid
        /// The worker cannot be reached, or its response is invalid.
        case worker
    }

    /// The kind of error.
    public var code: Code
    /// The message, with the file or id that the error is about.
    public var message: String
    /// The next step for the user.
    public var hint: String
    /// The invalid member of the request, such as `commands[0].options.checksum`; `nil` if it is
    /// not one member.
    public var member: String?
    /// Whether nothing was sent to the worker, because it cannot be reached; never encoded.
    package var isUnsent = false

    private enum CodingKeys: CodingKey { case code, message, hint, member }

    /// Creates an error.
    public init(_ code: Code, _ message: String, hint: String) {
        (self.code, self.message, self.hint) = (code, message, hint)
    }
}
