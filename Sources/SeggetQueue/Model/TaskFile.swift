import Segmenter

/// A file of a task.
public struct TaskFile: Sendable, Hashable, Codable {
    /// The state of a file.
    public enum State: String, Sendable, Hashable, Codable, CaseIterable {
        /// The file is complete and verified.
        case complete
        /// It is being downloaded.
        case active
        /// It failed in the current or last run.
        case failed
        /// It is not complete, for no known reason but that nothing has downloaded it yet.
        case missing
    }

    /// The index of the file in the task, from 0.
    public var index: Int
    /// The path of the file, relative to the folder of the task.
    public var path: String
    /// Its state.
    public var state: State
    /// The size in bytes; `nil` if it is unknown.
    public var size: Int64?
    /// The bytes on the disk, as far as they are known.
    public var bytesDone: Int64
    /// Its URL, without credentials and query.
    public var url: String
    /// The reason why it failed; `nil` in other states, and if it is not known any more.
    public var error: TaskProblem?

    /// Creates a file.
    public init(
        index: Int, path: String, state: State, size: Int64?, bytesDone: Int64, url: String,
        error: TaskProblem? = nil
    ) {
        (self.index, self.path, self.state, self.size) = (index, path, state, size)
        (self.bytesDone, self.url, self.error) = (bytesDone, url, error)
    }

    enum CodingKeys: String, CodingKey {
        case index, path, state, size, url, error
        case bytesDone = "bytes_done"
    }
}

/// A part of the files of a task.
public struct TaskFiles: Sendable, Hashable, Codable {
    /// The id of the task.
    public var id: QueueTask.ID
    /// The path of the folder of the files.
    public var folder: String
    /// The files of this part, in the order of the plan.
    public var files: [TaskFile]
    /// The number of files in the states that were requested.
    public var matching: Int
    /// The number of files in each state; states without files are left out.
    public var counts: [String: Int]

    /// Creates a part of the files of a task.
    public init(
        id: QueueTask.ID, folder: String, files: [TaskFile], matching: Int, counts: [String: Int]
    ) {
        (self.id, self.folder, self.files) = (id, folder, files)
        (self.matching, self.counts) = (matching, counts)
    }
}

/// The files of a task that are requested.
public struct FileWindow: Sendable, Hashable {
    /// The states of the files; empty for any state.
    public var states: [TaskFile.State]
    /// The number of files to skip.
    public var offset: Int
    /// The maximum number of files.
    public var limit: Int

    /// Creates a window.
    public init(states: [TaskFile.State] = [], offset: Int = 0, limit: Int = 100) {
        (self.states, self.offset, self.limit) = (states, offset, limit)
    }
}
