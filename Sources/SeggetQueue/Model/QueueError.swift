/// Why a queue cannot be used, or a task not be found.
public struct QueueError: Error, Sendable, Hashable, Codable {
    /// What happened.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Code: String, Sendable, Hashable, Codable {
        /// There is no queue yet.
        case noQueue = "no_queue"
        /// The database is damaged.
        case damaged
        /// A later version of segget has written it.
        case laterVersion = "later_version"
        /// The disk is full.
        case diskFull = "disk_full"
        /// The file, or its folder, cannot be read or written.
        case unavailable
        /// Another process has it, and did not let go in time.
        case busy
        /// Another process works it already.
        case hasWorker = "has_worker"
        /// There is no task of that id, or several.
        case noTask = "no_task"
        /// A value cannot be used.
        case invalid
        /// The worker cannot be reached, or has answered something that is not understood.
        case worker
    }

    /// What happened.
    public var code: Code
    /// The same in words, with the file or the id that it is about.
    public var message: String
    /// What to do next.
    public var hint: String
    /// The member of the request that is at fault: `commands[0].options.checksum`; `nil` where no one member is.
    public var member: String?

    /// Makes an error.
    public init(_ code: Code, _ message: String, hint: String) {
        (self.code, self.message, self.hint) = (code, message, hint)
    }
}
